package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"causeway/core/period"
	"causeway/ledger"
)

// pastMonth is a second service on a database of its own, with the ledger of a past month: the
// postings of the run are in the current month, which cannot be closed.
type pastMonth struct {
	*bench
	*service
	month        period.Month
	full         platform         // has the postings of the month
	closed, open platform         // have the month closed, and no month closed, to make postings to
	postings     []ledger.Posting // of the month
	statements   []statementFixture
	verifierKey  string        // of the log
	sealedIn     time.Duration // since the start of the service
}

const pastMonthDatabase = "past_month"

// measurePastMonth measures what needs the ledger of a past month.
func (b *bench) measurePastMonth(ctx context.Context) {
	logf("making the ledger of a past month, for statements of %d lines", b.statementLines)
	month := period.MonthOf(time.Now()).Previous()
	p := &pastMonth{bench: b, service: b.newLedgerService(ctx, pastMonthDatabase, 4), month: month}
	// The rows of the last platform are at the end of every index, where writing costs less:
	// it is not one of the two that are compared.
	p.closed, p.open, p.full = p.createPlatform(ctx), p.createPlatform(ctx), p.createPlatform(ctx)
	p.createPostings(ctx)
	b.meter.execIn(ctx, pastMonthDatabase, "ANALYZE")
	began := time.Now()
	p.start(ctx)
	p.verifierKey = p.full.awaitSealed(ctx)
	p.sealedIn = time.Since(began)
	b.runParts(ctx, []part{
		{"proof", p.measureProof},
		{"reconciliation", p.measureReconciliation},
		{"statements", p.measureStatements},
		{"exchange", p.measureExchange},
		{"months", p.measureMonthEnd},
	})
	check(p.stop())
}

// createPostings writes a week at each of two partners with their statements, and as many conversions.
func (p *pastMonth) createPostings(ctx context.Context) {
	header := func(effective time.Time, memo string) ledger.Header {
		return ledger.Header{ID: p.ids.New(time.Now()), Platform: p.full.id, Effective: effective, Memo: memo}
	}
	p.postings = conversions(2*p.statementLines, p.month.Start(), header)
	for _, rail := range []string{"RTP", "ACH"} {
		statement := newStatementFixture(rail, p.month.Start().AddDate(0, 0, 7), p.statementLines, header)
		p.statements, p.postings = append(p.statements, statement), append(p.postings, statement.postings...)
	}
	for batch := range slices.Chunk(p.postings, 2_000) {
		p.commit(ctx, batch)
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

// measureMonthEnd compares postings with and without a closed month, and then closes the month that has all postings.
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
	p.report.compareRates(monthEnd, 10, side("Postings/s, no month closed", p.open),
		side("Postings/s, a month closed", p.closed), "Closed to not closed, medians", goal{})
	p.closeMonth(ctx)
}

// closeMonth closes the month while postings are made one by one.
func (p *pastMonth) closeMonth(ctx context.Context) {
	p.commitNew(ctx, p.full, 1) // warm-up
	second, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	before := p.postWhile(ctx, second)
	closing, closed := context.WithCancel(ctx)
	actions, took, err := []string{"soft-close", "close"}, [2]time.Duration{}, error(nil)
	go func() {
		defer closed()
		err = try(func() {
			for i, action := range actions {
				took[i] = p.changePeriod(ctx, p.full, action)
			}
		})
	}()
	meanwhile := p.postWhile(ctx, closing)
	check(err)
	for i, action := range actions {
		p.report.add(monthEnd, "`POST /ledger/periods/{month}/"+action+"`", took[i])
	}
	p.report.add(monthEnd, "Postings in the ledger, all of that month", len(p.postings))
	p.report.add(monthEnd, "One posting before, "+latencyColumn+" and maximum",
		fmt.Sprintf("%s, %s", before, formatMillis(before.max)))
	p.report.add(monthEnd, "One posting meanwhile", fmt.Sprintf("%s, %s", meanwhile, formatMillis(meanwhile.max)))
}

// postWhile makes postings one by one until another context ends.
func (p *pastMonth) postWhile(ctx, during context.Context) latency {
	var durations []time.Duration
	for during.Err() == nil {
		began := time.Now()
		p.commitNew(ctx, p.full, 1)
		durations = append(durations, time.Since(began))
	}
	return latencyOf(durations)
}

func (p *pastMonth) changePeriod(ctx context.Context, of platform, action string) time.Duration {
	var body any // none, unless the first soft close has to be confirmed
	if action == "soft-close" {
		body = map[string]any{"confirmOpeningBalances": true}
	}
	began := time.Now()
	check(of.Call(ctx, "POST", "/ledger/periods/"+p.month.String()+"/"+action, body, nil))
	return time.Since(began)
}
