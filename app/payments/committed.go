package payments

import (
	"context"

	"causeway/app/internal/batch"
	"causeway/app/internal/spans"
	"causeway/core/ident"
	"causeway/core/tracing"
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

// newCommand is the part of an attemptedCommand that each has: its transaction, and the request that asks for it.
type newCommand struct {
	transaction ports.TransactionKey
	idempotency *ports.IdempotentRequest
	trace       tracing.Context
	// attempted is set once a batch has run with the command.
	attempted bool
}

func (s *Service) newCommand(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest) newCommand {
	return newCommand{transaction: ports.TransactionKey{Platform: p, ID: ident.NewTransaction(s.IDs.New, s.Clock.Now())},
		idempotency: request, trace: spans.Context(ctx)}
}

func (c *newCommand) transactionKey() (ports.TransactionKey, bool) { return c.transaction, c.attempted }

// asCommitted is the result of a command that returns its transaction.
func asCommitted[C attemptedCommand](_ context.Context, _ C, t transaction.Transaction) (transaction.Transaction, error) {
	return t, nil
}

// runBatch decides about the commands of a batch in one unit of work.
func runBatch[R any](ctx context.Context, s *Service, size int,
	decide func(ctx context.Context, tx Tx, w work, results []batch.Result[R]) error) ([]batch.Result[R], error) {
	var results []batch.Result[R]
	var w work
	err := ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		results, w = make([]batch.Result[R], size), s.newWork()
		if err := decide(ctx, tx, w, results); err != nil {
			return err
		}
		return w.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	s.afterCommit(w)
	return results, nil
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
