package accounting_test

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"causeway/app/accounting"
	"causeway/app/internal/apptest"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// readCSV returns the lines of a report in CSV, each by column.
func readCSV(t *testing.T, report accounting.Table) []map[string]string {
	t.Helper()
	var text strings.Builder
	if err := report.CSV(t.Context(), &text); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(text.String())).ReadAll()
	if err != nil {
		t.Fatalf("%v\n%s", err, text.String())
	}
	var lines []map[string]string
	for _, row := range rows[1:] {
		line := map[string]string{}
		for i, name := range rows[0] {
			line[name] = row[i]
		}
		lines = append(lines, line)
	}
	return lines
}

func TestEntriesTable_AllEntriesOfAccount(t *testing.T) {
	t.Parallel()
	// The entries of an account have a debit or a credit and the balance after each, and a memo that
	// is a formula is escaped.
	env := newEnv(t)
	first, second := env.header(apptest.Noon), env.header(apptest.Noon.Add(time.Second))
	first.Memo = "=HYPERLINK(\"https://example.com\")"
	env.Post(ledger.JITReceived(first, "rails/RTP", dollars(10050)))
	env.Post(ledger.FeePaid(second, "rails/RTP", dollars(25)))
	account := ledger.Account{Platform: env.Admin.Platform, Path: "rails/RTP", Currency: "USD"}

	lines := readCSV(t, env.accounting.EntriesTable(ports.AccountEntryFilter{Account: account, Ascending: true}))

	if len(lines) != 2 {
		t.Fatalf("%d lines: %v", len(lines), lines)
	}
	want := []map[string]string{
		{"kind": "jit_received", "counterpart": "funding/jit", "debit": "100.50", "credit": "", "balance": "100.50", "currency": "USD",
			"memo": "'" + first.Memo, "posting_number": "1", "entry_number": "1"},
		{"kind": "fee", "counterpart": "expense/rails", "debit": "", "credit": "0.25", "balance": "100.25", "currency": "USD",
			"memo": second.Memo, "posting_number": "2", "entry_number": "1"},
	}
	for i, columns := range want {
		for name, value := range columns {
			if got, present := lines[i][name]; !present || got != value {
				t.Errorf("line %d: %s is %q, want %q", i, name, got, value)
			}
		}
	}
	for path, code := range map[string]fault.Code{"rails/ACH": fault.NotFound, "nothing": fault.NotFound} {
		account.Path = path
		if err := env.accounting.EntriesTable(ports.AccountEntryFilter{Account: account}).CSV(t.Context(), &strings.Builder{}); !fault.Is(err,
			code) {
			t.Errorf("entries of %s: %v", path, err)
		}
	}
}

// pagedLedger has 2,500 accounts, and fails after some of them.
type pagedLedger struct {
	accounting.Finance
	failAfter string
}

var errRead = errors.New("the database has gone")

// unmappedStore has the built-in mapping to the general ledger.
type unmappedStore struct{ accounting.Store }

func (unmappedStore) GLMapping(context.Context, ident.Platform, time.Time) (books.MappingVersion, error) {
	return books.MappingVersion{Mapping: books.DefaultMapping()}, nil
}

func (l pagedLedger) LedgerAccounts(_ context.Context, p ident.Platform,
	f ports.LedgerAccountFilter) (page ports.LedgerAccountPage, err error) {
	if l.failAfter != "" && f.AfterPath >= l.failAfter {
		return page, errRead
	}
	for i := range 2500 {
		path := fmt.Sprintf("rails/R%04d", i)
		if path <= f.AfterPath {
			continue
		}
		if page.More = len(page.Accounts) == f.Limit; page.More {
			break
		}
		page.Accounts = append(page.Accounts, ports.LedgerAccount{Account: ledger.Account{Platform: p, Path: path, Currency: f.Currency},
			Class: ledger.Asset, Balance: money.TotalOf(int64(i))})
	}
	return page, nil
}

func TestAccountsTable_ReadsAllPages(t *testing.T) {
	t.Parallel()
	// A list of any length is written page by page, each account once, and again from its beginning.
	// An error of a page ends it.
	var p ident.Platform
	report := accounting.New(accounting.Config{Store: unmappedStore{}, Ledger: pagedLedger{}}).AccountsTable(p,
		ports.LedgerAccountFilter{Currency: "EUR", Limit: 3})
	for range 2 {
		lines := readCSV(t, report)
		if len(lines) != 2500 {
			t.Fatalf("%d lines, want 2500", len(lines))
		}
		for i, l := range lines {
			if want := fmt.Sprintf("rails/R%04d", i); l["path"] != want || l["balance"] != money.TotalOf(int64(i)).Major("EUR") ||
				l["class"] != "asset" || l["gl_code"] != "1100" || l["gl_name"] != "Funds at payment partners" {
				t.Fatalf("line %d: %v, want %s", i, l, want)
			}
		}
	}

	failing := accounting.New(accounting.Config{Store: unmappedStore{}, Ledger: pagedLedger{failAfter: "rails/R1000"}}).AccountsTable(p,
		ports.LedgerAccountFilter{Currency: "EUR"})
	if err := failing.CSV(t.Context(), &strings.Builder{}); !errors.Is(err, errRead) {
		t.Errorf("the error of the second page: %v", err)
	}
}

