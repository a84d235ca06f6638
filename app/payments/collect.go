package payments

import (
	"context"
	"slices"

	"causeway/app/internal/uow"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

// collect debits external accounts for quotes that were executed.
func (s *Service) collect(ctx context.Context, jobs []ports.Job) error {
	return s.collectFunds(ctx, jobs, isCollecting, work.settleCollection)
}

// pull debits external accounts for transfers in.
func (s *Service) pull(ctx context.Context, jobs []ports.Job) error {
	return s.collectFunds(ctx, jobs, isPulling, work.settlePull)
}

// isCollecting reports whether the funds of a quote are being collected.
func isCollecting(t transaction.Transaction) bool {
	return t.Type == transaction.Outgoing && t.State == transaction.State{Status: transaction.Processing}
}

// isPulling reports whether the funds of a transfer in are being collected.
func isPulling(t transaction.Transaction) bool {
	return t.Type == transaction.Incoming && t.IncomingState() == transaction.AwaitingFunds
}

// collectFunds calls the rails for the funds of transactions that still wait for them, outside of
// any unit of work, and settles the outcomes in one.
func (s *Service) collectFunds(ctx context.Context, jobs []ports.Job, isWaiting func(transaction.Transaction) bool,
	settle func(work, transaction.Transaction, ports.Outcome) error) error {
	collections, err := s.Store.Collections(ctx, uow.TransactionKeys(jobs))
	if err != nil {
		return err
	}
	collections = slices.DeleteFunc(collections, func(c ports.Collection) bool { return !isWaiting(c.Transaction) }) // settled by an earlier attempt
	outcomes := map[ports.TransactionKey]ports.Outcome{}
	for i, o := range callRails(ctx, s, collections, s.Rails.RailFor, func(c ports.Collection) ident.Platform { return c.Transaction.Platform },
		func(ctx context.Context, rail ports.Rail, batch []ports.Collection) []ports.Outcome {
			return rail.Collect(ctx, batch)
		}) {
		outcomes[transactionKey(collections[i].Transaction)] = o
	}
	return s.settleOutcomes(ctx, jobs, ports.CallCollect, outcomes, func(w work, t transaction.Transaction, o ports.Outcome) error {
		if !isWaiting(t) {
			return nil // settled by an earlier attempt
		}
		return settle(w, t, o)
	})
}

func (w work) settleCollection(t transaction.Transaction, o ports.Outcome) error {
	switch o.Verdict {
	case ports.Done:
		return w.update(t.Collected(w.Now))
	case ports.Refused:
		return w.update(t.CollectionFailed(o.Reason, w.Now))
	default: // waiting, or the rail could not be called
		w.callAgain(t.Platform, t.CollectionStep(), t.ID.UUID(), o)
		return nil
	}
}

func (w work) settlePull(t transaction.Transaction, o ports.Outcome) error {
	switch o.Verdict {
	case ports.Done:
		return w.update(t.Arrived(w.Now))
	case ports.Refused:
		return w.update(t.Failed(o.Reason, w.Now))
	default: // waiting, or the rail could not be called
		w.callAgain(t.Platform, transaction.StepPull, t.ID.UUID(), o)
		return nil
	}
}
