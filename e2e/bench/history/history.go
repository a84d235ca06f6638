// Package history writes the ledger of a platform that has been in use for months, with any
// number of entries: deposits, withdrawals, payments between currencies, fees, refunds,
// returns and postings with another effective time. The benchmark measures a large ledger
// with it.
//
// All postings are decided by the rules of core and written in ordinary units of work with
// every constraint in place. Only the clock is not the real one.
package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// Options say what to write.
type Options struct {
	// URL is that of a migrated database.
	URL string
	// Platform has an empty ledger.
	Platform ident.Platform
	// Entries is the exact number of entries.
	Entries int
	// Months is the number of whole months before the current one.
	Months int
	// Until is the last time; zero is now.
	Until time.Time
	// Seed decides everything but ids and, if Until is zero, the time.
	Seed uint64
	// Progress is called with the number of entries so far; may be nil.
	Progress func(entries int)
}

// The limits of Options.
const (
	MinEntries = 1_000
	MaxEntries = 1_000_000_000
	MaxMonths  = 120
)

// Result is what was written.
type Result struct {
	From, Until                          time.Time
	Entries, Postings, Payments, Commits int
	// Accounts are those with entries, the busiest first.
	Accounts []Account
	Duration time.Duration
}

// Account is an account with the number of its entries.
type Account struct {
	ledger.Account
	Entries int
}

func (o Options) validate() error {
	switch {
	case o.Platform.IsZero():
		return errors.New("Platform is required")
	case o.Entries < MinEntries || o.Entries > MaxEntries:
		return fmt.Errorf("entries must be from %d to %d, not %d", MinEntries, MaxEntries, o.Entries)
	case o.Months < 1 || o.Months > MaxMonths:
		return fmt.Errorf("months must be from 1 to %d, not %d", MaxMonths, o.Months)
	}
	return nil
}

// Write writes the postings. If it fails, those written before remain.
func Write(ctx context.Context, o Options) (Result, error) {
	begin := time.Now()
	if o.Until.IsZero() {
		o.Until = begin
	}
	o.Until = o.Until.UTC().Truncate(time.Millisecond)
	if err := o.validate(); err != nil {
		return Result{}, err
	}
	clock := &historyClock{}
	db, err := postgres.Open(ctx, postgres.Options{URL: o.URL, MaxConnections: 4, Clock: clock, IDs: ids.New()})
	if err != nil {
		return Result{}, err
	}
	defer db.Close()
	w := newWriter(o)
	if err := w.createCustomers(ctx, db); err != nil {
		return Result{}, err
	}
	if err := writeCommits(ctx, db, clock, w, o.Progress); err != nil {
		return Result{}, err
	}
	result := w.result()
	result.Duration = time.Since(begin)
	return result, nil
}

// postingsPerSnapshot is how many postings there are between two updates of the balance
// snapshots, about as many as in a running service.
const postingsPerSnapshot = 1_000

// writeCommits runs three goroutines: one creates the postings, one commits them, one updates
// balance snapshots. More would not be faster: postings of one platform are committed one
// after the other.
func writeCommits(ctx context.Context, db *postgres.DB, clock *historyClock, w *writer, progress func(int)) error {
	group, groupCtx := errgroup.WithContext(ctx)
	commits, due := make(chan commit, 4), make(chan struct{}, 1)
	group.Go(func() error {
		defer close(commits)
		return w.write(func(c commit) error { return send(groupCtx, commits, c) })
	})
	group.Go(func() error {
		defer close(due)
		sinceSnapshot, entries := 0, 0
		for c := range commits {
			clock.current.Store(&c.recordedAt)
			if err := db.Do(groupCtx, c.write); err != nil {
				return err
			}
			if sinceSnapshot += len(c.postings); sinceSnapshot >= postingsPerSnapshot {
				sinceSnapshot = 0
				if err := send(groupCtx, due, struct{}{}); err != nil {
					return err
				}
			}
			if entries += c.entries; progress != nil {
				progress(entries)
			}
		}
		return nil
	})
	group.Go(func() error {
		for range due {
			if err := db.AdvanceBalanceSnapshots(groupCtx); err != nil {
				return err
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return err
	}
	return db.AdvanceBalanceSnapshots(ctx)
}

func send[T any](ctx context.Context, to chan<- T, value T) error {
	select {
	case to <- value:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// write is the unit of work of a commit.
func (c commit) write(ctx context.Context, tx ports.Tx) error {
	if err := tx.CreateTransactions(ctx, c.endedTransactions); err != nil {
		return err
	}
	// Refunds are written by an update.
	refunded := slices.DeleteFunc(slices.Clone(c.endedTransactions), func(t transaction.Transaction) bool { return t.Refund == nil })
	if err := tx.UpdateTransactions(ctx, refunded); err != nil {
		return err
	}
	return tx.Post(ctx, c.postings)
}

// historyClock is the clock of the ledger.
type historyClock struct{ current atomic.Pointer[time.Time] }

// Now returns the time of the current commit.
func (c *historyClock) Now() time.Time { return *c.current.Load() }
