package uow

import (
	"context"
	"maps"
	"slices"

	"causeway/core/fault"
	"causeway/core/transaction"
	"causeway/ports"
)

// Settle locks transactions, calls decide for each in the order of their ids, writes the work and finishes the jobs, all in
// one unit of work. begin makes a new Work for every run of the unit of work. The Work of the
// last run is returned.
func Settle(ctx context.Context, store ports.Store, begin func() *Work, jobs []ports.Job, keys []ports.TransactionKey,
	decide func(*Work, transaction.Transaction) error) (*Work, error) {
	var work *Work
	err := store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		work = begin()
		if len(keys) > 0 {
			locked, err := tx.LockTransactions(ctx, keys)
			if err != nil {
				return err
			}
			for _, t := range slices.SortedFunc(maps.Values(locked), func(a, b transaction.Transaction) int { return a.ID.Compare(b.ID) }) {
				if err := decide(work, t); err != nil {
					return err
				}
			}
		}
		if err := tx.FinishJobs(ctx, jobs); err != nil {
			return err
		}
		return work.Write(ctx, tx)
	})
	return work, err
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
func SaveResponse(ctx context.Context, tx ports.Tx, request *ports.IdempotentRequest, result any, err error) error {
	if _, isFault := fault.As(err); err != nil && !isFault {
		return err
	}
	if request == nil {
		return nil
	}
	return tx.SaveResponse(ctx, request, result, err)
}
