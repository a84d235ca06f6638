package payments

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"causeway/ports"
)

func TestCommittedPayouts_AreTakenOnceAndWhileTheyAreRecent(t *testing.T) {
	t.Parallel()
	// A payout is taken once, so that a repeated call reads it again, and not when its state may be an old one. Those of jobs that
	// never run are bounded.
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

		expect("before", keys, 0)
		due.add(&payoutsRead{payouts, time.Now()})
		time.Sleep(maxPayoutAge - 1)
		expect("recent", keys[:1], 1)
		expect("again", keys[:2], 1)
		time.Sleep(time.Nanosecond)
		expect("old", keys, 0)
		for range maxCommittedPayouts + 1 {
			p := make([]ports.Payout, 1)
			p[0].Transaction.ID.SetUUID(uuid.New())
			due.add(&payoutsRead{p, time.Now()})
		}
		if n := len(due.payouts); n > maxCommittedPayouts {
			t.Errorf("%d are kept", n)
		}
	})
}
