package accounting_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/app/accounting"
	"causeway/app/audit"
	"causeway/app/internal/apptest"
	"causeway/app/internal/audittest"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// periodEnv is the environment of a test with Periods on it. It starts in March 2026, when January
// and February are over.
type periodEnv struct {
	*apptest.Env
	t       testing.TB
	periods *accounting.Periods
}

func newPeriodEnv(t testing.TB) *periodEnv {
	t.Helper()
	return newPeriodEnvAt(t, apptest.Noon)
}

// newPeriodEnvAt starts the clock at a time.
func newPeriodEnvAt(t testing.TB, now time.Time, options ...apptest.Option) *periodEnv {
	t.Helper()
	e := apptest.New(t, append(options, apptest.At(now))...)
	return &periodEnv{Env: e, t: t, periods: accounting.NewPeriods(accounting.PeriodsConfig{
		Store: e.Store, Archiver: e.Store, Ledger: e.Store.LedgerReader(), Finance: e.Store.Finance(),
		Clock: e.Clock, IDs: e.IDs})}
}

// newFeePosting is a posting of some US cents with an effective time.
func (e *periodEnv) newFeePosting(at time.Time, minor int64) ledger.Posting {
	return ledger.FeePaid(ledger.Header{ID: e.IDs.New(apptest.Noon), Platform: e.Admin.Platform, Effective: at, Memo: "wire"},
		ledger.Rail("WIRE"), money.Amount{Minor: minor, Currency: money.USD})
}

func (e *periodEnv) tryPost(postings ...ledger.Posting) error {
	return e.Store.Do(context.Background(), func(ctx context.Context, tx *postgres.Unit) error { return tx.Post(ctx, postings) })
}

// readPosting reads a stored posting.
func (e *periodEnv) readPosting(id uuid.UUID) ledger.Posting {
	e.t.Helper()
	p, found, err := e.Store.LedgerReader().Posting(context.Background(), e.Admin.Platform, id)
	if err != nil || !found {
		e.t.Fatalf("posting %s: %t, %v", id, found, err)
	}
	return p
}

func (e *periodEnv) changeState(a period.Action, month string) accounting.Month {
	e.t.Helper()
	outcome, err := e.periods.ChangeState(context.Background(), e.Admin.Platform, ana(e.Admin), nil,
		accounting.MonthChange{Action: a, Month: mustMonth(month), ConfirmOpeningBalances: true})
	if err != nil {
		e.t.Fatalf("%s %s: %v", a, month, err)
	}
	done := outcome.Done
	return done
}

// getMonth reads a month with its whole trial balance.
func (e *periodEnv) getMonth(month string) accounting.Month {
	e.t.Helper()
	m, err := e.periods.Get(context.Background(), e.Admin.Platform, mustMonth(month), ports.LineFilter{Limit: 1000})
	if err != nil {
		e.t.Fatal(err)
	}
	return m
}

// checkLedger checks every ledger invariant.
func (e *periodEnv) checkLedger() audit.Report {
	e.t.Helper()
	report, err := e.tryCheckLedger()
	if err != nil {
		e.t.Fatal(err)
	}
	return report
}

func (e *periodEnv) tryCheckLedger() (audit.Report, error) {
	return audittest.New(e.Env).Check(context.Background())
}

func mustMonth(month string) period.Month {
	m, err := period.ParseMonth(month)
	if err != nil {
		panic(err)
	}
	return m
}

func day(month time.Month, day int) time.Time {
	return time.Date(2026, month, day, 9, 30, 0, 0, time.UTC)
}
