package financials_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/app/accounting"
	app "causeway/app/financials"
	"causeway/app/internal/apptest"
	"causeway/app/internal/audittest"
	"causeway/app/monthend"
	"causeway/core/fault"
	"causeway/core/financials"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/ledger"
)

var (
	march = period.MonthOf(apptest.Noon)
	april = march.Next()
)

// env is a platform whose functional currency is the US dollar, with 1,000.00 of capital and a customer in euros.
type env struct {
	*apptest.Env
	t        *testing.T
	service  *app.Service
	monthEnd *monthend.Service
	periods  *accounting.Periods
	by       platform.Author
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{Env: apptest.New(t), t: t}
	e.by = platform.Author{Token: e.Admin.Token, Actor: "Ana Lima"}
	e.service = app.New(app.Config{Store: e.Store, Ledger: e.Store.Finance(), Views: e.Store.MonthEndViews()})
	e.monthEnd = monthend.New(monthend.Config{Store: e.Store, Results: e.Store, Postings: e.Store.LedgerReader(),
		Views: e.Store.MonthEndViews(), KeptRates: e.Store, Clock: e.Clock, IDs: e.IDs})
	e.periods = accounting.NewPeriods(accounting.PeriodsConfig{Store: e.Store, Ledger: e.Store.LedgerReader(), Finance: e.Store.Finance(),
		Clock: e.Clock, IDs: e.IDs})
	e.SetBooks(e.by, "functionalCurrency=USD", "yearEndMonth=4")
	e.KeepRates(march.Start().Add(-time.Hour), "1.00")
	return e
}

// post posts entries on a day, authorised.
func (e *env) post(at time.Time, entries ...ledger.Entry) {
	e.t.Helper()
	posting := ledger.Adjustment(ledger.Header{ID: uuid.Must(uuid.NewV7()), Platform: e.Platform.ID, Effective: at, Memo: "Test"}, entries)
	e.PostAuthorised(e.by, posting)
}

func (e *env) change(a period.Action, m period.Month) {
	e.t.Helper()
	if d := m.End().Add(time.Hour).Sub(e.Clock.Now()); d > 0 {
		e.Clock.Advance(d)
	}
	if _, err := e.periods.ChangeState(e.t.Context(), e.Platform.ID, e.by, nil, accounting.MonthChange{Action: a, Month: m,
		ConfirmOpeningBalances: true, WithoutYearEnd: true}); err != nil {
		e.t.Fatal(err)
	}
}

// endMonth soft-closes a month at a rate of the euro, and posts its exchange result.
func (e *env) endMonth(m period.Month, eur string) {
	e.t.Helper()
	e.KeepRates(m.End().Add(-time.Hour), eur)
	e.change(period.SoftClose, m)
	if _, err := e.monthEnd.Revalue(e.t.Context(), e.Platform.ID, e.by, nil, m); err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) report(m period.Month, span financials.Span) app.Report {
	e.t.Helper()
	r, err := e.service.Report(e.t.Context(), e.Platform.ID, app.Query{Month: m, Span: span})
	if err != nil {
		e.t.Fatal(err)
	}
	return r
}

func entry(debit, credit string, c money.Currency, minor int64) ledger.Entry {
	return ledger.Entry{Debit: debit, Credit: credit, Currency: c, Amount: minor}
}

// want checks values of rows, by statement and code.
func want(t *testing.T, r app.Report, column int, values map[string]int64) {
	t.Helper()
	got := map[string]int64{}
	for _, row := range r.Rows {
		got[string(row.Statement)+" "+row.Code] = row.Values[column]
	}
	for code, value := range values {
		if got[code] != value {
			t.Errorf("%s in %s is %d, want %d", code, r.Columns[column].Period, got[code], value)
		}
	}
}

