package payments

import (
	"context"

	"causeway/app/internal/batch"
	"causeway/core/transaction"
	"causeway/ports"
)

// attemptedCommand is a command whose transaction has an id that was chosen before anything was
// written.
type attemptedCommand interface {
	// transactionKey returns the key of the transaction, and whether a batch has run with the command
	// before. If the result of its commit was lost, the transaction exists.
	transactionKey() (key ports.TransactionKey, attempted bool)
}

// runUncommitted runs the commands of a batch, except those that an earlier run has committed. It
// calls read for the results of those.
func runUncommitted[C attemptedCommand, R any](ctx context.Context, store Store, commands []C,
	read func(context.Context, C, transaction.Transaction) (R, error), run batch.RunFunc[C, R]) ([]batch.Result[R], error) {
	var attempted []ports.TransactionKey
	for _, c := range commands {
		if key, again := c.transactionKey(); again {
			attempted = append(attempted, key)
		}
	}
	if len(attempted) == 0 {
		return run(ctx, commands)
	}
	committed, err := store.TransactionsByKey(ctx, attempted)
	if err != nil {
		return nil, err
	}
	results := make([]batch.Result[R], len(commands))
	var remaining []C
	var positions []int
	for i, c := range commands {
		key, _ := c.transactionKey()
		if t, exists := committed[key]; exists {
			results[i].Value, results[i].Err = read(ctx, c, t)
			continue
		}
		remaining, positions = append(remaining, c), append(positions, i)
	}
	if len(remaining) == 0 {
		return results, nil
	}
	ran, err := run(ctx, remaining)
	if err != nil {
		return nil, err
	}
	for i, position := range positions {
		results[position] = ran[i]
	}
	return results, nil
}
