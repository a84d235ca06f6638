package payments

import (
	"context"
	"errors"
	"time"

	"causeway/core/rail"
	"causeway/core/receivable"
	"causeway/core/transaction"
	"causeway/ports"
)

// returnDelay is when a return is looked at again of a collection whose transaction has not ended.
const returnDelay = time.Minute

// checkCollections calls the rails to check whether collections that were done have been taken back.
func (s *Service) checkCollections(ctx context.Context, jobs []ports.Job) error {
	return s.callAbout(ctx, jobs, s.askCollectionReturns)
}

// askCollectionReturns also records the returns, each in a unit of work of its own. Recording one again changes nothing, so
// that the job can be repeated.
func (s *Service) askCollectionReturns(ctx context.Context, keys []ports.TransactionKey) (answers, error) {
	recorded := map[ports.TransactionKey]bool{}
	replied, err := s.askCollections(ctx, keys, ports.CallCollectionStatus, transaction.Transaction.HasCollected,
		func(w work, t transaction.Transaction, o ports.Outcome) error {
			w.settleCollectionStatus(t, o, recorded[transactionKey(t)])
			return nil
		}, ports.Rail.CollectionStatus)
	if err != nil {
		return replied, err
	}
	for key, o := range replied.outcomes {
		if o.Verdict != ports.Returned {
			continue
		}
		if recorded[key], err = s.recordReturn(ctx, key, o); err != nil {
			return replied, err
		}
	}
	return replied, nil
}

// recordReturn records that the collection of a transaction was taken back, and reports whether that is recorded. A transfer in that has
// not ended has credited nobody.
func (s *Service) recordReturn(ctx context.Context, key ports.TransactionKey, o ports.Outcome) (recorded bool, err error) {
	var w work
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		w = s.newWork()
		if _, err := s.addReturn(ctx, tx, w, key, o); err != nil {
			return err
		}
		return w.Write(ctx, tx)
	})
	if errors.Is(err, errNotEnded) {
		return false, nil
	}
	if err == nil {
		s.afterCommit(w)
	}
	return err == nil, err
}

// errNotEnded is why the return of a collection is not recorded yet.
var errNotEnded = errors.New("the transfer in has not ended")

// addReturn adds to the work that the collection of a transaction was taken back, and reports whether that is new. What the money was to
// pay ends if it has not left, and money that no refund could bring back goes back this way.
func (s *Service) addReturn(ctx context.Context, tx Tx, w work, key ports.TransactionKey, o ports.Outcome) (isNew bool, err error) {
	w.Now = w.Now.Truncate(time.Microsecond)
	var t transaction.Transaction
	_, isNew, err = s.recorder().Record(ctx, tx, w.Work, key, func(locked transaction.Transaction) (receivable.Return, error) {
		t = locked
		if !t.State.IsFinal() && t.Type != transaction.Outgoing {
			return receivable.Return{}, errNotEnded
		}
		return receivable.Reported(o.Code, o.PartnerID, o.Text, o.ReturnedAt.Truncate(time.Microsecond), t, w.Now), nil
	})
	if err == nil && isNew {
		err = s.stopUse(ctx, tx, w.Work, t, transaction.TakenBackReason(o.Code))
	}
	return isNew, err
}

// settleCollectionStatus decides what follows from a rail's outcome for a collection that was done.
func (w work) settleCollectionStatus(t transaction.Transaction, o ports.Outcome, recorded bool) {
	switch {
	case o.Verdict == ports.Returned && !recorded:
		w.checkCollectionAt(t, w.Now.Add(returnDelay))
	case o.Verdict == ports.Returned:
	case w.compare(ports.CallCollectionStatus, t, o, rail.Said{}):
		if !w.isNews(t) {
			w.checkCollectionAt(t, w.Now.Add(contradictedDelay))
		}
	case o.Verdict != ports.Done:
		w.callAgain(t.Platform, transaction.StepCheckCollection, t.ID.UUID(), o)
	case !w.isNews(t):
		w.checkCollectionAt(t, o.RetryAt)
	}
}

// checkCollectionAt adds a job that checks a collection at a time, if there is one: as long as the rail may take it back.
func (w work) checkCollectionAt(t transaction.Transaction, at time.Time) {
	if !at.IsZero() && t.Flow().Funding == transaction.Pull {
		w.EnqueueAt(t.Platform, transaction.StepCheckCollection, t.ID.UUID(), at)
	}
}

// collectionFailure returns the reason for which a collection failed, or came back before it was known to be done.
func collectionFailure(o ports.Outcome) transaction.FailureReason {
	if o.Reason != "" {
		return o.Reason
	}
	return transaction.CollectionRefusal(o.Code).Reason
}
