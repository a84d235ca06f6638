// Package history writes the books of a platform that has been in use for months, as
// many entries as are wanted: customers who pay in and out, ramps between currencies,
// fees, payouts that are refused or come back, postings that count for another day than
// they were written on. So what is quick on small books can be measured on large ones.
//
// It never goes round the ledger: what happens to a payment is decided by the rules,
// posted in units of work with every trigger and check in place, and checkpoints are
// moved as it goes. Only the clock is not the real one.
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
	// Platform has nothing in its books yet.
	Platform ident.Platform
	// Entries is how many there are in the end, exactly.
	Entries int
	// Months is how many whole months the books have before the present one.
	Months int
	// Until is the last moment; now when zero.
	Until time.Time
	// Seed decides everything but ids and, unless Until says it, the time.
	Seed uint64
	// Progress is called with the entries so far; nil for nobody.
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
	// Accounts are those that were posted to, the busiest first.
	Accounts []Account
	Duration time.Duration
}

// Account is one that was posted to, with the number of entries on it.
type Account struct {
	ledger.Account
	Entries int
}

func (o Options) validate() error {
	switch {
	case o.Platform.IsZero():
		return errors.New("a history is of a platform")
	case o.Entries < MinEntries || o.Entries > MaxEntries:
		return fmt.Errorf("a history has from %d to %d entries, not %d", MinEntries, MaxEntries, o.Entries)
	case o.Months < 1 || o.Months > MaxMonths:
		return fmt.Errorf("a history has from 1 to %d months, not %d", MaxMonths, o.Months)
	}
	return nil
}

// Write writes the books. What is written when it fails stays.
func Write(ctx context.Context, o Options) (Result, error) {
	begin := time.Now()
	if o.Until.IsZero() {
		o.Until = begin
	}
	o.Until = o.Until.UTC().Truncate(time.Millisecond)
	if err := o.validate(); err != nil {
		return Result{}, err
	}
	hands := &historyClock{}
	db, err := postgres.Open(ctx, postgres.Options{URL: o.URL, MaxConnections: 4, Clock: hands, IDs: ids.New()})
	if err != nil {
		return Result{}, err
	}
	defer db.Close()
	w := newWriter(o)
	if err := w.createCustomers(ctx, db); err != nil {
		return Result{}, err
	}
	if err := writeCommits(ctx, db, hands, w, o.Progress); err != nil {
		return Result{}, err
	}
	made := w.result()
	made.Duration = time.Since(begin)
	return made, nil
}

// postingsPerSnapshot is how many postings there are between two looks at the checkpoints: as few
// as a service lets come together at the pace of the history.
const postingsPerSnapshot = 1_000

// writeCommits lets three work at once: one writes what comes next, one commits it, one moves
// checkpoints. More would not help: postings of one platform are committed one after the
// other, and money must have come before it goes.
func writeCommits(ctx context.Context, db *postgres.DB, hands *historyClock, w *writer, progress func(int)) error {
	work, together := errgroup.WithContext(ctx)
	commits, due := make(chan commit, 4), make(chan struct{}, 1)
	work.Go(func() error {
		defer close(commits)
		return w.write(func(c commit) error { return send(together, commits, c) })
	})
	work.Go(func() error {
		defer close(due)
		moved, entries := 0, 0
		for c := range commits {
			hands.current.Store(&c.recordedAt)
			if err := db.Do(together, c.write); err != nil {
				return err
			}
			if moved += len(c.postings); moved >= postingsPerSnapshot {
				moved = 0
				if err := send(together, due, struct{}{}); err != nil {
					return err
				}
			}
			if entries += c.entries; progress != nil {
				progress(entries)
			}
		}
		return nil
	})
	work.Go(func() error {
		for range due {
			if err := db.AdvanceBalanceSnapshots(together); err != nil {
				return err
			}
		}
		return nil
	})
	if err := work.Wait(); err != nil {
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
	// What was refunded is not written with the rest.
	refunded := slices.DeleteFunc(slices.Clone(c.endedTransactions), func(t transaction.Transaction) bool { return t.Refund == nil })
	if err := tx.UpdateTransactions(ctx, refunded); err != nil {
		return err
	}
	return tx.Post(ctx, c.postings)
}

// historyClock are the clock of the books.
type historyClock struct{ current atomic.Pointer[time.Time] }

// Now is the moment that the books have come to.
func (h *historyClock) Now() time.Time { return *h.current.Load() }
