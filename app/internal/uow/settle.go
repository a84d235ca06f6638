package uow

import (
	"context"
	"maps"
	"slices"

	"causeway/core/fault"
	"causeway/core/transaction"
	"causeway/ports"
)

// Decisions are made about transactions in one run of a unit of work, and written at its end.
type Decisions[T Tx] interface {
	Decide(t transaction.Transaction) error
	Write(ctx context.Context, tx T) error
}

// Settle locks transactions, decides about each in the order of their ids, writes the decisions and finishes the jobs, all in
// one unit of work. begin is called for every run of the unit of work.
func Settle[T Tx](ctx context.Context, store ports.UnitsOfWork, jobs []ports.Job, keys []ports.TransactionKey,
	begin func() Decisions[T]) error {
	return ports.Do(ctx, store, func(ctx context.Context, tx T) error {
		decisions := begin()
		if len(keys) > 0 {
			locked, err := tx.LockTransactions(ctx, keys)
			if err != nil {
				return err
			}
			for _, t := range slices.SortedFunc(maps.Values(locked), func(a, b transaction.Transaction) int { return a.ID.Compare(b.ID) }) {
				if err := decisions.Decide(t); err != nil {
					return err
				}
			}
		}
		if err := tx.FinishJobs(ctx, jobs); err != nil {
			return err
		}
		return decisions.Write(ctx, tx)
	})
}

// TransactionKeys returns the keys of the transactions that are the subjects of jobs.
func TransactionKeys(jobs []ports.Job) []ports.TransactionKey {
	var keys []ports.TransactionKey
	for _, j := range jobs {
		for _, subject := range j.Subjects {
			key := ports.TransactionKey{Platform: j.Platform}
			key.ID.SetUUID(subject)
			keys = append(keys, key)
		}
	}
	return keys
}

// SaveResponse stores the response of one command of a batch under its idempotency key, if it
// has one: the result, or err if it is a fault. Any other err is returned and fails the batch.
func SaveResponse(ctx context.Context, tx Tx, request *ports.IdempotentRequest, result any, err error) error {
	if _, isFault := fault.As(err); err != nil && !isFault {
		return err
	}
	if request == nil {
		return nil
	}
	return tx.SaveResponse(ctx, request, result, err)
}
