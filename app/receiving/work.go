package receiving

import (
	"context"

	"causeway/app/booking"
	"causeway/core/transaction"
	"causeway/ports"
)

// work is what is decided in one unit of work.
type work struct{ *booking.Work }

func (r *Receiving) begin() *booking.Work { return booking.NewWork(r.Clock.Now(), r.IDs, r.Handover()) }

func (r *Receiving) newWork() work { return work{r.begin()} }

// goOn follows up what was committed: events are sent, and the jobs of this process
// start without a look into the database.
func (r *Receiving) goOn(w work) {
	if w.Tells() {
		r.Committed()
	}
	r.HandOver(w.Mine())
}

// settle decides about the transactions of jobs in one unit of work, keeps what rails
// answered and ends the jobs in it.
func (r *Receiving) settle(ctx context.Context, jobs []ports.Job, keys []ports.TransactionKey,
	decide func(work, transaction.Transaction) error, answers ...ports.RailAnswer) error {
	begin := func() *booking.Work {
		w := r.begin()
		for _, a := range answers {
			w.Hear(a)
		}
		return w
	}
	done, err := booking.Settle(ctx, r.Store, begin, jobs, keys, func(w *booking.Work, t transaction.Transaction) error { return decide(work{w}, t) })
	if err == nil {
		r.goOn(work{done})
	}
	return err
}

func keyOf(t transaction.Transaction) ports.TransactionKey {
	return ports.TransactionKey{Platform: t.Platform, ID: t.ID}
}
