package monthend_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/app/accounting"
	"causeway/app/audit"
	"causeway/app/internal/apptest"
	"causeway/app/internal/audittest"
	"causeway/app/monthend"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/ledger"
	"causeway/ports"
)

// The months of the tests. The clock starts in March.
var (
	march = period.MonthOf(apptest.Noon)
	april = march.Next()
)

// env is the environment of a test with accounting periods and month-end runs on it.
type env struct {
	*apptest.Env
	t       *testing.T
	service *monthend.Service
	periods *accounting.Periods
	by      platform.Author
}

// newEnv builds an environment with settings, and with rates that were kept before March.
func newEnv(t *testing.T, settings ...string) *env {
	t.Helper()
	e := &env{Env: apptest.New(t), t: t}
	e.by = platform.Author{Token: e.Admin.Token, Actor: "Ana Lima"}
	e.service = monthend.New(monthend.Config{Store: e.Store, Results: e.Store, Postings: e.Store.LedgerReader(),
		Views: e.Store.MonthEndViews(), KeptRates: e.Store, Receivables: e.Store, Balances: e.Store.Finance(), Clock: e.Clock, IDs: e.IDs})
	e.periods = accounting.NewPeriods(accounting.PeriodsConfig{
		Store: e.Store, Ledger: e.Store.LedgerReader(), Finance: e.Store.Finance(),
		Clock: e.Clock, IDs: e.IDs})
	e.set(append([]string{"functionalCurrency=USD"}, settings...)...)
	e.KeepRates(march.Start().Add(-time.Hour), "1.1")
	return e
}

// set changes settings of the books.
func (e *env) set(changes ...string) {
	e.t.Helper()
	e.SetBooks(e.by, changes...)
}

// convert posts a conversion that is effective on a day of the month of the clock, with a fee of 2 in the sending
// currency, and moves the clock to that day.
func (e *env) convert(day int, sent int64, from money.Currency, received int64, to money.Currency) ledger.Posting {
	e.t.Helper()
	now := e.Clock.Now()
	at := time.Date(now.Year(), now.Month(), day, 15, 0, 0, 0, time.UTC)
	e.moveTo(at)
	header := ledger.Header{ID: uuid.Must(uuid.NewV7()), Platform: e.Platform.ID, Effective: at}
	header.Transaction.SetUUID(uuid.Must(uuid.NewV7()))
	posting := ledger.Converted(header, ledger.Conversion{From: ledger.FundingJIT, To: ledger.TransitPayouts,
		Sent: money.Amount{Minor: sent + 2, Currency: from}, Fees: 2, Received: money.Amount{Minor: received, Currency: to}})
	e.Post(posting)
	return posting
}

// deliver posts the delivery of a conversion now.
func (e *env) deliver(converted ledger.Posting, received money.Amount) {
	e.t.Helper()
	e.Post(ledger.Delivered(ledger.Header{ID: uuid.Must(uuid.NewV7()), Platform: e.Platform.ID, Transaction: converted.Transaction,
		Effective: e.Clock.Now()}, ledger.Rail("SEPA"), received))
}

// moveTo moves the clock forward to a time.
func (e *env) moveTo(at time.Time) {
	if d := at.Sub(e.Clock.Now()); d > 0 {
		e.Clock.Advance(d)
	}
}

// softClose moves the clock to the month after m and soft-closes m.
func (e *env) softClose(m period.Month) {
	e.t.Helper()
	e.moveTo(m.End().Add(time.Hour))
	e.softCloseNow(m)
}

func (e *env) softCloseNow(m period.Month) {
	e.t.Helper()
	if _, err := e.change(accounting.MonthChange{Action: period.SoftClose, Month: m, ConfirmOpeningBalances: true}); err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) change(c accounting.MonthChange) (accounting.Month, error) {
	changed, err := e.periods.ChangeState(e.t.Context(), e.Platform.ID, e.by, nil, c)
	return changed.Done, err
}

func (e *env) revalue(m period.Month) monthend.Revaluation {
	e.t.Helper()
	done, err := e.service.Revalue(e.t.Context(), e.Platform.ID, e.by, nil, m)
	if err != nil {
		e.t.Fatal(err)
	}
	return done.Done
}

func (e *env) deferFees(m period.Month) (monthend.FeeDeferral, error) {
	done, err := e.service.DeferFees(e.t.Context(), e.Platform.ID, e.by, nil, m)
	return done.Done, err
}

// balance returns the balance of an account in US dollars, unless a currency is given, at the end of a moment by
// effective time.
func (e *env) balance(path string, at time.Time, currency ...money.Currency) int64 {
	e.t.Helper()
	account := ledger.Account{Platform: e.Platform.ID, Path: path, Currency: append(currency, "USD")[0]}
	balance, err := e.Store.LedgerReader().BalanceAt(e.t.Context(), account, ports.ByEffective, at)
	if err != nil {
		e.t.Fatal(err)
	}
	return balance
}

// postings returns the number of postings on the platform.
func (e *env) postings() int {
	e.t.Helper()
	page, err := e.Store.Finance().Postings(e.t.Context(), ports.PostingFilter{Platform: e.Platform.ID, Limit: 1000})
	if err != nil {
		e.t.Fatal(err)
	}
	return len(page.Postings)
}

// checkLedger checks every rule of the ledger. There are no transactions beside the postings.
func (e *env) checkLedger() audit.Report {
	e.t.Helper()
	return audittest.Check(e.t, e.Env, audit.RuleTransactions)
}

func wantConflict(t *testing.T, err error, reason string) {
	t.Helper()
	if f, ok := fault.As(err); !ok || f.Code != fault.Conflict || f.Reason != reason {
		t.Errorf("%v, want a conflict: %s", err, reason)
	}
}
