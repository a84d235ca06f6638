package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

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
	service, err := b.rig.makeDatabase(ctx, pastDatabase)
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	p := &past{url: service, folder: filepath.Join(b.rig.folder, "heads"), ids: ids.New(), month: period.MonthOf(time.Now()).Previous()}
	p.set = append(settings(service, address, ""), "CAUSEWAY_SEAL_EVERY=1h", "CAUSEWAY_HEADS="+p.folder)
	if _, err := output(ctx, p.set, b.binary, "migrate"); err != nil {
		return nil, err
	}
	for name, t := range map[string]*tenant{"Books": &p.books, "Ended": &p.ended, "Free": &p.free} {
		if *t, err = found(ctx, p.set, b.binary, name, address); err != nil {
			return nil, err
		}
	}
	p.store, err = postgres.Open(ctx, postgres.Options{URL: service, MaxConnections: 4, Clock: wallClock{}, IDs: p.ids})
	if err != nil {
		return nil, err
	}
	b.rig.past = p
	return p, p.fill(ctx, b.lines)
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

// lower takes the service down.
func (p *past) lower() (err error) {
	if p.service != nil {
		err = p.service.stop()
	}
	p.store.Close()
	return err
}

// found makes a platform.
func found(ctx context.Context, set []string, program, name, address string) (t tenant, err error) {
	made, err := output(ctx, set, program, "platform", "create", "--name", name, "--environment", "SANDBOX")
	if err != nil {
		return t, err
	}
	var credentials struct{ PlatformID, ClientID, ClientSecret string }
	if err := json.Unmarshal([]byte(made), &credentials); err != nil {
		return t, fmt.Errorf("read the credentials that platform create printed: %w", err)
	}
	t.target = newTarget(address, credentials.ClientID, credentials.ClientSecret)
	t.id, err = ident.ParsePlatform(credentials.PlatformID)
	return t, err
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

// makeDatabase makes a database beside the service's, of the same owner and behind the
// same socket.
func (r *rig) makeDatabase(ctx context.Context, name string) (string, error) {
	service, err := url.Parse(r.postgres.URL())
	if err != nil {
		return "", err
	}
	owner := pgx.Identifier{service.User.Username()}.Sanitize()
	if err := r.meter.run(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()+" OWNER "+owner); err != nil {
		return "", err
	}
	service.Path = "/" + name
	return service.String(), nil
}
