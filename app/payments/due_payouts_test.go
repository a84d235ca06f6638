package payments

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"causeway/core/transaction"
	"causeway/ports"
)

func TestCommittedPayouts_AreTakenOnceAndWhileTheyAreRecent(t *testing.T) {
	t.Parallel()
	// A payout is taken once, so that a repeated call reads it again, and not when its state may be an old one, or the database another
	// one. Those of jobs that never run here are bounded, without loss of others, and dropped.
	synctest.Test(t, func(t *testing.T) {
		var due committedPayouts
		var keys []ports.TransactionKey
		payouts := make([]ports.Payout, 3)
		for i := range payouts {
			payouts[i].Transaction.ID.SetUUID(uuid.UUID{byte(i + 1)})
			keys = append(keys, transactionKey(payouts[i].Transaction))
		}
		expect := func(when string, keys []ports.TransactionKey, want int) {
			t.Helper()
			taken, others := due.take(keys)
			if len(taken) != want || len(others) != len(keys)-want {
				t.Errorf("%s: took %d, and %d are to be read", when, len(taken), len(others))
			}
		}

		kept := func() int {
			due.mu.Lock()
			defer due.mu.Unlock()
			return len(due.payouts)
		}

		expect("before", keys, 0)
		due.add(&payoutsRead{payouts, time.Now()})
		time.Sleep(maxPayoutAge - 1)
		expect("recent", keys[:1], 1)
		expect("again", keys[:2], 1)
		time.Sleep(time.Nanosecond)
		expect("old", keys, 0)
		due.add(&payoutsRead{payouts, time.Now()})
		late := &payoutsRead{payouts, time.Now()}
		time.Sleep(time.Nanosecond)
		due.forget()
		due.add(late)
		expect("of another database", keys, 0)
		due.add(&payoutsRead{payouts, time.Now()})
		for range maxCommittedPayouts {
			p := make([]ports.Payout, 1)
			p[0].Transaction.ID.SetUUID(uuid.New())
			due.add(&payoutsRead{p, time.Now()})
		}
		if n := kept(); n != maxCommittedPayouts {
			t.Errorf("%d are kept, want %d", n, maxCommittedPayouts)
		}
		expect("the first of many", keys, len(keys))
		time.Sleep(maxPayoutAge / 2)
		due.add(&payoutsRead{payouts, time.Now()})
		time.Sleep(2 * maxPayoutAge)
		if n := kept(); n > 0 {
			t.Errorf("%d are kept although they are too old", n)
		}
	})
}

func TestDeliver_PayoutOfTheCommitThatIsNotDueIsNotSent(t *testing.T) {
	t.Parallel()
	// What the commit has read may be settled already, like what is read when the job runs.
	s := &Service{due: &committedPayouts{}, Config: Config{Rails: struct{ ports.Rails }{}}}
	payouts := make([]ports.Payout, 1)
	payouts[0].Transaction.ID.SetUUID(uuid.New())
	payouts[0].Transaction.State = transaction.State{Status: transaction.Completed, Stage: transaction.Delivered}
	s.due.add(&payoutsRead{payouts, time.Now()})

	answers, err := s.askDeliver(t.Context(), []ports.TransactionKey{transactionKey(payouts[0].Transaction)})
	if err != nil || len(answers.outcomes) > 0 {
		t.Errorf("outcomes %+v, %v", answers.outcomes, err)
	}
}
