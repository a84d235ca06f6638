package payments

import (
	"context"
	"time"

	"causeway/app/booking"
	"causeway/core/transaction"
	"causeway/ports"
)

// deliver hands payouts to their rails and settles what they answer.
func (p *Payments) deliver(ctx context.Context, jobs []ports.Job) error {
	return p.ask(ctx, jobs, ports.AskedToDeliver, transaction.State.OnItsWay, ports.Rail.Send)
}

// watch asks the rails whether delivered payouts came back.
func (p *Payments) watch(ctx context.Context, jobs []ports.Job) error {
	return p.ask(ctx, jobs, ports.AskedAfterwards, transaction.State.Arrived, ports.Rail.Status)
}

// ask puts the payouts of jobs that are still where the question is about to their
// rails, outside of any unit of work, and settles the answers in one.
func (p *Payments) ask(ctx context.Context, jobs []ports.Job, asked ports.Question, still func(transaction.State) bool,
	question func(ports.Rail, context.Context, []ports.Payout) []ports.Outcome) error {
	payouts, err := p.Store.Payouts(ctx, booking.Keys(jobs))
	if err != nil {
		return err
	}
	outcomes := map[ports.TransactionKey]ports.Outcome{}
	for rail, batch := range p.byRail(payouts, still, outcomes) {
		for i, outcome := range question(rail, ctx, batch) {
			t := batch[i].Transaction
			outcomes[ports.TransactionKey{Platform: t.Platform, ID: t.ID}] = outcome
		}
	}
	return p.settle(ctx, jobs, asked, outcomes, func(w work, t transaction.Transaction, o ports.Outcome) error {
		if !still(t.State) {
			return nil // settled by an earlier attempt
		}
		return w.answer(t, o)
	})
}

// answer decides about what a rail said of a payout.
func (w work) answer(t transaction.Transaction, o ports.Outcome) error {
	if o.Accepted || o.Verdict == ports.Done {
		handed, err := t.Handed(w.Now)
		if err != nil {
			return err
		}
		if len(handed.Events) > 0 {
			w.Change(handed)
		}
		t = handed.Transaction
	}
	if t.State.Arrived() {
		return w.watched(t, o)
	}
	var d transaction.Decision
	var err error
	switch o.Verdict {
	case ports.Done:
		d, err = t.Deliver(w.Now)
		if !o.Again.IsZero() {
			w.Later(t.Platform, transaction.StepWatch, t.ID.UUID(), o.Again)
		}
	case ports.Refused:
		d, err = t.Refuse(o.Reason, w.Now)
	case ports.CancelledByUser:
		d, err = t.Cancel(w.Now)
	default: // waiting, or the rail could not be asked
		w.Later(t.Platform, transaction.StepDeliver, t.ID.UUID(), againAt(o, w.Now))
		return nil
	}
	if err == nil {
		w.Change(d)
	}
	return err
}

// watched decides about what a rail said of a payout that was delivered.
func (w work) watched(t transaction.Transaction, o ports.Outcome) error {
	switch {
	case o.Verdict == ports.CameBack:
		d, err := t.Return(w.Now)
		if err == nil {
			w.Change(d)
		}
		return err
	case o.Verdict != ports.Done:
		w.Later(t.Platform, transaction.StepWatch, t.ID.UUID(), againAt(o, w.Now))
	case !o.Again.IsZero():
		w.Later(t.Platform, transaction.StepWatch, t.ID.UUID(), o.Again)
	}
	return nil
}

// settle decides about all transactions of jobs in one unit of work, keeps what the
// rails answered and ends the jobs in it.
func (p *Payments) settle(ctx context.Context, jobs []ports.Job, asked ports.Question, outcomes map[ports.TransactionKey]ports.Outcome,
	decide func(work, transaction.Transaction, ports.Outcome) error) error {
	keys := make([]ports.TransactionKey, 0, len(outcomes))
	for key := range outcomes {
		keys = append(keys, key)
	}
	begin := func() *booking.Work {
		w := p.begin()
		for key, outcome := range outcomes {
			w.Hear(ports.RailAnswer{Platform: key.Platform, Subject: key.ID.UUID(), Asked: asked, At: w.Now, Outcome: outcome})
		}
		return w
	}
	done, err := booking.Settle(ctx, p.Store, begin, jobs, keys, func(w *booking.Work, t transaction.Transaction) error {
		return decide(work{w}, t, outcomes[ports.TransactionKey{Platform: t.Platform, ID: t.ID}])
	})
	if err == nil {
		p.follow(work{done})
	}
	return err
}

// noRail is how long a payout waits when nothing is connected that could carry it.
const noRail = time.Minute

// byRail sorts payouts that are still where the question is about by the rail of
// their environment. For one that has no rail it notes that it could not be asked.
func (p *Payments) byRail(payouts []ports.Payout, still func(transaction.State) bool, outcomes map[ports.TransactionKey]ports.Outcome) map[ports.Rail][]ports.Payout {
	sorted := map[ports.Rail][]ports.Payout{}
	for _, payout := range payouts {
		t := payout.Transaction
		if !still(t.State) {
			continue
		}
		rail, err := p.Rails.RailFor(t.Platform)
		if err != nil {
			p.Log.WithError(err).WithField("transaction", t.ID.String()).Error("no rail for a payout")
			outcomes[ports.TransactionKey{Platform: t.Platform, ID: t.ID}] = ports.Outcome{Verdict: ports.Unknown, Again: p.Clock.Now().Add(noRail)}
			continue
		}
		sorted[rail] = append(sorted[rail], payout)
	}
	return sorted
}
