package payments

import (
	"context"
	"slices"
	"time"

	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

// collect debits external accounts for quotes that were executed.
func (s *Service) collect(ctx context.Context, jobs []ports.Job) error {
	return s.callAbout(ctx, jobs, s.askCollect)
}

func (s *Service) askCollect(ctx context.Context, keys []ports.TransactionKey) (answers, error) {
	return s.askCollections(ctx, keys, ports.CallCollect, isCollecting, work.settleCollection, ports.Rail.Collect)
}

// pull debits external accounts for transfers in.
func (s *Service) pull(ctx context.Context, jobs []ports.Job) error {
	return s.callAbout(ctx, jobs, s.askPull)
}

func (s *Service) askPull(ctx context.Context, keys []ports.TransactionKey) (answers, error) {
	return s.askCollections(ctx, keys, ports.CallCollect, isPulling, work.settlePull, ports.Rail.Collect)
}

// isCollecting reports whether the funds of a quote are being collected.
func isCollecting(t transaction.Transaction) bool {
	return t.Type == transaction.Outgoing && t.State == transaction.State{Status: transaction.Processing}
}

// isPulling reports whether the funds of a transfer in are being collected.
func isPulling(t transaction.Transaction) bool {
	return t.Type == transaction.Incoming && t.IncomingState() == transaction.AwaitingFunds
}

// askCollections calls the rails about collections whose state is still the one that the call is for.
func (s *Service) askCollections(ctx context.Context, keys []ports.TransactionKey, call ports.RailCall,
	applies func(transaction.Transaction) bool,
	settle func(work, transaction.Transaction, ports.Outcome) error, callRail func(ports.Rail, context.Context,
		[]ports.Collection) []ports.Outcome) (answers, error) {
	began := time.Now()
	collections, err := s.Store.Collections(ctx, keys)
	if err != nil {
		return answers{}, err
	}
	// settled by an earlier attempt
	collections = slices.DeleteFunc(collections, func(c ports.Collection) bool { return !applies(c.Transaction) })
	outcomes := map[ports.TransactionKey]ports.Outcome{}
	var started callSpans
	for i := range collections {
		s.startCall(&started, began, call, &collections[i].Transaction)
	}
	for i, o := range callRails(ctx, s, collections, s.Rails.RailFor,
		func(c ports.Collection) ident.Platform { return c.Transaction.Platform },
		func(ctx context.Context, rail ports.Rail, batch []ports.Collection) []ports.Outcome {
			return callRail(rail, ctx, batch)
		}) {
		outcomes[transactionKey(collections[i].Transaction)] = o
	}
	started.endCalls(outcomes)
	return answers{call: call, outcomes: outcomes, spans: started, applies: applies, settle: settle}, nil
}

func (w work) settleCollection(t transaction.Transaction, o ports.Outcome) error {
	if o.TransactionHash != "" {
		t.SourceHash = o.TransactionHash
	}
	return w.settleDebit(t, o, t.CollectionStep(), transaction.Transaction.Collected, transaction.Transaction.CollectionFailed)
}

func (w work) settlePull(t transaction.Transaction, o ports.Outcome) error {
	return w.settleDebit(t, o, transaction.StepPull, transaction.Transaction.Arrived, transaction.Transaction.Failed)
}

// settleDebit decides with one of two functions what follows from a rail's outcome for a debit, which a step asks for.
func (w work) settleDebit(t transaction.Transaction, o ports.Outcome, step transaction.Step,
	done func(transaction.Transaction, time.Time) (transaction.Decision, error),
	failed func(transaction.Transaction, transaction.FailureReason, time.Time) (transaction.Decision, error)) error {
	switch o.Verdict {
	case ports.Done:
		w.checkCollectionAt(t, o.RetryAt)
		return w.update(done(t, w.Now))
	case ports.Refused, ports.Returned: // in time, so that nobody relies on the money
		return w.update(failed(withRejection(t, o), collectionFailure(o), w.Now))
	case ports.CancelledByUser:
		return w.update(t.Cancel(w.Now))
	default: // waiting, or the rail could not be called
		w.wait(t, o, time.Time{})
		w.callAgain(t.Platform, step, t.ID.UUID(), o)
		return nil
	}
}
