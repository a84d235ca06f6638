package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// finalChecks is what is found when the load is over.
type finalChecks struct {
	webhooks           int64 // accepted in all
	repeatedWebhooks   int64 // COMPLETED events accepted more than once
	completed          int64 // transactions that the service counts as completed, as many as there must be
	accountsChecked    int   // whose balance is what was paid in less what was paid out
	signaturesVerified int   // deliveries whose two signatures were verified
	ledgerReport       string
	postings           int64         // in the books
	ledgerCheck        commandResult // of the books; only where it is wanted
	peakMemory         int64         // memory of the service at its largest, in bytes
}

// drainTimeout is how long the webhooks may take that are still under way.
const drainTimeout = 2 * time.Minute

// checkAfterLoad waits until every webhook has come, and proves that the load has broken
// nothing. Books that do not balance or a webhook that is missing fail the run.
func (b *bench) checkAfterLoad(ctx context.Context) (finalChecks, error) {
	var c finalChecks
	if err := b.awaitWebhooks(ctx); err != nil {
		return c, err
	}
	r := b.env.receiver
	if r.failed.Load() > 0 {
		return c, fmt.Errorf("%d payments failed", r.failed.Load())
	}
	c.webhooks = r.pending.Load() + r.processing.Load() + r.completed.Load() + r.incoming.Load() + r.balances.Load() + r.other.Load()
	c.repeatedWebhooks = r.unclaimed.Load() - b.depositCount()
	var err error
	if c.completed, err = b.checkTransactions(ctx); err != nil {
		return c, err
	}
	if b.needsFundedAccounts() {
		if c.accountsChecked, err = b.checkAccountBalances(ctx); err != nil {
			return c, err
		}
	}
	if c.signaturesVerified, err = b.verifySamples(ctx); err != nil {
		return c, err
	}
	if c.peakMemory, err = memory(b.env.service.pid(), "VmHWM"); err != nil {
		return c, err
	}
	c.peakMemory = max(c.peakMemory, b.peakBeforeReset)
	if c.postings, err = b.env.meter.countPostings(ctx); err != nil {
		return c, err
	}
	check, err := runMeasured(ctx, []string{"DATABASE_URL=" + b.env.postgres.URL()}, b.binary, "ledger", "check")
	for line := range strings.Lines(check.output) {
		c.ledgerReport += strings.TrimRight(line, " \n") + "\n"
	}
	c.ledgerReport = strings.Trim(c.ledgerReport, "\n")
	if b.includesPart("check") {
		c.ledgerCheck = check
	}
	return c, err
}

// awaitWebhooks waits until the receiver has accepted all events and the service knows it.
func (b *bench) awaitWebhooks(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, drainTimeout, fmt.Errorf("not all webhooks came within %s after the load", drainTimeout))
	defer cancel()
	r := b.env.receiver
	for {
		waiting, parked, err := b.env.meter.countWebhooks(ctx)
		switch {
		case err != nil:
			return errors.Join(context.Cause(ctx), err)
		case parked > 0:
			return fmt.Errorf("%d webhooks were given up", parked)
		case waiting == 0 && r.pending.Load() >= b.outgoingCount()+b.doneByKind[quotesAlone] && r.processing.Load() >= b.outgoingCount() &&
			r.completed.Load() >= b.outgoingCount() && r.incoming.Load() >= b.doneByKind[transfersIn]+b.depositCount():
			return nil
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// outgoingCount is how many outgoing payments were made so far, each to its end.
func (b *bench) outgoingCount() int64 {
	return b.doneByKind[ramps] + b.doneByKind[payouts] + b.doneByKind[transfersOut]
}

// depositCount is how many accounts were funded.
func (b *bench) depositCount() int64 {
	if !b.needsFundedAccounts() {
		return 0
	}
	return int64(len(b.customers))
}

// checkTransactions holds what the service has in its books of transactions to what
// was asked of it, kind by kind, and tells how many completed.
func (b *bench) checkTransactions(ctx context.Context) (int64, error) {
	got, err := b.env.meter.countTransactions(ctx)
	if err != nil {
		return 0, err
	}
	want := transactionCounts{ramps: b.doneByKind[ramps], payouts: b.doneByKind[payouts], transfersOut: b.doneByKind[transfersOut], transfersIn: b.doneByKind[transfersIn],
		deposits: b.depositCount(), unpaidQuotes: b.doneByKind[quotesAlone]}
	if got != want {
		return 0, fmt.Errorf("the service has %+v; want %+v", got, want)
	}
	return got.ramps + got.payouts + got.transfersOut + got.transfersIn + got.deposits, nil
}

// progressSummary is where things stand, for whoever must find out what went wrong.
func (b *bench) progressSummary(ctx context.Context) string {
	r := b.env.receiver
	if r == nil {
		return "nothing was asked for yet"
	}
	waiting, parked, err := b.env.meter.countWebhooks(ctx)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("of %d quotes alone, %d outgoing payments and %d transfers in that were finished, %d PENDING, %d PROCESSING, %d COMPLETED, %d incoming, "+
		"%d FAILED, %d balance and %d other events were accepted; %d events wait to be sent, %d were given up",
		b.doneByKind[quotesAlone], b.outgoingCount(), b.doneByKind[transfersIn], r.pending.Load(), r.processing.Load(), r.completed.Load(), r.incoming.Load(),
		r.failed.Load(), r.balances.Load(), r.other.Load(), waiting, parked)
}

// verifySamples checks the signatures of the deliveries kept from the warm-up.
func (b *bench) verifySamples(ctx context.Context) (int, error) {
	c, err := dial(ctx, b.env.target.address)
	if err != nil {
		return 0, err
	}
	defer c.close()
	var document any
	if err := c.call(b.env.target, "GET", "/webhook-keys", nil, &document); err != nil {
		return 0, err
	}
	var k verificationKeys
	if err := k.addFrom(document); err != nil {
		return 0, fmt.Errorf("read the webhook keys: %w", err)
	}
	samples := b.env.receiver.takenSamples()
	if len(samples) == 0 {
		return 0, errors.New("no delivery was kept to verify its signatures")
	}
	for _, sample := range samples {
		if err := k.verify(sample); err != nil {
			return 0, err
		}
	}
	return len(samples), nil
}
