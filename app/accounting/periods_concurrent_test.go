package accounting_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"causeway/adapters/postgres"
	ledgerdb "causeway/adapters/postgres/ledgerdb"
	"causeway/app/accounting"
	"causeway/app/audit"
	"causeway/app/internal/apptest"
	"causeway/core/fault"
	"causeway/core/period"
	"causeway/ledger"
)

func TestClosedMonths_ConcurrentPosting(t *testing.T) {
	t.Parallel()
	// While many post into random months, adjustments too, and the months are soft-closed,
	// reopened and closed: no posting is refused, each is written once, and every closed month
	// equals its stored trial balance.
	env := newPeriodEnv(t)
	random := rand.New(rand.NewPCG(17, 3))
	months := []period.Month{mustMonth("2025-10"), mustMonth("2025-11"), mustMonth("2025-12"), mustMonth("2026-01"), mustMonth("2026-02")}
	env.Post(env.newFeePosting(months[0].Start(), 1))

	var posters sync.WaitGroup
	done := make(chan struct{})
	posted := make([]int64, 6)
	for i := range posted {
		random := rand.New(rand.NewPCG(uint64(i), 4))
		posters.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				at := months[0].Start().Add(time.Duration(random.Int64N(int64(apptest.Noon.Sub(months[0].Start())))))
				if i < 2 {
					if _, err := env.periods.Adjust(context.Background(), env.Admin.Platform, env.Admin.Author(), nil, newAdjustment(at)); err != nil {
						t.Errorf("an adjustment at %s: %v", at, err)
					}
					posted[i]++
					continue
				}
				batch := []ledger.Posting{env.newFeePosting(at, 1)}
				for range random.IntN(4) {
					batch = append(batch, env.newFeePosting(at.Add(-time.Duration(random.Int64N(int64(24*time.Hour)))), 1))
				}
				if err := env.tryPost(batch...); err != nil {
					t.Errorf("a posting at %s: %v", at, err)
				}
				posted[i] += int64(len(batch))
			}
		})
	}
	tried := int64(0)
	for closed := 0; closed < len(months); {
		m := months[random.IntN(len(months))]
		a := period.Actions()[random.IntN(3)]
		_, err := env.periods.ChangeState(t.Context(), env.Admin.Platform, env.Admin.Author(), nil, accounting.MonthChange{Action: a, Month: m,
			ConfirmOpeningBalances: true})
		switch {
		case err == nil && a == period.Close:
			closed++
		case err != nil && !fault.Is(err, fault.Conflict):
			t.Errorf("%s %s: %v", a, m, err)
			closed = len(months)
		}
		if err == nil {
			tried += env.checkSoftClosed(t, m)
		}
	}
	close(done)
	posters.Wait()

	total := 1 + tried
	for _, n := range posted {
		total += n
	}
	report := env.checkLedger()
	for _, f := range report.Findings {
		t.Error(f)
	}
	for _, r := range report.Rules {
		if r.Rule == audit.RuleSequence && r.Checked != total {
			t.Errorf("%d postings, want %d", r.Checked, total)
		}
	}
}

// checkSoftClosed checks that no unauthorised posting gets into a month that is soft-closed,
// and returns how many it posted.
func (e *periodEnv) checkSoftClosed(t *testing.T, m period.Month) (tried int64) {
	t.Helper()
	overview, err := e.Store.PeriodOverview(t.Context(), e.Admin.Platform)
	if err != nil {
		t.Fatal(err)
	}
	if overview.Calendar.State(m) == period.Open {
		return 0
	}
	count := func() (n int64) {
		err := e.Store.Pool().QueryRow(t.Context(), `
			SELECT count(*) FROM ledger_postings p
			WHERE p.platform_id = $1 AND p.effective_at >= $2 AND p.effective_at < $3
			AND NOT EXISTS (SELECT FROM ledger_authorisations a WHERE a.platform_id = p.platform_id AND a.posting_id = p.id)`,
			e.Admin.Platform.UUID(), m.Start(), m.End()).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := count()
	// The posting is accepted, in another month.
	e.Post(e.newFeePosting(m.Start().Add(time.Hour), 1))
	if after := count(); after != before {
		t.Errorf("%s is %s: %d postings, then %d", m, overview.Calendar.State(m), before, after)
	}
	return 1
}

func TestClose_ConcurrentCallers(t *testing.T) {
	t.Parallel()
	// Of several concurrent callers one closes the month, and the others get CONFLICT.
	env := newPeriodEnv(t)
	env.Post(env.newFeePosting(day(time.January, 5), 9))
	env.changeState(period.SoftClose, "2026-01")
	errs := make([]error, 6)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			_, errs[i] = env.periods.ChangeState(context.Background(), env.Admin.Platform, env.Admin.Author(), nil,
				accounting.MonthChange{Action: period.Close, Month: mustMonth("2026-01")})
		})
	}
	all.Wait()

	done := 0
	for _, err := range errs {
		if err == nil {
			done++
		} else if !fault.Is(err, fault.Conflict) {
			t.Error(err)
		}
	}
	if done != 1 {
		t.Errorf("closed %d times", done)
	}
	wantLines(t, env.getMonth("2026-01"), "expense/rails 0 9 0 9", "rails/WIRE 0 0 9 -9")
}

func TestClose_RetriesAfterConcurrentPosting(t *testing.T) {
	t.Parallel()
	// A posting that got into a soft-closed month while it was added up is in the trial balance,
	// because the unit of work is retried. (The posting bypasses the lock that the service takes.)
	env := newPeriodEnv(t)
	env.Post(env.newFeePosting(day(time.January, 5), 9))
	env.changeState(period.SoftClose, "2026-01")
	late := env.newFeePosting(day(time.January, 6), 1)
	runs := 0
	err := env.Store.Do(t.Context(), func(ctx testContext, tx *postgres.Unit) error {
		runs++
		change := period.Change{Platform: env.Admin.Platform, Month: mustMonth("2026-01"), Action: period.Close, At: apptest.Noon}
		calendar, err := tx.LockPeriods(ctx, env.Admin.Platform)
		if err != nil {
			return err
		}
		next, err := calendar.Apply(change.Action, change.Month, apptest.Noon)
		if err != nil {
			return err
		}
		if _, err := tx.RecordClosing(ctx, change, calendar); err != nil {
			return err
		}
		if runs == 1 {
			env.postWithoutLock(late)
		}
		return tx.ChangePeriods(ctx, change, next)
	})
	if err != nil || runs != 2 {
		t.Fatalf("%d runs, %v", runs, err)
	}
	wantLines(t, env.getMonth("2026-01"), "expense/rails 0 10 0 10", "rails/WIRE 0 0 10 -10")
	for _, f := range env.checkLedger().Findings {
		t.Error(f)
	}
}

// postWithoutLock records an authorised posting without taking the lock of the periods.
func (e *periodEnv) postWithoutLock(p ledger.Posting) {
	e.t.Helper()
	tx, err := e.Store.Pool().Begin(context.Background())
	if err != nil {
		e.t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	_, err = tx.Exec(
		context.Background(), `INSERT INTO ledger_authorisations (platform_id, posting_id, token_id, note, authorised_at) VALUES ($1, $2, $2, 'x', now())`,
		p.Platform.UUID(), p.ID)
	if err == nil {
		err = ledgerdb.New().Post(context.Background(), tx, apptest.Noon, []ledger.Posting{p})
	}
	if err == nil {
		err = tx.Commit(context.Background())
	}
	if err != nil {
		e.t.Fatal(err)
	}
}
