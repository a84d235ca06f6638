package uow

import (
	"context"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

// Settle decides about the transactions of jobs in one unit of work, and ends the jobs
// in it. Begin starts anew when the database asks for another run.
func Settle(ctx context.Context, store ports.Store, begin func() *Work, jobs []ports.Job, keys []ports.TransactionKey,
	decide func(*Work, transaction.Transaction) error) (*Work, error) {
	var done *Work
	err := store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		done = begin()
		if len(keys) > 0 {
			locked, err := tx.LockTransactions(ctx, keys)
			if err != nil {
				return err
			}
			for _, t := range locked {
				if err := decide(done, t); err != nil {
					return err
				}
			}
		}
		if err := tx.FinishJobs(ctx, jobs); err != nil {
			return err
		}
		return done.Write(ctx, tx)
	})
	return done, err
}

// TransactionKeys are the transactions that jobs are about.
func TransactionKeys(jobs []ports.Job) []ports.TransactionKey {
	var keys []ports.TransactionKey
	for _, j := range jobs {
		for _, subject := range j.Subjects {
			key := ports.TransactionKey{Platform: j.Platform}
			ident.SetUUID(&key.ID, subject)
			keys = append(keys, key)
		}
	}
	return keys
}

// SaveResponse stores the answer of one command of a group under its claim, if it has one. An
// error that is no fault is the whole group's.
func SaveResponse(ctx context.Context, tx ports.Tx, claim *ports.IdempotentRequest, answer any, err error) error {
	if _, refused := fault.As(err); err != nil && !refused {
		return err
	}
	if claim == nil {
		return nil
	}
	return tx.SaveResponse(ctx, claim, answer, err)
}
