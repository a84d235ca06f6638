package main

import (
	"context"
	"fmt"
	"maps"
	"time"

	"causeway/adapters/apiclient"
	"causeway/core/money"
)

// checkAfterwards waits for the last webhooks, and checks that the load has broken nothing.
func (b *bench) checkAfterwards(ctx context.Context) {
	logf("waiting for the last webhooks, checking signatures and ledger")
	b.awaitWebhooks(ctx)
	transactions := b.checkTransactions(ctx)
	b.checkAccountBalances(ctx)
	signatures := b.verifySamples(ctx)
	peak := max(peakMemory(b.service.process.PID()), b.earlierPeak)
	b.report.add(memoryAndStart, "Maximum memory of the service", peak, judge(goalBusyMemory, peak))
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
	b.report.add(afterwards, "Webhooks accepted", webhooks)
	b.report.add(afterwards, "`COMPLETED` webhooks received more than once (delivery is at least once)",
		events["OUTGOING_PAYMENT.COMPLETED"]+events["INCOMING_PAYMENT.COMPLETED"]-transactions)
	b.report.add(afterwards, "Webhooks whose two signatures were verified", signatures)
	b.report.add(afterwards, "Completed transactions", transactions)
	b.report.add(afterwards, "Accounts whose balance was checked", b.done[deposits])
	b.report.addText(afterwards, ledgerChecked.Output)
}

// awaitWebhooks waits until the receiver has accepted all webhooks and the service knows it.
func (b *bench) awaitWebhooks(ctx context.Context) {
	const timeout = 2 * time.Minute
	late := fmt.Errorf("not all webhooks were received within %s", timeout)
	drain, cancel := context.WithTimeoutCause(ctx, timeout, late)
	defer cancel()
	outgoing := b.done[ramps] + b.done[payouts] + b.done[transfersOut] + b.done[agentPayouts] + b.done[agentTransfersOut] +
		b.done[walletPayouts]
	want := map[string]int64{
		"OUTGOING_PAYMENT.PENDING":    outgoing + b.done[unpaidQuotes],
		"OUTGOING_PAYMENT.PROCESSING": outgoing,
		"OUTGOING_PAYMENT.COMPLETED":  outgoing,
		"INCOMING_PAYMENT.COMPLETED":  b.done[transfersIn] + b.done[deposits],
	}
	for {
		counts := queryIn[struct{ Waiting, Parked int64 }](ctx, b.meter, b.meter.database, `
			SELECT (SELECT count(*) FROM webhook_queue) + (SELECT count(*) FROM webhook_backlog),
			       (SELECT count(*) FROM webhook_attempts WHERE given_up)`)[0]
		if counts.Parked > 0 {
			failf("%d webhooks are not sent any more", counts.Parked)
		}
		received, all := b.receiver.eventCounts(), counts.Waiting == 0
		for event, n := range want {
			all = all && received[event] >= n
		}
		if failed := received["OUTGOING_PAYMENT.FAILED"] + received["INCOMING_PAYMENT.FAILED"]; failed > 0 {
			failf("%d payments failed", failed)
		}
		if all {
			return
		}
		if err := sleep(drain, 100*time.Millisecond); err != nil {
			failf("%w: %d are to be sent", err, counts.Waiting)
		}
	}
}

func (b *bench) countPostings(ctx context.Context) int64 {
	return b.count(ctx, "SELECT coalesce(sum(seq), 0)::bigint FROM ledger_clocks")
}

// countOwnPostings counts those of the platform, which an export has.
func (b *bench) countOwnPostings(ctx context.Context) int64 {
	return b.count(ctx, "SELECT seq FROM ledger_clocks WHERE platform_id = $1", b.platform.id.UUID())
}

func (b *bench) count(ctx context.Context, query string, args ...any) int64 {
	return queryIn[struct{ Count int64 }](ctx, b.meter, b.meter.database, query, args...)[0].Count
}

// checkTransactions compares the transactions of the service with those of the run, by their kind, or by their state
// if they are neither completed nor quotes that were not paid. It returns how many completed.
func (b *bench) checkTransactions(ctx context.Context) (completed int64) {
	want, got := maps.Clone(b.done), map[kind]int64{}
	maps.DeleteFunc(want, func(_ kind, n int64) bool { return n == 0 })
	for _, row := range queryIn[struct {
		Kind  kind
		Count int64
	}](ctx, b.meter, b.meter.database, `
		SELECT CASE WHEN status IN ('PENDING', 'EXPIRED') AND quote_id IS NOT NULL AND source_internal IS NULL THEN 'Unpaid quotes'
		            WHEN status <> 'COMPLETED' OR refund_status <> '' THEN status || ' ' || refund_status
		            WHEN agent_id IS NOT NULL THEN CASE WHEN quote_id IS NULL THEN 'Transfers out by agents' ELSE 'Payouts by agents' END
		            WHEN direction = 'OUTGOING' AND quote_id IS NULL THEN 'Transfers out'
		            WHEN direction = 'OUTGOING' AND source_internal IS NULL THEN 'Ramps'
		            WHEN direction = 'OUTGOING' AND starts_with(source_account, 'wallets/') THEN 'Payouts from embedded wallets'
		            WHEN direction = 'OUTGOING' THEN 'Payouts'
		            WHEN source_external IS NULL THEN 'Deposits'
		            ELSE 'Transfers in' END AS kind, count(*)
		FROM transactions GROUP BY kind`) {
		got[row.Kind] = row.Count
		if row.Kind != unpaidQuotes {
			completed += row.Count
		}
	}
	if !maps.Equal(got, want) {
		failf("the service has the transactions %v; want %v", got, want)
	}
	return completed
}

// checkAccountBalances compares every funded account with what was paid in and out.
func (b *bench) checkAccountBalances(ctx context.Context) {
	forEach(ctx, min(int(b.done[deposits]), b.customerCount), func(ctx context.Context, i int) {
		c := b.customers[i]
		if _, got := b.platform.account(ctx, c.id, money.USD); got != fundingAmount+c.netMoved.Load() {
			failf("the balance of %s is %d cents; want %d", c.accountID, got, fundingAmount+c.netMoved.Load())
		}
		if c.embeddedID == "" {
			return
		}
		if _, got := b.platform.account(ctx, c.id, money.USDB); got != fundingAmount-c.walletPaid.Load() {
			failf("the balance of the wallet %s is %d; want %d", c.embeddedID, got, fundingAmount-c.walletPaid.Load())
		}
	})
}

// verifySamples verifies the signatures of the webhooks that were kept.
func (b *bench) verifySamples(ctx context.Context) int {
	verifier := apiclient.NewVerifier(b.platform.Client)
	check(verifier.AddSecret(b.webhookSecret))
	if len(b.receiver.samples) == 0 {
		failf("no webhook was kept to verify its signatures")
	}
	for _, sample := range b.receiver.samples {
		if err := verifier.Verify(ctx, sample.Request.Header, sample.Body, sample.ReceivedAt); err != nil {
			failf("webhook %.80s: %w", sample.Body, err)
		}
	}
	return len(b.receiver.samples)
}