func TestReport_MonthsAndComparatives(t *testing.T) {
	t.Parallel()
	// March: 1,000.00 USD are paid in, a customer pays 100.00 EUR into the bank at 1.00, of which 10.00 are a fee. April: the rate was 1.10
	// at the end of March, and another 10.00 EUR are earned; the customer takes 50.00 EUR out. The rate at the end is 1.20. A closed month
	// stays as it was.
	e := newEnv(t)
	day := func(m period.Month, n int) time.Time { return m.Start().AddDate(0, 0, n) }
	e.post(day(march, 2), entry("own/OPERATING", ledger.EquityCapital, "USD", 100_000))
	e.post(day(march, 3), entry("rails/SEPA", ledger.FundingUnmatched, "EUR", 10_000))
	e.post(day(march, 4), entry(ledger.FundingUnmatched, ledger.IncomeFees, "EUR", 1_000))
	e.endMonth(march, "1.10")
	e.change(period.Close, march)
	first := e.report(march, financials.OneMonth)
	e.post(day(april, 2), entry(ledger.FundingUnmatched, "rails/SEPA", "EUR", 5_000))
	e.post(day(april, 3), entry(ledger.FundingUnmatched, ledger.IncomeFees, "EUR", 1_000), entry(ledger.ExpenseTaxes, "own/OPERATING",
		"USD", 700))
	e.endMonth(april, "1.20")

	r := e.report(april, financials.OneMonth)

	want(t, r, 1, map[string]int64{
		"BALANCE_SHEET cash-at-partners": 11_000, "BALANCE_SHEET own-cash": 100_000, "BALANCE_SHEET funding": 9_900,
		"BALANCE_SHEET result-not-closed": 1_100, "BALANCE_SHEET capital": 100_000, "INCOME_STATEMENT fees": 1_000,
		"INCOME_STATEMENT unrealised-gains": 100,
		"INCOME_STATEMENT result":           1_100, "CASH_FLOW customers-received": 11_000, "CASH_FLOW owners-received": 100_000,
		"CASH_FLOW closing-cash":            111_000,
		"CHANGES_IN_EQUITY capital-changes": 100_000,
	})
	// In April fees of 10.00 EUR are worth 11.00 at the rate of their day, and the 20.00 EUR of its own 24.00: the unrealised
	// result of 1.00 is
	// reversed, and 3.00 are posted.
	want(t, r, 0, map[string]int64{
		"BALANCE_SHEET cash-at-partners": 6_000, "BALANCE_SHEET own-cash": 99_300, "BALANCE_SHEET funding": 3_600,
		"BALANCE_SHEET exchange-difference": 0,
		"INCOME_STATEMENT fees":             1_100, "INCOME_STATEMENT unrealised-gains": 200, "INCOME_STATEMENT taxes": 700,
		"INCOME_STATEMENT result":  600,
		"CASH_FLOW customers-paid": -6_000, "CASH_FLOW tax-paid": -700, "CASH_FLOW rate-changes": 1_000, "CASH_FLOW opening-cash": 111_000,
		"CASH_FLOW closing-cash": 105_300, "CHANGES_IN_EQUITY earnings-closing": 1_700,
	})
	if r.State != period.SoftClosed || r.Columns[2].IsKnown {
		t.Errorf("%s, %+v", r.State, r.Columns[2])
	}
	if again := e.report(march, financials.OneMonth); again.State != period.Closed || text(again) != text(first) {
		t.Errorf("the closed month had\n%s\nand has\n%s", text(first), text(again))
	}
	// The year ends in April, so its last quarter is February to April, and there is nothing before March.
	quarter := e.report(april, financials.QuarterToDate)
	if quarter.Columns[0].Period.String() != "2026-03..2026-04" {
		t.Errorf("%s", quarter.Columns[0].Period)
	}
	want(t, quarter, 0, map[string]int64{"INCOME_STATEMENT fees": 2_100, "INCOME_STATEMENT result": 1_700, "CASH_FLOW rate-changes": 1_000,
		"CASH_FLOW opening-cash": 0, "CASH_FLOW owners-received": 100_000, "CASH_FLOW closing-cash": 105_300,
		"CHANGES_IN_EQUITY earnings-result": 1_700})
	audittest.Check(t, e.Env, "transactions")
}

func text(r app.Report) string {
	var b strings.Builder
	for _, row := range r.Table().Rows {
		b.WriteString(strings.Join(row, " ") + "\n")
	}
	for _, row := range r.AccountsTable().Rows {
		b.WriteString(strings.Join(row, " ") + "\n")
	}
	return b.String()
}

func TestReport_RefusedWithoutExchangeResult(t *testing.T) {
	t.Parallel()
	// A month without an exchange result has no figures in the functional currency, and the error says what to do.
	e := newEnv(t)
	e.post(march.Start().AddDate(0, 0, 2), entry("own/OPERATING", ledger.EquityCapital, "USD", 100_000))
	refuse := func(q app.Query, part string) {
		t.Helper()
		_, err := e.service.Report(t.Context(), e.Platform.ID, q)
		if f, ok := fault.As(err); !ok || f.Code != fault.Conflict || !strings.Contains(f.Message, part) {
			t.Errorf("%+v: %v, want a conflict with %s", q, err, part)
		}
	}
	refuse(app.Query{Month: march}, "causeway ledger revalue 2026-03")
	e.endMonth(march, "1.10")
	e.report(march, "")
	refuse(app.Query{Month: april}, "revalue 2026-04")
	e.report(march, financials.YearToDate)
	if _, err := e.service.Report(t.Context(), e.Platform.ID, app.Query{Month: march, Span: "WEEK"}); err == nil {
		t.Error("an unknown span has statements")
	}
}
