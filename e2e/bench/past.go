package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// past is a second service, on a database of its own, with the books of a month that is
// over: the run's own postings lie in the present month, which nobody can close, and no
// partner has a statement of them.
type past struct {
	url     string // of the database
	set     []string
	folder  string // that heads go to
	store   *postgres.DB
	service *process
	ids     *ids.Generator
	month   period.Month
	books   tenant      // that has the month
	ended   tenant      // to post to, after it has closed the month
	free    tenant      // to post to, with no month closed
	made    []uuid.UUID // the postings in the books
	weeks   [2]week
	key     string // that signs the heads
}

// tenant is a platform and its way to the service.
type tenant struct {
	id ident.Platform
	target
}

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

const pastDatabase = "past"

// makePast makes the database, its platforms and the books of the month, and starts no
// service yet.
func (b *bench) makePast(ctx context.Context) (*past, error) {
	database, err := b.rig.makeDatabase(ctx, pastDatabase)
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	p := &past{url: database, folder: filepath.Join(b.rig.folder, "heads"), ids: ids.New(), month: period.MonthOf(time.Now()).Previous()}
	// It seals when it starts, and not while something else is measured.
	p.set = append(settings(database, address, ""), "CAUSEWAY_SEAL_EVERY=1h", "CAUSEWAY_HEADS="+p.folder)
	// The last has its rows at the end of every index, where writing costs less: it is none
	// of the two that are compared.
	for _, t := range []*tenant{&p.ended, &p.free, &p.books} {
		made, err := founded(ctx, b.options, p.set)
		if err != nil {
			return nil, err
		}
		t.target = newTarget(address, made.ClientID, made.ClientSecret)
		if t.id, err = ident.ParsePlatform(made.PlatformID); err != nil {
			return nil, err
		}
	}
	p.store, err = postgres.Open(ctx, postgres.Options{URL: database, MaxConnections: 4, Clock: wallClock{}, IDs: p.ids})
	if err != nil {
		return nil, err
	}
	if err := p.fill(ctx, b.lines); err != nil {
		return nil, errors.Join(err, p.lower())
	}
	return p, nil
}

// atOnce is how many postings one commit writes.
const atOnce = 2_000

// fill writes the books of the month: a week at each of two partners with statements of
// so many lines, and beside them as many conversions as both have payments.
func (p *past) fill(ctx context.Context, lines int) error {
	header := func(at time.Time, memo string) ledger.Header {
		return ledger.Header{ID: p.ids.New(time.Now()), Platform: p.books.id, Effective: at, Memo: memo}
	}
	monday := p.month.Start().AddDate(0, 0, 7)
	p.weeks = [2]week{makeWeek("RTP", monday, lines, header), makeWeek("ACH", monday, lines, header)}
	all := slices.Concat(p.weeks[0].postings, p.weeks[1].postings, conversions(2*lines, p.month.Start(), header))
	for batch := range slices.Chunk(all, atOnce) {
		if err := p.post(ctx, batch); err != nil {
			return err
		}
	}
	for _, posting := range all {
		p.made = append(p.made, posting.ID)
	}
	return nil
}

// words are the last that the service said.
func (p *past) words() string {
	if p.service == nil {
		return "the service of the past does not run"
	}
	return "the service of the past said last:\n" + p.service.words()
}

// lower takes the service down.
func (p *past) lower() (err error) {
	if p.service != nil {
		err = p.service.stop()
	}
	p.store.Close()
	return err
}

// open starts the service.
func (p *past) open(ctx context.Context, program, folder string) (err error) {
	if p.service, err = start("causeway serve of the past", filepath.Join(folder, "past.log"), p.set, program, "serve"); err != nil {
		return err
	}
	return p.service.awaitReady(ctx, p.books.address)
}

// reopen starts the service anew, so that its memory is that of a service at rest.
func (p *past) reopen(ctx context.Context, program, folder string) error {
	service := p.service
	p.service = nil
	if err := service.stop(); err != nil {
		return err
	}
	return p.open(ctx, program, folder)
}

// post writes postings, as many in one commit as were given.
func (p *past) post(ctx context.Context, postings []ledger.Posting) error {
	return p.store.Do(ctx, func(ctx context.Context, tx ports.Tx) error { return tx.Post(ctx, postings) })
}