func TestFXPositionTable_InMajorUnits(t *testing.T) {
	t.Parallel()
	// Positions, rates and values are in major units; a line without a rate has neither rate nor value.
	p := accounting.FXPosition{AsOf: apptest.Noon, RatesKeptAt: apptest.Noon, ValuationCurrency: money.USD, Lines: []accounting.FXLine{
		{Currency: money.BTC, Position: money.TotalOf(-150_000_000), Rate: money.MustRate("0.065"), RateAt: apptest.Noon, RateSource: "TEST",
			Value: money.TotalOf(-9_750_000), Valued: true},
		{Currency: money.EUR, Position: money.TotalOf(7)},
	}}

	lines := readCSV(t, p.Table())

	at := "2026-03-14T12:00:00.000Z"
	want := []map[string]string{
		{"currency": "BTC", "position": "-1.50000000", "rate": "65000", "value": "-97500.00", "reporting_currency": "USD", "rate_at": at,
			"rate_source": "TEST", "at": at, "valued_at": at},
		{"currency": "EUR", "position": "0.07", "rate": "", "value": "", "reporting_currency": "USD", "rate_at": "", "rate_source": "",
			"at": at, "valued_at": at},
	}
	if !reflect.DeepEqual(lines, want) {
		t.Errorf("%v\nwant %v", lines, want)
	}
}

func TestUnmatchedTable_WithAssignments(t *testing.T) {
	t.Parallel()
	// Unmatched funds are listed with their assignment, if they have one.
	env := newEnv(t)
	assigned, open := env.receivePayment(t, "@RENT", 1250), env.receivePayment(t, "gift", 99)
	account := env.NewInternalAccount(env.Customer.ID, "USD", 0)
	if _, err := env.accounting.AssignUnmatched(t.Context(), env.Admin.Platform, ana(env.Admin), accounting.AssignCommand{Receipt: assigned,
		Account: account.ID, Note: "rent of March"}, nil); err != nil {
		t.Fatal(err)
	}

	lines := readCSV(t, env.accounting.UnmatchedTable(env.Admin.Platform, ports.UnmatchedFilter{Ascending: true}))

	if len(lines) != 2 || lines[0]["receipt_id"] != assigned.String() || lines[1]["receipt_id"] != open.String() {
		t.Fatalf("%v", lines)
	}
	if l := lines[0]; l["amount"] != "12.50" || l["currency"] != "USD" || l["reference"] != "'@RENT" ||
		l["assigned_account_id"] != account.ID.String() || l["assignment_note"] != "rent of March" || l["assigned_at"] == "" ||
		l["assigned_by"] != ana(env.Admin).Actor || l["token_id"] != env.Admin.Token.String() {
		t.Errorf("the assigned funds: %v", l)
	}
	if l := lines[1]; l["amount"] != "0.99" || l["assigned_at"] != "" || l["assignment_note"] != "" || l["assigned_account_id"] != "" ||
		l["assigned_by"] != "" || l["token_id"] != "" {
		t.Errorf("the other funds: %v", l)
	}
}

func TestClosingTable_EqualsTrialBalance(t *testing.T) {
	t.Parallel()
	// The closing trial balance of a month has the lines of the trial balance of that month, with the
	// same signs. A month that is not closed has none.
	env := newPeriodEnv(t)
	env.Post(env.newFeePosting(day(time.January, 5), 100), env.newFeePosting(day(time.January, 20), 30),
		env.newFeePosting(day(time.February, 3), 7))
	env.changeState(period.SoftClose, "2026-01")
	env.changeState(period.Close, "2026-01")
	service := accounting.New(accounting.Config{Store: env.Store, Ledger: env.Store.Finance(), Clock: env.Clock})
	january := period.Interval{From: mustMonth("2026-01").Start(), To: mustMonth("2026-02").Start()}

	closing, err := env.periods.ClosingTable(t.Context(), env.Admin.Platform, mustMonth("2026-01"))
	if err != nil {
		t.Fatal(err)
	}
	balance, err := service.TrialBalance(t.Context(), env.Admin.Platform, accounting.TrialBalanceQuery{By: ports.ByEffective,
		Interval: january})
	if err != nil {
		t.Fatal(err)
	}

	got, want := readCSV(t, closing), readCSV(t, balance.Table())
	byPath := func(lines []map[string]string) map[string]map[string]string {
		found := map[string]map[string]string{}
		for _, l := range lines {
			found[l["path"]+" "+l["currency"]] = l
		}
		return found
	}
	if !reflect.DeepEqual(byPath(got), byPath(want)) || len(got) != 2 || byPath(got)["rails/WIRE USD"]["closing"] != "-1.30" {
		t.Errorf("closing %v\ntrial balance %v", got, want)
	}
	if _, err := env.periods.ClosingTable(t.Context(), env.Admin.Platform, mustMonth("2026-02")); !fault.Is(err, fault.Conflict) {
		t.Errorf("a month that is not closed: %v", err)
	}
}
