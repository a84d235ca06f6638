package payments

import (
	"context"

	"causeway/app/internal/uow"
	"causeway/core/transaction"
	"causeway/ports"
)

// collect asks external accounts for the money of quotes that were executed, and
// settles what the rails answer.
func (p *Service) collect(ctx context.Context, jobs []ports.Job) error {
	collections, err := p.Store.Collections(ctx, uow.TransactionKeys(jobs))
	if err != nil {
		return err
	}
	outcomes := map[ports.TransactionKey]ports.Outcome{}
	for _, c := range collections {
		t := c.Transaction
		if !isCollecting(t) {
			continue
		}
		outcome := ports.Outcome{Verdict: ports.Unknown, RetryAt: p.Clock.Now().Add(noRailDelay)}
		if rail, err := p.Rails.RailFor(t.Platform); err != nil {
			p.Log.WithError(err).WithField("transaction", t.ID.String()).Error("no rail for a collection")
		} else {
			outcome = rail.Collect(ctx, []ports.Collection{c})[0]
		}
		outcomes[ports.TransactionKey{Platform: t.Platform, ID: t.ID}] = outcome
	}
	return p.settle(ctx, jobs, ports.CallCollect, outcomes, func(w work, t transaction.Transaction, o ports.Outcome) error {
		if !isCollecting(t) {
			return nil // settled by an earlier attempt
		}
		return w.settleCollection(t, o)
	})
}

// isCollecting tells whether a transaction's money is being asked for.
func isCollecting(t transaction.Transaction) bool {
	return t.Type == transaction.Outgoing && t.State == transaction.State{Status: transaction.Processing}
}

func (w work) settleCollection(t transaction.Transaction, o ports.Outcome) error {
	var d transaction.Decision
	var err error
	switch o.Verdict {
	case ports.Done:
		d, err = t.Collected(w.Now)
	case ports.Refused:
		d, err = t.CollectionFailed(o.Reason, w.Now)
	default:
		w.EnqueueAt(t.Platform, transaction.StepCollect, t.ID.UUID(), retryTime(o, w.Now))
		return nil
	}
	if err == nil {
		w.Update(d)
	}
	return err
}
