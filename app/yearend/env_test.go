package yearend_test

import (
	"testing"
	"time"

	"causeway/app/accounting"
	"causeway/app/audit"
	"causeway/app/internal/apptest"
	"causeway/app/internal/audittest"
	app "causeway/app/yearend"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/ledger"
	"causeway/ports"
)

// env is the environment of a test in January 2026, when the year 2025 is over. Its year has 120.00 US dollars of
// fees in November and December and 20.00 of rail costs, and fees of 10.00 in the new year.
type env struct {
	*apptest.Env
	t          *testing.T
	years      *app.Service
	periods    *accounting.Periods
	accounting *accounting.Service
	by         platform.Author
}

var january = time.Date(2026, 1, 20, 9, 0, 0, 0, time.UTC)

func newEnv(t *testing.T) *env {
	t.Helper()
	base := apptest.New(t, apptest.At(january))
	e := &env{Env: base, t: t,
		years: app.New(app.Config{Store: base.Store, Ledger: base.Store.LedgerReader(), Clock: base.Clock, IDs: base.IDs}),
		periods: accounting.NewPeriods(accounting.PeriodsConfig{Store: base.Store, Ledger: base.Store.LedgerReader(),
			Finance: base.Store.Finance(), Clock: base.Clock, IDs: base.IDs}),
		accounting: accounting.New(accounting.Config{
			Store: base.Store, Ledger: base.Store.Finance(), Clock: base.Clock, IDs: base.IDs}),
		by: platform.Author{Token: base.Admin.Token, Actor: "Ana Lima"},
	}
	e.PostAuthorised(e.by, e.fee(time.Date(2025, 11, 10, 8, 0, 0, 0, time.UTC), 7000),
		e.fee(time.Date(2025, 12, 10, 8, 0, 0, 0, time.UTC), 5000),
		ledger.FeePaid(e.header(time.Date(2025, 12, 11, 8, 0, 0, 0, time.UTC)), ledger.Rail("WIRE"),
			money.Amount{Minor: 2000, Currency: money.USD}),
		e.fee(time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC), 1000))
	return e
}

func (e *env) header(at time.Time) ledger.Header {
	return ledger.Header{ID: e.IDs.New(january), Platform: e.Admin.Platform, Effective: at, Memo: "Test"}
}

// fee is an adjustment that earns some US cents.
func (e *env) fee(at time.Time, minor int64) ledger.Posting {
	return ledger.Adjustment(e.header(at), []ledger.Entry{{Debit: ledger.Rail("WIRE"), Credit: ledger.IncomeFees,
		Currency: money.USD, Amount: minor}})
}

func (e *env) set(changes ...string) {
	e.t.Helper()
	e.SetBooks(e.by, changes...)
}

// changeMonth changes the state of a month. The exchange result is not of this test.
func (e *env) changeMonth(a period.Action, month string) error {
	m, err := period.ParseMonth(month)
	if err != nil {
		return err
	}
	_, err = e.periods.ChangeState(e.t.Context(), e.Platform.ID, e.by, nil, accounting.MonthChange{Action: a, Month: m,
		ConfirmOpeningBalances: true, WithoutRevaluation: true})
	return err
}

// readyToClose closes the months of 2025 but the last, which it soft-closes.
func (e *env) readyToClose() {
	e.t.Helper()
	e.must(e.changeMonth(period.SoftClose, "2025-11"))
	e.must(e.changeMonth(period.Close, "2025-11"))
	e.must(e.changeMonth(period.SoftClose, "2025-12"))
}

func (e *env) must(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

// closeYear closes 2025.
func (e *env) closeYear() app.Year {
	e.t.Helper()
	y, err := e.years.Close(e.t.Context(), e.Platform.ID, nil, app.Change{Year: 2025, By: e.by, Note: "Audited"})
	e.must(err)
	return y.Done
}

func (e *env) reverse(year int, note string) (app.Year, error) {
	y, err := e.years.Reverse(e.t.Context(), e.Platform.ID, nil, app.Change{Year: year, By: e.by, Note: note})
	return y.Done, err
}

// wantBalances checks the balances of income, expense and retained earnings at the end of a time.
func (e *env) wantBalances(at time.Time, income, expense, earnings int64) {
	e.t.Helper()
	for path, want := range map[string]int64{ledger.IncomeFees: income, ledger.ExpenseRails: expense,
		ledger.EquityRetainedEarnings: earnings} {
		got, err := e.Store.LedgerReader().BalanceAt(e.t.Context(), ledger.Account{Platform: e.Platform.ID, Path: path, Currency: money.USD},
			ports.ByEffective, at)
		if err != nil || got != want {
			e.t.Errorf("%s at %s: %d, %v; want %d", path, at, got, err, want)
		}
	}
}

// income returns the income by month of November, December and January.
func (e *env) income() (months [3]string) {
	e.t.Helper()
	report, err := e.accounting.Income(e.t.Context(), e.Platform.ID, accounting.IncomeQuery{By: ports.ByEffective,
		Granularity: accounting.Monthly,
		Interval:    period.Interval{From: time.Date(2025, 11, 1, 0, 0, 0, 0, time.UTC)}})
	e.must(err)
	for i, p := range report.Periods[:3] {
		for _, l := range p.Lines {
			months[i] += l.Amount.String()
		}
	}
	return months
}

// wantClean checks every ledger invariant, and that closings of years were checked.
func (e *env) wantClean(closings int64) {
	e.t.Helper()
	for _, r := range e.check().Rules {
		if r.Violations > 0 || r.Rule == audit.RuleYearEnds && r.Checked != closings {
			e.t.Errorf("%+v", r)
		}
	}
}

func (e *env) check() audit.Report {
	e.t.Helper()
	return audittest.Check(e.t, e.Env)
}

func wantConflict(t *testing.T, err error, reason string) {
	t.Helper()
	if f, ok := fault.As(err); !ok || f.Code != fault.Conflict || f.Reason != reason {
		t.Errorf("%v, want CONFLICT: %s", err, reason)
	}
}
