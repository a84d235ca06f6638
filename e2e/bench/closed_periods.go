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

// closedPeriodEnv is a second service, on a database of its own, with the books of a month that is
// over: the run's own postings lie in the present month, which nobody can close, and no
// partner has a statement of them.
type closedPeriodEnv struct {
	databaseURL    string // of the database
	settings       []string
	checkpointsDir string // that heads go to
	store          *postgres.DB
	service        *process
	ids            *ids.Generator
	month          period.Month
	monthTenant    tenant      // that has the month
	closedTenant   tenant      // to post to, after it has closed the month
	openTenant     tenant      // to post to, with no month closed
	postingIDs     []uuid.UUID // the postings in the books
	statements     [2]statementFixture
	verifierKey    string // that signs the heads
}

// tenant is a platform and its way to the service.
type tenant struct {
	id ident.Platform
	target
}

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

const closedPeriodDatabase = "past"

// createClosedPeriodEnv makes the database, its platforms and the books of the month, and starts no
// service yet.
func (b *bench) createClosedPeriodEnv(ctx context.Context) (*closedPeriodEnv, error) {
	database, err := b.env.createDatabase(ctx, closedPeriodDatabase)
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	p := &closedPeriodEnv{databaseURL: database, checkpointsDir: filepath.Join(b.env.folder, "heads"), ids: ids.New(), month: period.MonthOf(time.Now()).Previous()}
	// It seals when it starts, and not while something else is measured.
	p.settings = append(serviceSettings(database, address, ""), "CAUSEWAY_SEAL_EVERY=1h", "CAUSEWAY_HEADS="+p.checkpointsDir)
	// The last has its rows at the end of every index, where writing costs less: it is none
	// of the two that are compared.
	for _, t := range []*tenant{&p.closedTenant, &p.openTenant, &p.monthTenant} {
		made, err := createPlatform(ctx, b.options, p.settings)
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
	if err := p.createPostings(ctx, b.statementLines); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

// maxPostingsPerCommit is how many postings one commit writes.
const maxPostingsPerCommit = 2_000

// createPostings writes the books of the month: a week at each of two partners with statements of
// so many lines, and beside them as many conversions as both have payments.
func (p *closedPeriodEnv) createPostings(ctx context.Context, lines int) error {
	header := func(at time.Time, memo string) ledger.Header {
		return ledger.Header{ID: p.ids.New(time.Now()), Platform: p.monthTenant.id, Effective: at, Memo: memo}
	}
	monday := p.month.Start().AddDate(0, 0, 7)
	p.statements = [2]statementFixture{newStatementFixture("RTP", monday, lines, header), newStatementFixture("ACH", monday, lines, header)}
	all := slices.Concat(p.statements[0].postings, p.statements[1].postings, conversions(2*lines, p.month.Start(), header))
	for batch := range slices.Chunk(all, maxPostingsPerCommit) {
		if err := p.commit(ctx, batch); err != nil {
			return err
		}
	}
	for _, posting := range all {
		p.postingIDs = append(p.postingIDs, posting.ID)
	}
	return nil
}

// serviceLog are the last that the service said.
func (p *closedPeriodEnv) serviceLog() string {
	if p.service == nil {
		return "the service of the past does not run"
	}
	return "the service of the past said last:\n" + p.service.lastLines()
}

// stop takes the service down.
func (p *closedPeriodEnv) stop() (err error) {
	if p.service != nil {
		err = p.service.stop()
	}
	p.store.Close()
	return err
}

// startService starts the service.
func (p *closedPeriodEnv) startService(ctx context.Context, program, folder string) (err error) {
	if p.service, err = startProcess("causeway serve of the past", filepath.Join(folder, "past.log"), p.settings, program, "serve"); err != nil {
		return err
	}
	return p.service.awaitReady(ctx, p.monthTenant.address)
}

// restartService starts the service anew, so that its memory is that of a service at rest.
func (p *closedPeriodEnv) restartService(ctx context.Context, program, folder string) error {
	service := p.service
	p.service = nil
	if err := service.stop(); err != nil {
		return err
	}
	return p.startService(ctx, program, folder)
}

// commit writes postings, as many in one commit as were given.
func (p *closedPeriodEnv) commit(ctx context.Context, postings []ledger.Posting) error {
	return p.store.Do(ctx, func(ctx context.Context, tx ports.Tx) error { return tx.Post(ctx, postings) })
}
