package main

import (
	"context"
	"fmt"
	"maps"
	"time"

	"causeway/adapters/apiclient"
)

// drainTimeout is how long the last webhooks may take.
const drainTimeout = 2 * time.Minute

const (
	outgoingCompleted = "OUTGOING_PAYMENT.COMPLETED"
	incomingCompleted = "INCOMING_PAYMENT.COMPLETED"
)

// checkAfterwards waits for the last webhooks, and checks that the load has broken nothing.
func (b *bench) checkAfterwards(ctx context.Context) {
	logf("waiting for the last webhooks, checking signatures and ledger")
	b.awaitWebhooks(ctx)
	transactions := b.checkTransactions(ctx)
	accounts := b.checkAccountBalances(ctx)
	signatures := b.verifySamples(ctx)
	b.report.add(memoryAndStart, "Maximum memory of the service", max(peakMemory(b.service.process.PID()), b.earlierPeak))
	postings := b.countPostings(ctx)
	ledgerChecked := b.service.command(ctx, "ledger", "check")
	if b.includes("check") {
		b.report.add(ledgerCheck, "Postings", postings)
		b.report.add(ledgerCheck, "Time", ledgerChecked.Duration)
		b.report.add(ledgerCheck, "Postings per second", formatRate(postings, ledgerChecked.Duration))
		b.report.add(ledgerCheck, "Maximum memory of the command", byteSize(ledgerChecked.PeakMemory))
	}
	events, webhooks := b.receiver.eventCounts(), int64(0)
	for _, n := range events {
		webhooks += n
	}
	payments := b.outgoingCount() + b.done[transfersIn] + b.depositCount()
	b.report.add(afterwards, "Webhooks accepted", webhooks)
	b.report.add(afterwards, "`COMPLETED` webhooks received more than once (delivery is at least once)",
		events[outgoingCompleted]+events[incomingCompleted]-payments)
	b.report.add(afterwards, "Webhooks whose two signatures were verified", signatures)
	b.report.add(afterwards, "Completed transactions", transactions)
	b.report.add(afterwards, "Accounts whose balance was checked", accounts)
	b.report.addText(afterwards, ledgerChecked.Output)
}

// outgoingCount returns how many outgoing payments were made so far.
func (b *bench) outgoingCount() int64 { return b.done[ramps] + b.done[payouts] + b.done[transfersOut] }

// depositCount returns how many accounts were funded.
func (b *bench) depositCount() int64 {
	if !b.needsFundedAccounts() {
		return 0
	}
	return int64(len(b.customers))
}

// awaitWebhooks waits until the receiver has accepted all webhooks and the service knows it.
func (b *bench) awaitWebhooks(ctx context.Context) {
	ctx, cancel := context.WithTimeoutCause(ctx, drainTimeout, fmt.Errorf("not all webhooks were received within %s", drainTimeout))
	defer cancel()
	want := map[string]int64{
		"OUTGOING_PAYMENT.PENDING":    b.outgoingCount() + b.done[unpaidQuotes],
		"OUTGOING_PAYMENT.PROCESSING": b.outgoingCount(),
		outgoingCompleted:             b.outgoingCount(),
		incomingCompleted:             b.done[transfersIn] + b.depositCount(),
	}
	for {
		var waiting, parked int64
		if err := try(func() { waiting, parked = b.countWebhooks(ctx) }); err != nil {
			check(context.Cause(ctx), err)
		}
		if parked > 0 {
			failf("%d webhooks are not sent any more", parked)
		}
		received, all := b.receiver.eventCounts(), waiting == 0
		for event, n := range want {
			all = all && received[event] >= n
		}
		if failed := received["OUTGOING_PAYMENT.FAILED"] + received["INCOMING_PAYMENT.FAILED"]; failed > 0 {
			failf("%d payments failed", failed)
		}
		if all {
			return
		}
		check(sleep(ctx, 100*time.Millisecond))
	}
}

// countWebhooks counts the events to be sent, and those that will not be sent any more.
func (b *bench) countWebhooks(ctx context.Context) (waiting, parked int64) {
	counts := queryIn[struct{ Waiting, Parked int64 }](ctx, b.meter, b.meter.database, `
		SELECT (SELECT count(*) FROM webhook_queue) + (SELECT count(*) FROM webhook_backlog),
		       (SELECT count(*) FROM webhook_attempts WHERE given_up)`)
	return counts[0].Waiting, counts[0].Parked
}

func (b *bench) countPostings(ctx context.Context) int64 {
	const query = "SELECT coalesce(sum(seq), 0)::bigint FROM ledger_clocks"
	return queryIn[struct{ Count int64 }](ctx, b.meter, b.meter.database, query)[0].Count
}

const deposits kind = "Deposits"

// countTransactions counts the transactions by their kind, or by their state if they are neither
// completed nor quotes that were not paid.
func (b *bench) countTransactions(ctx context.Context) map[kind]int64 {
	counts := map[kind]int64{}
	for _, row := range queryIn[struct {
		Kind  kind
		Count int64
	}](ctx, b.meter, b.meter.database, `
		SELECT CASE WHEN status IN ('PENDING', 'EXPIRED') AND quote_id IS NOT NULL AND source_internal IS NULL THEN 'Unpaid quotes'
		            WHEN status <> 'COMPLETED' OR refund_status <> '' THEN status || ' ' || refund_status
		            WHEN direction = 'OUTGOING' AND quote_id IS NULL THEN 'Transfers out'
		            WHEN direction = 'OUTGOING' AND source_internal IS NULL THEN 'Ramps'
		            WHEN direction = 'OUTGOING' THEN 'Payouts'
		            WHEN source_external IS NULL THEN 'Deposits'
		            ELSE 'Transfers in' END AS kind, count(*)
		FROM transactions GROUP BY kind`) {
		counts[row.Kind] = row.Count
	}
	return counts
}

// checkTransactions compares the transactions of the service with those of the run, by
// kind, and returns how many completed.
func (b *bench) checkTransactions(ctx context.Context) (completed int64) {
	want := maps.Clone(b.done)
	want[deposits] = b.depositCount()
	maps.DeleteFunc(want, func(_ kind, n int64) bool { return n == 0 })
	got := b.countTransactions(ctx)
	if !maps.Equal(got, want) {
		failf("the service has the transactions %v; want %v", got, want)
	}
	for _, n := range got {
		completed += n
	}
	return completed - got[unpaidQuotes]
}

// checkAccountBalances compares every funded account with what was paid in and out, and
// returns how many there are.
func (b *bench) checkAccountBalances(ctx context.Context) int64 {
	if b.depositCount() == 0 {
		return 0
	}
	accounts := b.platform.usdAccounts(ctx)
	for i := range b.customers {
		c := &b.customers[i]
		if got, want := accounts[c.id].Balance.Amount, fundingAmount+c.netMoved.Load(); got != want {
			failf("the balance of %s is %d cents; want %d", c.accountID, got, want)
		}
	}
	return b.depositCount()
}

// verifySamples verifies the signatures of the webhooks that were kept.
func (b *bench) verifySamples(ctx context.Context) int {
	verifier := apiclient.NewVerifier(b.platform.Client)
	check(verifier.AddSecret(b.webhookSecret))
	if len(b.receiver.samples) == 0 {
		failf("no webhook was kept to verify its signatures")
	}
	for _, sample := range b.receiver.samples {
		if err := verifier.Verify(ctx, sample.header, sample.body, sample.receivedAt); err != nil {
			failf("webhook %.80s: %w", sample.body, err)
		}
	}
	return len(b.receiver.samples)
}
