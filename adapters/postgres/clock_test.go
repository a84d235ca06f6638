package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
	"causeway/ports/portstest"
)

func TestDo_WrongClockDoesNotPost(t *testing.T) {
	t.Parallel()
	// A process whose clock is a year ahead or behind is refused, by its own measurement, and by the
	// database if it is ahead and has not measured yet. It takes, adds, renews and fails no jobs either.
	// Recorded time does not move, and as soon as the clock is right the process posts again.
	url := pgtest.New(t)
	clock := new(portstest.OffsetClock)
	db := openWith(t, postgres.Options{URL: url, AllPlatforms: true, MaxConnections: 2, Clock: clock})
	platform := newPlatform(t, "Here").ID
	deposit := func(n byte) error {
		return db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
			return tx.Post(ctx, []ledger.Posting{ledger.JITReceived(ledger.Header{ID: uuid.UUID{15: n}, Platform: platform, Effective: clock.Now()},
				ledger.Rail("ACH"), money.Amount{Minor: 700, Currency: "USD"})})
		})
	}
	setClock := func(ahead time.Duration, measure bool) {
		clock.Set(ahead)
		if !measure {
			return
		}
		if err := db.MeasureClock(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	year := 365 * 24 * time.Hour
	portstest.MustDo(t, db, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.AddJobs(ctx, []ports.Job{{ID: uuid.New(), Platform: platform, Step: transaction.StepExpire, Due: clock.Now().Add(-5 * year)}})
	})

	held, err := db.TakeJobs(t.Context(), transaction.StepExpire, clock.Now(), -10*year, 1)
	if err != nil || len(held) != 1 {
		t.Fatalf("%d jobs, %v", len(held), err)
	}

	for n, c := range []struct {
		ahead             time.Duration
		measured, refused bool
	}{
		{year, false, true}, {year, true, true}, {-year, true, true}, {time.Minute, true, true}, {-time.Minute, true, true},
		{time.Second, true, false}, {-time.Second, true, false}, {0, true, false},
	} {
		setClock(c.ahead, c.measured)
		if refused := db.CheckClock() != nil; refused != (c.measured && c.refused) {
			t.Errorf("a clock ahead by %s, measured %t: offset %s refused %t", c.ahead, c.measured, db.ClockOffset(), refused)
		}
		// The lease has ended when it begins, so that the job stays due.
		taken, err := db.TakeJobs(t.Context(), transaction.StepExpire, clock.Now(), -10*year, 1)
		if err != nil || (len(taken) == 0) != c.refused {
			t.Errorf("a clock ahead by %s, measured %t, takes %d jobs: %v", c.ahead, c.measured, len(taken), err)
		}
		if len(taken) > 0 {
			held = taken
		}
		later := ports.Job{ID: uuid.New(), Platform: platform, Step: transaction.StepRefund, Due: clock.Now()}
		added := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error { return tx.AddJobs(ctx, []ports.Job{later}) })
		held[0].Due = clock.Now().Add(-5 * year)
		renewed, failed := db.RenewLeases(t.Context(), held, clock.Now(), 5*time.Second), db.FailJobs(t.Context(), held, clock.Now())
		for what, err := range map[string]error{"adds": added, "renews": renewed, "fails": failed} {
			if wrong := c.measured && c.refused; wrong != fault.Is(err, fault.ServiceUnavailable) || !wrong && err != nil {
				t.Errorf("a clock ahead by %s, measured %t, %s jobs: %v", c.ahead, c.measured, what, err)
			}
		}
		if err := deposit(byte(n + 1)); c.refused != fault.Is(err, fault.ServiceUnavailable) || !c.refused && err != nil {
			t.Errorf("a clock ahead by %s, measured %t: %v", c.ahead, c.measured, err)
		}
	}

	var putOff int
	if err := db.Pool().QueryRow(t.Context(), "SELECT count(*) FROM jobs WHERE step = 'expire' AND due_at > now() + interval '1 minute'").Scan(
		&putOff); err != nil || putOff > 0 {
		t.Errorf("%d jobs are due much later, %v", putOff, err)
	}
	var last time.Time
	if err := db.Pool().QueryRow(t.Context(), "SELECT max(recorded_at) FROM ledger_postings").Scan(&last); err != nil {
		t.Fatal(err)
	}
	if ahead := time.Until(last); ahead > 2*time.Second {
		t.Errorf("the last posting is recorded %s from now", ahead)
	}
}
