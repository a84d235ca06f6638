package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"causeway/adapters/apiclient"
)

// drainTimeout is how long the last webhooks may take.
const drainTimeout = 2 * time.Minute

// checkAfterLoad waits for the last webhooks, and checks that the load has broken nothing.
func (b *bench) checkAfterLoad(ctx context.Context) error {
	logf("waiting for the last webhooks, checking signatures and ledger")
	if err := b.awaitWebhooks(ctx); err != nil {
		return err
	}
	r := b.env.receiver
	if r.failed.Load() > 0 {
		return fmt.Errorf("%d payments failed", r.failed.Load())
	}
	completed, err := b.checkTransactions(ctx)
	if err != nil {
		return err
	}
	accounts, err := b.checkAccountBalances(ctx)
	if err != nil {
		return err
	}
	signatures, err := b.verifySamples(ctx)
	if err != nil {
		return err
	}
	peak, err := peakMemory(b.env.service.process.PID())
	if err != nil {
		return err
	}
	b.report.add(memoryAndStart, "Maximum memory of the service", max(peak, b.peakBeforeReset))
	postings, err := b.env.meter.countPostings(ctx)
	if err != nil {
		return err
	}
	check, err := b.env.service.command(ctx, "ledger", "check")
	if err != nil {
		return err
	}
	for line := range strings.Lines(strings.Trim(check.Output, "\n")) {
		b.report.code += strings.TrimRight(line, " \n") + "\n"
	}
	if b.includes("check") {
		b.report.add(checkSection, "Postings", postings)
		b.report.add(checkSection, "Time", check.Duration)
		b.report.add(checkSection, "Postings per second", formatRate(postings, check.Duration))
		b.report.add(checkSection, "Maximum memory of the command", byteSize(check.PeakMemory))
	}
	b.report.add(afterwards, "Webhooks accepted", r.pending.Load()+r.processing.Load()+r.completed.Load()+r.incoming.Load()+r.balances.Load()+r.other.Load())
	b.report.add(afterwards, "`COMPLETED` webhooks received more than once (delivery is at least once)", r.unclaimed.Load()-b.depositCount())
	b.report.add(afterwards, "Webhooks whose two signatures were verified", signatures)
	b.report.add(afterwards, "Completed transactions", completed)
	b.report.add(afterwards, "Accounts whose balance was checked", accounts)
	return nil
}

// awaitWebhooks waits until the receiver has accepted all webhooks and the service knows it.
func (b *bench) awaitWebhooks(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, drainTimeout, fmt.Errorf("not all webhooks were received within %s", drainTimeout))
	defer cancel()
	r := b.env.receiver
	for {
		waiting, parked, err := b.env.meter.countWebhooks(ctx)
		switch {
		case err != nil:
			return errors.Join(context.Cause(ctx), err)
		case parked > 0:
			return fmt.Errorf("%d webhooks are not sent any more", parked)
		case waiting == 0 && r.pending.Load() >= b.outgoingCount()+b.doneByKind[quotesOnly] && r.processing.Load() >= b.outgoingCount() &&
			r.completed.Load() >= b.outgoingCount() && r.incoming.Load() >= b.doneByKind[transfersIn]+b.depositCount():
			return nil
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// outgoingCount returns how many outgoing payments were made so far.
func (b *bench) outgoingCount() int64 {
	return b.doneByKind[ramps] + b.doneByKind[payouts] + b.doneByKind[transfersOut]
}

// depositCount returns how many accounts were funded.
func (b *bench) depositCount() int64 {
	if !b.needsFundedAccounts() {
		return 0
	}
	return int64(len(b.customers))
}

// checkTransactions compares the transactions of the service with those of the run, by
// kind, and returns how many completed.
func (b *bench) checkTransactions(ctx context.Context) (int64, error) {
	got, err := b.env.meter.countTransactions(ctx)
	if err != nil {
		return 0, err
	}
	want := map[string]int64{"ramps": b.doneByKind[ramps], "payouts": b.doneByKind[payouts], "transfers out": b.doneByKind[transfersOut],
		"transfers in": b.doneByKind[transfersIn], "deposits": b.depositCount(), "unpaid quotes": b.doneByKind[quotesOnly]}
	maps.DeleteFunc(want, func(_ string, n int64) bool { return n == 0 })
	if !maps.Equal(got, want) {
		return 0, fmt.Errorf("the service has the transactions %v; want %v", got, want)
	}
	var completed int64
	for kind, n := range got {
		if kind != "unpaid quotes" {
			completed += n
		}
	}
	return completed, nil
}

// checkAccountBalances compares every funded account with what was paid in and out, and
// returns how many there are.
func (b *bench) checkAccountBalances(ctx context.Context) (int, error) {
	if b.depositCount() == 0 {
		return 0, nil
	}
	accounts, err := b.env.target.usdAccounts(ctx)
	if err != nil {
		return 0, err
	}
	for i := range b.customers {
		c := &b.customers[i]
		if got, want := accounts[c.id].Balance.Amount, c.deposited.Load()+c.netMoved.Load(); got != want {
			return 0, fmt.Errorf("the balance of %s is %d cents; want %d", c.accountID, got, want)
		}
	}
	return len(b.customers), nil
}

// verifySamples verifies the signatures of the webhooks that were kept.
func (b *bench) verifySamples(ctx context.Context) (int, error) {
	verifier := apiclient.NewVerifier(b.env.target.api)
	samples := b.env.receiver.takenSamples()
	if len(samples) == 0 {
		return 0, errors.New("no webhook was kept to verify its signatures")
	}
	for _, sample := range samples {
		request, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(append(sample.head, "\r\n\r\n"...))))
		if err != nil {
			return 0, err
		}
		if err := verifier.Verify(ctx, request.Header, sample.body, sample.receivedAt); err != nil {
			return 0, fmt.Errorf("webhook %.80s: %w", sample.body, err)
		}
	}
	return len(samples), nil
}
