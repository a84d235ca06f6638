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

// large is what large books cost beside small ones.
type large struct {
	small, large written
	posting      []posted
	asked        []asked
	trials       []asked
	sizes        []tableSize
}

// written is what the books hold that were made, and how long that took.
type written struct {
	entries, postings, accounts int
	took                        time.Duration
	// after is how many entries there are when all was posted that was measured.
	after int
}

const (
	smallEntries = 10_000
	largeMonths  = 12
)

// volume are the books of a platform in a database of their own.
type volume struct {
	tenant
	name, url string
	set       []string // for the service
	made      history.Made
	store     *postgres.DB // of one connection
	backend   int          // its process
	ids       *ids.Generator
	rand      *rand.Rand
	service   *process
}

// measureBooks makes books of two sizes and measures what may depend on it.
func (b *bench) measureBooks(ctx context.Context) (err error) {
	var both [2]*volume
	defer func() {
		for _, v := range both {
			if v != nil {
				err = errors.Join(err, v.close())
			}
		}
	}()
	for i, entries := range []int{smallEntries, b.entries} {
		say("making books of %d entries", entries)
		if both[i], err = b.makeVolume(ctx, []string{"books_small", "books_large"}[i], entries); err != nil {
			return err
		}
		say("%d postings in %s", both[i].made.Postings, lasting(both[i].made.Took))
	}
	if err := b.comparePosting(ctx, both[0], both[1]); err != nil {
		return err
	}
	r := &b.results.large
	for i, w := range []*written{&r.small, &r.large} {
		made := both[i].made
		*w = written{entries: made.Entries, postings: made.Postings, accounts: len(made.Accounts), took: made.Took}
		if w.after, err = b.countEntries(ctx, both[i]); err != nil {
			return err
		}
	}
	if r.sizes, err = b.measureSizes(ctx, both[1], r.large.after); err != nil {
		return err
	}
	return b.askVolume(ctx, both[1])
}

func (b *bench) makeVolume(ctx context.Context, name string, entries int) (*volume, error) {
	database, err := b.rig.makeDatabase(ctx, name)
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	v := &volume{name: name, url: database, ids: ids.New(), rand: rand.New(rand.NewPCG(1, 1))}
	// It seals when it starts, and not while something else is measured.
	v.set = append(settings(database, address, ""), "CAUSEWAY_SEAL_EVERY=1h")
	credentials, err := founded(ctx, b.options, v.set)
	if err != nil {
		return nil, err
	}
	v.target = newTarget(address, credentials.ClientID, credentials.ClientSecret)
	if v.id, err = ident.ParsePlatform(credentials.PlatformID); err != nil {
		return nil, err
	}
	if v.made, err = history.Write(ctx, history.Options{URL: database, Platform: v.id, Entries: entries, Months: largeMonths, Seed: 1}); err != nil {
		return nil, err
	}
	// As autovacuum leaves them, which would come by in the middle of something else.
	if err := b.rig.meter.runIn(ctx, name, "VACUUM (ANALYZE)"); err != nil {
		return nil, err
	}
	if v.store, err = postgres.Open(ctx, postgres.Options{URL: database, MaxConnections: 1, Clock: wallClock{}, IDs: v.ids}); err != nil {
		return nil, err
	}
	if err := v.store.Pool().QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&v.backend); err != nil {
		return v, err
	}
	return v, nil
}

// countEntries counts what a database holds.
func (b *bench) countEntries(ctx context.Context, v *volume) (n int, err error) {
	err = b.rig.meter.within(ctx, v.name, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SELECT count(*) FROM ledger_entries").Scan(&n)
	})
	return n, err
}

// askVolume starts the service on the books and asks it.
func (b *bench) askVolume(ctx context.Context, v *volume) error {
	if err := v.store.MoveCheckpoints(ctx); err != nil {
		return err
	}
	if err := v.open(ctx, b.binary, b.rig.folder); err != nil {
		return err
	}
	if err := b.askForPast(ctx, v); err != nil {
		return fmt.Errorf("%w; the service of %s said last:\n%s", err, v.name, v.service.words())
	}
	return nil
}

// open starts the service, and waits until it has sealed all that was posted before.
func (v *volume) open(ctx context.Context, program, folder string) (err error) {
	if v.service, err = start("causeway serve of "+v.name, filepath.Join(folder, v.name+".log"), v.set, program, "serve"); err != nil {
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
	say("waiting until all of it is sealed")
	for {
		var log logStanding
		if err := c.call(v.target, "GET", "/ledger/log", nil, &log); err != nil {
			return err
		}
		if log.Sealed == log.Postings {
			return nil
		}
		if err := rest(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

func (v *volume) close() (err error) {
	if v.service != nil {
		err = v.service.stop()
	}
	if v.store != nil {
		v.store.Close()
	}
	return err
}
