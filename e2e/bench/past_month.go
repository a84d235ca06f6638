package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"causeway/core/period"
	"causeway/ledger"
)

// pastMonth is a second service on a database of its own, with the ledger of a past month: the
// postings of the run are in the current month, which cannot be closed.
type pastMonth struct {
	*bench
	ledgerService
	checkpointsDir string
	month          period.Month
	full           platform // has the postings of the month
	closed, open   platform // have the month closed, and no month closed, to make postings to
	postingIDs     []uuid.UUID
	statements     []statementFixture
	verifierKey    string // of the log
}

const pastMonthDatabase = "past_month"

// measurePastMonth measures what needs the ledger of a past month.
func (b *bench) measurePastMonth(ctx context.Context) {
	logf("making the ledger of a past month, for statements of %d lines", b.statementLines)
	p := &pastMonth{bench: b, checkpointsDir: filepath.Join(b.folder, "checkpoints"), month: period.MonthOf(time.Now()).Previous()}
	p.ledgerService = b.newLedgerService(ctx, pastMonthDatabase, 4, "CAUSEWAY_CHECKPOINTS="+p.checkpointsDir)
	defer p.store.Close()
	// The rows of the last platform are at the end of every index, where writing costs less:
	// it is not one of the two that are compared.
	p.closed, p.open, p.full = p.createPlatform(ctx), p.createPlatform(ctx), p.createPlatform(ctx)
	p.createPostings(ctx)
	b.meter.execIn(ctx, pastMonthDatabase, "ANALYZE")
	p.whileRunning(func() {
		p.measureSealing(ctx)
		b.runParts(ctx, []part{
			{"proof", p.measureProof},
			{"reconciliation", p.measureReconciliation},
			{"statements", p.measureStatements},
			{"months", p.measureMonthEnd},
		})
	})
}

// createPostings writes a week at each of two partners with their statements, and as many
// conversions.
func (p *pastMonth) createPostings(ctx context.Context) {
	header := func(effective time.Time, memo string) ledger.Header {
		return ledger.Header{ID: p.ids.New(time.Now()), Platform: p.full.id, Effective: effective, Memo: memo}
	}
	all := conversions(2*p.statementLines, p.month.Start(), header)
	for _, rail := range []string{"RTP", "ACH"} {
		statement := newStatementFixture(rail, p.month.Start().AddDate(0, 0, 7), p.statementLines, header)
		p.statements, all = append(p.statements, statement), append(all, statement.postings...)
	}
	for batch := range slices.Chunk(all, 2_000) {
		p.commit(ctx, batch)
	}
	for _, posting := range all {
		p.postingIDs = append(p.postingIDs, posting.ID)
	}
}

// commitNew writes postings of the current month in one commit.
func (p *pastMonth) commitNew(ctx context.Context, to platform, n int) {
	now := time.Now()
	postings := make([]ledger.Posting, n)
	for i := range postings {
		header := ledger.Header{ID: p.ids.New(now), Platform: to.id, Effective: now}
		postings[i] = ledger.JITReceived(header, ledger.Rail("RTP"), usd(100))
	}
	p.commit(ctx, postings)
}

// measureMonthEnd compares postings with and without a closed month, and then closes the
// month that has all postings.
func (p *pastMonth) measureMonthEnd(ctx context.Context) {
	for _, to := range []platform{p.open, p.closed} {
		p.commitNew(ctx, to, 100)
	}
	p.changePeriod(ctx, p.closed, "soft-close")
	p.changePeriod(ctx, p.closed, "close")
	side := func(name string, to platform) ratedSide {
		return ratedSide{name, func() float64 {
			began, n := time.Now(), 0
			for ; time.Since(began) < 300*time.Millisecond; n += 100 {
				p.commitNew(ctx, to, 100)
			}
			return float64(n) / time.Since(began).Seconds()
		}}
	}
	p.report.compareRates(monthEnd, 10, side("Postings/s, no month closed", p.open), side("Postings/s, a month closed", p.closed),
		"Closed to not closed, medians", goal{})
	p.closeMonth(ctx)
}

// closeMonth closes the month while postings are made one by one.
func (p *pastMonth) closeMonth(ctx context.Context) {
	p.commitNew(ctx, p.full, 1) // warm-up
	var before, meanwhile []time.Duration
	var closing, closed atomic.Bool
	ended := make(chan error, 1)
	go func() {
		ended <- try(func() {
			for !closed.Load() {
				began, durations := time.Now(), &before
				p.commitNew(ctx, p.full, 1)
				if closing.Load() {
					durations = &meanwhile
				}
				*durations = append(*durations, time.Since(began))
			}
		})
	}()
	err := try(func() {
		check(sleep(ctx, time.Second))
		closing.Store(true)
		for _, action := range []string{"soft-close", "close"} {
			p.report.add(monthEnd, "`POST /ledger/periods/{month}/"+action+"`", p.changePeriod(ctx, p.full, action))
		}
	})
	closed.Store(true)
	check(err, <-ended)
	first, second := latencyOf(before), latencyOf(meanwhile)
	p.report.add(monthEnd, "Postings in the ledger, all of that month", len(p.postingIDs))
	p.report.add(monthEnd, "One posting before, "+latencyColumn+" and maximum", fmt.Sprintf("%s, %s", first, formatMillis(first.max)))
	p.report.add(monthEnd, "One posting meanwhile", fmt.Sprintf("%s, %s", second, formatMillis(second.max)))
}

func (p *pastMonth) changePeriod(ctx context.Context, of platform, action string) time.Duration {
	began := time.Now()
	of.call(ctx, "POST", "/ledger/periods/"+p.month.String()+"/"+action, nil, nil)
	return time.Since(began)
}
