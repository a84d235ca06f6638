package payments

import (
	"context"
	"time"

	"causeway/app/internal/uow"
	"causeway/core/transaction"
	"causeway/ports"
)

// deliver hands payouts to their rails and settles what they answer.
func (p *Service) deliver(ctx context.Context, jobs []ports.Job) error {
	return p.callRails(ctx, jobs, ports.CallSend, transaction.State.InTransit, ports.Rail.Send)
}

// checkReturns asks the rails whether delivered payouts came back.
func (p *Service) checkReturns(ctx context.Context, jobs []ports.Job) error {
	return p.callRails(ctx, jobs, ports.CallStatus, transaction.State.IsDelivered, ports.Rail.Status)
}

// callRails puts the payouts of jobs that are still where the question is about to their
// rails, outside of any unit of work, and settles the answers in one.
func (p *Service) callRails(ctx context.Context, jobs []ports.Job, asked ports.RailCall, still func(transaction.State) bool,
	question func(ports.Rail, context.Context, []ports.Payout) []ports.Outcome) error {
	payouts, err := p.Store.Payouts(ctx, uow.TransactionKeys(jobs))
	if err != nil {
		return err
	}
	outcomes := map[ports.TransactionKey]ports.Outcome{}
	for rail, batch := range p.groupByRail(payouts, still, outcomes) {
		for i, outcome := range question(rail, ctx, batch) {
			t := batch[i].Transaction
			outcomes[ports.TransactionKey{Platform: t.Platform, ID: t.ID}] = outcome
		}
	}
	return p.settle(ctx, jobs, asked, outcomes, func(w work, t transaction.Transaction, o ports.Outcome) error {
		if !still(t.State) {
			return nil // settled by an earlier attempt
		}
		return w.settlePayout(t, o)
	})
}

// settlePayout decides about what a rail said of a payout.
func (w work) settlePayout(t transaction.Transaction, o ports.Outcome) error {
	if o.Accepted || o.Verdict == ports.Done {
		handed, err := t.Submitted(w.Now)
		if err != nil {
			return err
		}
		if len(handed.Events) > 0 {
			w.Update(handed)
		}
		t = handed.Transaction
	}
	if t.State.IsDelivered() {
		return w.settleDelivered(t, o)
	}
	var d transaction.Decision
	var err error
	switch o.Verdict {
	case ports.Done:
		d, err = t.Deliver(w.Now)
		if !o.RetryAt.IsZero() {
			w.EnqueueAt(t.Platform, transaction.StepCheckReturn, t.ID.UUID(), o.RetryAt)
		}
	case ports.Refused:
		d, err = t.Refuse(o.Reason, w.Now)
	case ports.CancelledByUser:
		d, err = t.Cancel(w.Now)
	default: // waiting, or the rail could not be asked
		w.EnqueueAt(t.Platform, transaction.StepDeliver, t.ID.UUID(), retryTime(o, w.Now))
		return nil
	}
	if err == nil {
		w.Update(d)
	}
	return err
}

// settleDelivered decides about what a rail said of a payout that was delivered.
func (w work) settleDelivered(t transaction.Transaction, o ports.Outcome) error {
	switch {
	case o.Verdict == ports.Returned:
		d, err := t.Return(w.Now)
		if err == nil {
			w.Update(d)
		}
		return err
	case o.Verdict != ports.Done:
		w.EnqueueAt(t.Platform, transaction.StepCheckReturn, t.ID.UUID(), retryTime(o, w.Now))
	case !o.RetryAt.IsZero():
		w.EnqueueAt(t.Platform, transaction.StepCheckReturn, t.ID.UUID(), o.RetryAt)
	}
	return nil
}

// settle decides about all transactions of jobs in one unit of work, keeps what the
// rails answered and ends the jobs in it.
func (p *Service) settle(ctx context.Context, jobs []ports.Job, asked ports.RailCall, outcomes map[ports.TransactionKey]ports.Outcome,
	decide func(work, transaction.Transaction, ports.Outcome) error) error {
	keys := make([]ports.TransactionKey, 0, len(outcomes))
	for key := range outcomes {
		keys = append(keys, key)
	}
	begin := func() *uow.Work {
		w := p.newUnit()
		for key, outcome := range outcomes {
			w.RecordReply(ports.RailReply{Platform: key.Platform, Subject: key.ID.UUID(), Call: asked, At: w.Now, Outcome: outcome})
		}
		return w
	}
	done, err := uow.Settle(ctx, p.Store, begin, jobs, keys, func(w *uow.Work, t transaction.Transaction) error {
		return decide(work{w}, t, outcomes[ports.TransactionKey{Platform: t.Platform, ID: t.ID}])
	})
	if err == nil {
		p.afterCommit(work{done})
	}
	return err
}

// noRailDelay is how long a payout waits when nothing is connected that could carry it.
const noRailDelay = time.Minute

// groupByRail sorts payouts that are still where the question is about by the rail of
// their environment. For one that has no rail it notes that it could not be asked.
func (p *Service) groupByRail(payouts []ports.Payout, still func(transaction.State) bool, outcomes map[ports.TransactionKey]ports.Outcome) map[ports.Rail][]ports.Payout {
	sorted := map[ports.Rail][]ports.Payout{}
	for _, payout := range payouts {
		t := payout.Transaction
		if !still(t.State) {
			continue
		}
		rail, err := p.Rails.RailFor(t.Platform)
		if err != nil {
			p.Log.WithError(err).WithField("transaction", t.ID.String()).Error("no rail for a payout")
			outcomes[ports.TransactionKey{Platform: t.Platform, ID: t.ID}] = ports.Outcome{Verdict: ports.Unknown, RetryAt: p.Clock.Now().Add(noRailDelay)}
			continue
		}
		sorted[rail] = append(sorted[rail], payout)
	}
	return sorted
}
