package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/period"
	"causeway/ledger"
)

// closedPeriodEnv is a second service on a database of its own, with the ledger of a past
// month: the postings of the run are in the current month, which cannot be closed.
type closedPeriodEnv struct {
	*ledgerService
	*bench
	checkpointsDir string
	month          period.Month
	monthTenant    tenant // has the postings of the month
	closedTenant   tenant // has the month closed, to make postings to
	openTenant     tenant // has no month closed, to make postings to
	postingIDs     []uuid.UUID
	statements     [2]statementFixture
	verifierKey    string
}

const closedPeriodDatabase = "closed_periods"

// measureClosedPeriods measures what needs the ledger of a past month.
func (b *bench) measureClosedPeriods(ctx context.Context) error {
	logf("making the ledger of a past month, for statements of %d lines", b.statementLines)
	p, err := b.createClosedPeriodEnv(ctx)
	if err != nil {
		return err
	}
	defer p.store.Close()
	if err := errors.Join(p.measureParts(ctx), p.stop()); err != nil {
		return fmt.Errorf("%w\n%s", err, p.lastOutput())
	}
	return nil
}

func (p *closedPeriodEnv) measureParts(ctx context.Context) error {
	if err := p.env.meter.execIn(ctx, closedPeriodDatabase, "ANALYZE"); err != nil {
		return err
	}
	if err := p.measureSealing(ctx); err != nil {
		return err
	}
	for _, part := range []struct {
		name    string
		measure func(context.Context) error
	}{{"proof", p.measureProof}, {"reconciliation", p.measureReconciliation}, {"statements", p.measureStatements}, {"months", p.measureMonthEnd}} {
		if !p.includes(part.name) {
			continue
		}
		if err := part.measure(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

// createClosedPeriodEnv creates the database, its platforms and the postings of the month.
func (b *bench) createClosedPeriodEnv(ctx context.Context) (*closedPeriodEnv, error) {
	p := &closedPeriodEnv{bench: b, checkpointsDir: filepath.Join(b.env.folder, "checkpoints"), month: period.MonthOf(time.Now()).Previous()}
	var err error
	if p.ledgerService, err = b.newLedgerService(ctx, closedPeriodDatabase, 4, "CAUSEWAY_CHECKPOINTS="+p.checkpointsDir); err != nil {
		return nil, err
	}
	// The rows of the last platform are at the end of every index, where writing costs less:
	// it is not one of the two that are compared.
	for _, t := range []*tenant{&p.closedTenant, &p.openTenant, &p.monthTenant} {
		if *t, err = p.createPlatform(ctx); err != nil {
			return nil, err
		}
	}
	return p, p.createPostings(ctx, b.statementLines)
}

// createPostings writes a week at each of two partners with statements of so many lines, and
// as many conversions.
func (p *closedPeriodEnv) createPostings(ctx context.Context, lines int) error {
	header := func(effective time.Time, memo string) ledger.Header {
		return ledger.Header{ID: p.ids.New(time.Now()), Platform: p.monthTenant.id, Effective: effective, Memo: memo}
	}
	monday := p.month.Start().AddDate(0, 0, 7)
	p.statements = [2]statementFixture{newStatementFixture("RTP", monday, lines, header), newStatementFixture("ACH", monday, lines, header)}
	all := slices.Concat(p.statements[0].postings, p.statements[1].postings, conversions(2*lines, p.month.Start(), header))
	for batch := range slices.Chunk(all, 2_000) {
		if err := p.commit(ctx, batch); err != nil {
			return err
		}
	}
	for _, posting := range all {
		p.postingIDs = append(p.postingIDs, posting.ID)
	}
	return nil
}

// commitNew writes postings of the current month in one commit.
func (p *closedPeriodEnv) commitNew(ctx context.Context, t tenant, n int) error {
	now := time.Now()
	postings := make([]ledger.Posting, n)
	for i := range postings {
		postings[i] = ledger.JITReceived(ledger.Header{ID: p.ids.New(now), Platform: t.id, Effective: now}, ledger.Rail("RTP"), usd(100))
	}
	return p.commit(ctx, postings)
}
