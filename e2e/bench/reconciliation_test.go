package main

import (
	"bytes"
	"testing"
	"time"

	"causeway/adapters/ids"
	"causeway/core/formats/statements"
	"causeway/core/money"
	"causeway/core/reconcile"
	"causeway/ledger"
)

var (
	testIDs    = ids.New()
	testHeader = func(at time.Time, memo string) ledger.Header {
		return ledger.Header{ID: testIDs.New(at), Effective: at, Memo: memo}
	}
	// testStatement is a week with two breaks of each kind.
	testStatement = newStatementFixture("RTP", time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC), 2000, testHeader)
)

func TestStatementFixture_PostingsAndBreaks(t *testing.T) {
	// The postings are of that week, with equal numbers of every break.
	t.Parallel()
	for _, p := range testStatement.postings {
		if day := p.Effective.Format(time.DateOnly); day < "2026-03-09" || day > "2026-03-15" || len(p.Entries) != 1 {
			t.Fatalf("a posting %+v", p)
		}
	}
	for _, reason := range reconcile.Reasons() {
		if testStatement.breaks[reason] != 2 {
			t.Errorf("%s: %d breaks; want 2", reason, testStatement.breaks[reason])
		}
	}
}

func TestStatementFixture_ParsesInAllFormats(t *testing.T) {
	// The service's own readers find the lines of the week in both files.
	t.Parallel()
	layout, err := reconcile.ParseLayout(csvColumnMap)
	if err != nil {
		t.Fatal(err)
	}
	for format, how := range map[string]statements.Options{
		"csv":     {Format: reconcile.CSV, Currency: money.USD, Layout: layout},
		"camt053": {Format: reconcile.CAMT053, Currency: money.USD},
	} {
		statements, err := statements.Read(bytes.NewReader(testStatement.file(format)), how)
		if err != nil || len(statements) != 1 {
			t.Fatalf("%s: %d statements, %v", format, len(statements), err)
		}
		found := statements[0]
		if err := found.Finalize(testStatement.monday.AddDate(0, 0, statementDays)); err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if n := len(found.Lines); n != len(testStatement.Lines) || n < 2000 || n > 2003 ||
			found.From.String() != "2026-03-09" || found.To.String() != "2026-03-15" {
			t.Fatalf("%s: %d lines from %s to %s", format, n, found.From, found.To)
		}
		for i, want := range testStatement.Lines {
			got := found.Lines[i]
			if got.Booked.String() != want.Date || got.Value.String() != want.Date || got.Amount != want.cents || want.cents == 0 ||
				got.Description != want.Description || got.ServicerReference == "" {
				t.Fatalf("%s: line %d is %+v; want %+v", format, i, got, want)
			}
		}
	}
}

func TestReconciliation_Check(t *testing.T) {
	// The response of the service is compared with the breaks that the week was made with.
	t.Parallel()
	r := reconciliation{Lines: len(testStatement.Lines)}
	for reason, n := range testStatement.breaks {
		r.Breaks = append(r.Breaks, struct {
			Reason reconcile.Reason
			Count  int
		}{reason, n})
	}
	if breaks, err := r.check(&testStatement); err != nil || breaks != 2*len(reconcile.Reasons()) {
		t.Errorf("%d breaks, %v", breaks, err)
	}
	r.Breaks[0].Count++
	if _, err := r.check(&testStatement); err == nil {
		t.Error("one break too many is not found")
	}
	r.Breaks[0].Count--
	r.Lines--
	if _, err := r.check(&testStatement); err == nil {
		t.Error("a missing line is not found")
	}
}

func TestConversions(t *testing.T) {
	// Conversions are in their month, and each has all its entries.
	t.Parallel()
	all := conversions(100, time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), testHeader)
	for _, p := range all {
		if p.Effective.Format("2006-01") != "2026-02" || len(p.Entries) != 3 {
			t.Fatalf("%+v", p)
		}
	}
	if len(all) != 100 {
		t.Errorf("%d of them", len(all))
	}
}
