package receiving

import (
	"context"

	"causeway/app/booking"
	"causeway/core/transaction"
	"causeway/ports"
)

// work is what is decided in one unit of work.
type work struct{ *booking.Work }

func (r *IncomingService) newUnit() *booking.Work {
	return booking.NewWork(r.Clock.Now(), r.IDs, r.LocalLease())
}

func (r *IncomingService) newWork() work { return work{r.newUnit()} }

// afterCommit follows up what was committed: events are sent, and the jobs of this process
// start without a look into the database.
func (r *IncomingService) afterCommit(w work) {
	if w.HasEvents() {
		r.Committed()
	}
	r.Submit(w.LocalJobs())
}

// settle decides about the transactions of jobs in one unit of work, keeps what rails
// answered and ends the jobs in it.
func (r *IncomingService) settle(ctx context.Context, jobs []ports.Job, keys []ports.TransactionKey,
	decide func(work, transaction.Transaction) error, answers ...ports.RailReply) error {
	begin := func() *booking.Work {
		w := r.newUnit()
		for _, a := range answers {
			w.RecordReply(a)
		}
		return w
	}
	done, err := booking.Settle(ctx, r.Store, begin, jobs, keys, func(w *booking.Work, t transaction.Transaction) error { return decide(work{w}, t) })
	if err == nil {
		r.afterCommit(work{done})
	}
	return err
}

func transactionKey(t transaction.Transaction) ports.TransactionKey {
	return ports.TransactionKey{Platform: t.Platform, ID: t.ID}
}
