package receiving

import (
	"context"

	"causeway/app/internal/uow"
	"causeway/core/transaction"
	"causeway/ports"
)

// work is what is decided in one unit of work.
type work struct{ *uow.Work }

func (r *IncomingService) newUnit() *uow.Work {
	return uow.NewWork(r.Clock.Now(), r.IDs, r.LocalLease())
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
	begin := func() *uow.Work {
		w := r.newUnit()
		for _, a := range answers {
			w.RecordReply(a)
		}
		return w
	}
	done, err := uow.Settle(ctx, r.Store, begin, jobs, keys, func(w *uow.Work, t transaction.Transaction) error { return decide(work{w}, t) })
	if err == nil {
		r.afterCommit(work{done})
	}
	return err
}

func transactionKey(t transaction.Transaction) ports.TransactionKey {
	return ports.TransactionKey{Platform: t.Platform, ID: t.ID}
}
