package receiving

import (
	"context"

	"causeway/app/booking"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

// work is what is decided in one unit of work.
type work struct{ *booking.Work }

func (r *Receiving) newWork() work { return work{booking.NewWork(r.Clock.Now(), r.IDs, r.Handover())} }

// goOn follows up what was committed: events are sent, and the jobs of this process
// start without a look into the database.
func (r *Receiving) goOn(w work) {
	if w.Tells() {
		r.Committed()
	}
	r.HandOver(w.Mine())
}

// settle decides about the transactions of jobs in one unit of work, and ends the jobs
// in it.
func (r *Receiving) settle(ctx context.Context, jobs []ports.Job, keys []ports.TransactionKey,
	decide func(work, transaction.Transaction) error) error {
	var done work
	err := r.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		done = r.newWork()
		if len(keys) > 0 {
			locked, err := tx.LockTransactions(ctx, keys)
			if err != nil {
				return err
			}
			for _, t := range locked {
				if err := decide(done, t); err != nil {
					return err
				}
			}
		}
		if err := tx.FinishJobs(ctx, jobs); err != nil {
			return err
		}
		return done.Write(ctx, tx)
	})
	if err != nil {
		return err
	}
	r.goOn(done)
	return nil
}

func keyOf(t transaction.Transaction) ports.TransactionKey {
	return ports.TransactionKey{Platform: t.Platform, ID: t.ID}
}

func transactionKeys(jobs []ports.Job) []ports.TransactionKey {
	var keys []ports.TransactionKey
	for _, j := range jobs {
		for _, subject := range j.Subjects {
			key := ports.TransactionKey{Platform: j.Platform}
			ident.Set(&key.ID, subject)
			keys = append(keys, key)
		}
	}
	return keys
}
