package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
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
	return runParts(ctx, []part{
		{p.includes("proof"), p.measureProof},
		{p.includes("reconciliation"), p.measureReconciliation},
		{p.includes("statements"), p.measureStatements},
		{p.includes("months"), p.measureMonthEnd},
	})
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

// measureMonthEnd compares postings with and without a closed month, and then closes the
// month that has all postings.
func (p *closedPeriodEnv) measureMonthEnd(ctx context.Context) error {
	for _, t := range []tenant{p.openTenant, p.closedTenant} {
		if err := p.commitNew(ctx, t, 100); err != nil {
			return err
		}
	}
	for _, action := range []string{"soft-close", "close"} {
		if _, err := p.changePeriod(ctx, p.closedTenant, action); err != nil {
			return err
		}
	}
	rate := func(t tenant) func() (float64, error) {
		return func() (float64, error) {
			began, n := time.Now(), 0
			for ; time.Since(began) < 300*time.Millisecond; n += 100 {
				if err := p.commitNew(ctx, t, 100); err != nil {
					return 0, err
				}
			}
			return float64(n) / time.Since(began).Seconds(), nil
		}
	}
	rates, err := alternate(10, rate(p.openTenant), rate(p.closedTenant))
	if err != nil {
		return err
	}
	if err := p.closeMonth(ctx); err != nil {
		return err
	}
	p.report.add(monthEnd, "Postings/s, no month closed", formatSpread(rates[0]))
	p.report.add(monthEnd, "Postings/s, a month closed", formatSpread(rates[1]))
	p.report.add(monthEnd, "Closed to not closed, medians", fmt.Sprintf("%.2f", median(rates[1])/median(rates[0])))
	return nil
}

// closeMonth closes the month while postings are made one by one.
func (p *closedPeriodEnv) closeMonth(ctx context.Context) error {
	if err := p.commitNew(ctx, p.monthTenant, 1); err != nil { // warm-up
		return err
	}
	var durations [2][]time.Duration // before, and while it is closed
	var closing, closed atomic.Bool
	ended := make(chan error, 1)
	go func() {
		var err error
		for err == nil && !closed.Load() {
			began, during := time.Now(), 0
			err = p.commitNew(ctx, p.monthTenant, 1)
			if closing.Load() {
				during = 1
			}
			durations[during] = append(durations[during], time.Since(began))
		}
		ended <- err
	}()
	err := sleep(ctx, time.Second)
	closing.Store(true)
	var took [2]time.Duration
	for i, action := range []string{"soft-close", "close"} {
		if err == nil {
			took[i], err = p.changePeriod(ctx, p.monthTenant, action)
		}
	}
	closed.Store(true)
	if err := errors.Join(err, <-ended); err != nil {
		return err
	}
	before, during := latencyOf(durations[0]), latencyOf(durations[1])
	p.report.add(monthEnd, "`POST /ledger/periods/{month}/soft-close`", took[0])
	p.report.add(monthEnd, "`POST /ledger/periods/{month}/close`", took[1])
	p.report.add(monthEnd, "Postings in the ledger, all of that month", len(p.postingIDs))
	p.report.add(monthEnd, "One posting before, "+latencyColumn+" and maximum", before.String()+", "+formatMillis(before.max))
	p.report.add(monthEnd, "One posting meanwhile", during.String()+", "+formatMillis(during.max))
	logf("soft-close %s, close %s; postings meanwhile %s ms", formatDuration(took[0]), formatDuration(took[1]), during)
	return nil
}

func (p *closedPeriodEnv) changePeriod(ctx context.Context, t tenant, action string) (time.Duration, error) {
	began := time.Now()
	err := t.api.Call(ctx, "POST", "/ledger/periods/"+p.month.String()+"/"+action, nil, nil)
	return time.Since(began), err
}
