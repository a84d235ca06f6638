package main

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"causeway/adapters/bankfiles"
	"causeway/adapters/ids"
	"causeway/core/money"
	"causeway/core/reconcile"
	"causeway/ledger"
	"causeway/ports"
)

// newTestStatementFixture returns a week with two breaks of each kind.
func newTestStatementFixture(t *testing.T) *statementFixture {
	t.Helper()
	generator := ids.New()
	w := newStatementFixture("RTP", time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC), 2000, func(at time.Time, memo string) ledger.Header {
		h := ledger.Header{ID: generator.New(at), Effective: at, Memo: memo}
		return h
	})
	return &w
}

func TestStatementFixture_LinesPostingsBreaks(t *testing.T) {
	// The statement and the postings are of that week, with equal numbers of every break.
	t.Parallel()
	w := newTestStatementFixture(t)

	if len(w.Lines) < 2000 || len(w.Lines) > 2003 {
		t.Errorf("%d lines", len(w.Lines))
	}
	for _, l := range w.Lines {
		if l.Date < "2026-03-09" || l.Date > "2026-03-15" || l.cents == 0 {
			t.Fatalf("a line %+v", l)
		}
	}
	for _, p := range w.postings {
		if p.Effective.Before(w.monday) || !p.Effective.Before(w.monday.AddDate(0, 0, statementDays)) || len(p.Entries) != 1 {
			t.Fatalf("a posting %+v", p)
		}
	}
	for _, reason := range reconcile.Reasons() {
		if w.breaks[reason] != 2 {
			t.Errorf("%s: %d breaks; want 2", reason, w.breaks[reason])
		}
	}
}

func TestStatementFixture_ParsesInAllFormats(t *testing.T) {
	// The service's own readers find the same lines in both statements.
	t.Parallel()
	w := newTestStatementFixture(t)
	layout, err := reconcile.ParseLayout(csvColumnMap)
	if err != nil {
		t.Fatal(err)
	}
	var read [2][]reconcile.Line
	for i, statement := range []struct {
		file []byte
		how  ports.StatementFormat
	}{
		{w.file("csv"), ports.StatementFormat{Format: reconcile.CSV, Currency: money.USD, Layout: layout}},
		{w.file("camt053"), ports.StatementFormat{Format: reconcile.CAMT053, Currency: money.USD}},
	} {
		found, err := bankfiles.Reader{}.Read(bytes.NewReader(statement.file), statement.how)
		if err == nil {
			err = found.Finalize(w.monday.AddDate(0, 0, statementDays))
		}
		if err != nil {
			t.Fatalf("%s: %v", statement.how.Format, err)
		}
		read[i] = found.Lines
		if from, to := found.From.String(), found.To.String(); from != "2026-03-09" || to != "2026-03-15" {
			t.Errorf("%s: from %s to %s", statement.how.Format, from, to)
		}
	}
	same := func(a, b reconcile.Line) bool {
		return a.Booked == b.Booked && a.Value == b.Value && a.Amount == b.Amount && a.ServicerReference == b.ServicerReference && a.Description == b.Description
	}
	if len(read[0]) != len(w.Lines) || !slices.EqualFunc(read[0], read[1], same) {
		t.Errorf("csv has %d lines, camt.053 has %d, or others; want %d", len(read[0]), len(read[1]), len(w.Lines))
	}
	for i, l := range w.Lines {
		if read[0][i].Amount != l.cents || read[0][i].Booked.String() != l.Date {
			t.Fatalf("line %d is %+v; want %+v", i, read[0][i], l)
		}
	}
}

func TestReconciliation_Check(t *testing.T) {
	// The response of the service is compared with the breaks that the week was made with.
	t.Parallel()
	check := func(r reconciliation, w *statementFixture) error { _, err := r.check(w); return err }
	w := newTestStatementFixture(t)
	r := reconciliation{Lines: len(w.Lines)}
	for reason, n := range w.breaks {
		r.Breaks = append(r.Breaks, struct {
			Reason reconcile.Reason
			Count  int
		}{reason, n})
	}
	if err := check(r, w); err != nil {
		t.Error(err)
	}
	r.Breaks[0].Count++
	if check(r, w) == nil {
		t.Error("one break too many is not found")
	}
	r.Breaks[0].Count--
	if r.Lines--; check(r, w) == nil {
		t.Error("a missing line is not found")
	}
}

func TestConversions(t *testing.T) {
	// Conversions are in their month, and each has all its entries.
	t.Parallel()
	month := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	generator := ids.New()
	all := conversions(100, month, func(at time.Time, memo string) ledger.Header {
		return ledger.Header{ID: generator.New(at), Effective: at, Memo: memo}
	})
	for _, p := range all {
		if p.Effective.Before(month) || !p.Effective.Before(month.AddDate(0, 1, 0)) || len(p.Entries) != 3 {
			t.Fatalf("%+v", p)
		}
	}
	if len(all) != 100 {
		t.Errorf("%d of them", len(all))
	}
}
