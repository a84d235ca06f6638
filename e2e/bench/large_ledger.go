package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/core/ident"
	"causeway/e2e/bench/history"
)

// largeLedgerResults is what large books cost beside small ones.
type largeLedgerResults struct {
	small, large  ledgerStats
	postingCosts  []postingComparison
	queries       []queryResult
	trialBalances []queryResult
	tableSizes    []tableSize
}

// ledgerStats is what the books hold that were made, and how long that took.
type ledgerStats struct {
	entries, postings, accounts int
	duration                    time.Duration
	// entriesAfter is how many entries there are when all was posted that was measured.
	entriesAfter int
}

const (
	smallEntries = 10_000
	largeMonths  = 12
)

// ledgerFixture are the books of a platform in a database of their own.
type ledgerFixture struct {
	tenant
	name, databaseURL string
	settings          []string // for the service
	content           history.Result
	store             *postgres.DB // of one connection
	backendPID        int          // its process
	ids               *ids.Generator
	rand              *rand.Rand
	service           *process
}

// measureLedgerSizes makes books of two sizes and measures what may depend on it.
func (b *bench) measureLedgerSizes(ctx context.Context) (err error) {
	var both [2]*ledgerFixture
	defer func() {
		for _, v := range both {
			if v != nil {
				err = errors.Join(err, v.stop())
			}
		}
	}()
	for i, entries := range []int{smallEntries, b.ledgerEntries} {
		logf("making books of %d entries", entries)
		if both[i], err = b.createLedgerFixture(ctx, []string{"books_small", "books_large"}[i], entries); err != nil {
			return err
		}
		logf("%d postings in %s", both[i].content.Postings, formatDuration(both[i].content.Duration))
	}
	if err := b.comparePosting(ctx, both[0], both[1]); err != nil {
		return err
	}
	r := &b.results.largeLedger
	for i, w := range []*ledgerStats{&r.small, &r.large} {
		made := both[i].content
		*w = ledgerStats{entries: made.Entries, postings: made.Postings, accounts: len(made.Accounts), duration: made.Duration}
		if w.entriesAfter, err = b.countEntries(ctx, both[i]); err != nil {
			return err
		}
	}
	if r.tableSizes, err = b.measureTableSizes(ctx, both[1], r.large.entriesAfter); err != nil {
		return err
	}
	return b.measureLargeLedgerQueries(ctx, both[1])
}

func (b *bench) createLedgerFixture(ctx context.Context, name string, entries int) (*ledgerFixture, error) {
	database, err := b.env.createDatabase(ctx, name)
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	v := &ledgerFixture{name: name, databaseURL: database, ids: ids.New(), rand: rand.New(rand.NewPCG(1, 1))}
	// It seals when it starts, and not while something else is measured.
	v.settings = append(serviceSettings(database, address, ""), "CAUSEWAY_SEAL_EVERY=1h")
	credentials, err := createPlatform(ctx, b.options, v.settings)
	if err != nil {
		return nil, err
	}
	v.target = newTarget(address, credentials.ClientID, credentials.ClientSecret)
	if v.id, err = ident.ParsePlatform(credentials.PlatformID); err != nil {
		return nil, err
	}
	if v.content, err = history.Write(ctx, history.Options{URL: database, Platform: v.id, Entries: entries, Months: largeMonths, Seed: 1}); err != nil {
		return nil, err
	}
	// As autovacuum leaves them, which would come by in the middle of something else.
	if err := b.env.meter.execIn(ctx, name, "VACUUM (ANALYZE)"); err != nil {
		return nil, err
	}
	if v.store, err = postgres.Open(ctx, postgres.Options{URL: database, MaxConnections: 1, Clock: wallClock{}, IDs: v.ids}); err != nil {
		return nil, err
	}
	if err := v.store.Pool().QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&v.backendPID); err != nil {
		return v, err
	}
	return v, nil
}

// countEntries counts what a database holds.
func (b *bench) countEntries(ctx context.Context, v *ledgerFixture) (n int, err error) {
	err = b.env.meter.withDatabase(ctx, v.name, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SELECT count(*) FROM ledger_entries").Scan(&n)
	})
	return n, err
}

// measureLargeLedgerQueries starts the service on the books and asks it.
func (b *bench) measureLargeLedgerQueries(ctx context.Context, v *ledgerFixture) error {
	if err := v.store.AdvanceBalanceSnapshots(ctx); err != nil {
		return err
	}
	if err := v.startService(ctx, b.binary, b.env.folder); err != nil {
		return err
	}
	if err := b.measureQueries(ctx, v); err != nil {
		return fmt.Errorf("%w; the service of %s said last:\n%s", err, v.name, v.service.lastLines())
	}
	return nil
}

// startService starts the service, and waits until it has sealed all that was posted before.
func (v *ledgerFixture) startService(ctx context.Context, program, folder string) (err error) {
	if v.service, err = startProcess("causeway serve of "+v.name, filepath.Join(folder, v.name+".log"), v.settings, program, "serve"); err != nil {
		return err
	}
	if err := v.service.awaitReady(ctx, v.address); err != nil {
		return err
	}
	c, err := dial(ctx, v.address)
	if err != nil {
		return err
	}
	defer c.close()
	logf("waiting until all of it is sealed")
	for {
		var log logState
		if err := c.call(v.target, "GET", "/ledger/log", nil, &log); err != nil {
			return err
		}
		if log.Sealed == log.Postings {
			return nil
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

func (v *ledgerFixture) stop() (err error) {
	if v.service != nil {
		err = v.service.stop()
	}
	if v.store != nil {
		v.store.Close()
	}
	return err
}
