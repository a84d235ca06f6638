package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// closing is what is found when the load is over.
type closing struct {
	webhooks   int64 // accepted in all
	repeated   int64 // COMPLETED events accepted more than once
	completed  int64 // transactions that the service counts as completed, as many as there must be
	accounts   int   // whose balance is what was paid in less what was paid out
	signatures int   // deliveries whose two signatures were verified
	books      string
	postings   int64 // in the books
	check      task  // of the books; only where it is wanted
	peak       int64 // memory of the service at its largest, in bytes
}

// drained is how long the webhooks may take that are still under way.
const drained = 2 * time.Minute

// close waits until every webhook has come, and proves that the load has broken
// nothing. Books that do not balance or a webhook that is missing fail the run.
func (b *bench) close(ctx context.Context) (closing, error) {
	var c closing
	if err := b.drain(ctx); err != nil {
		return c, err
	}
	r := b.rig.receiver
	if r.failed.Load() > 0 {
		return c, fmt.Errorf("%d payments failed", r.failed.Load())
	}
	c.webhooks = r.pending.Load() + r.processing.Load() + r.completed.Load() + r.incoming.Load() + r.balances.Load() + r.other.Load()
	c.repeated = r.unclaimed.Load() - b.deposits()
	var err error
	if c.completed, err = b.checkTransactions(ctx); err != nil {
		return c, err
	}
	if b.needsFunds() {
		if c.accounts, err = b.checkFunds(ctx); err != nil {
			return c, err
		}
	}
	if c.signatures, err = b.verifySamples(ctx); err != nil {
		return c, err
	}
	if c.peak, err = memory(b.rig.service.pid(), "VmHWM"); err != nil {
		return c, err
	}
	c.peak = max(c.peak, b.largest)
	if c.postings, err = b.rig.meter.postings(ctx); err != nil {
		return c, err
	}
	check, err := perform(ctx, []string{"DATABASE_URL=" + b.rig.postgres.URL()}, b.binary, "ledger", "check")
	for line := range strings.Lines(check.said) {
		c.books += strings.TrimRight(line, " \n") + "\n"
	}
	c.books = strings.Trim(c.books, "\n")
	if b.wants("check") {
		c.check = check
	}
	return c, err
}

// drain waits until the receiver has accepted all events and the service knows it.
func (b *bench) drain(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, drained, fmt.Errorf("not all webhooks came within %s after the load", drained))
	defer cancel()
	r := b.rig.receiver
	for {
		waiting, parked, err := b.rig.meter.webhooks(ctx)
		switch {
		case err != nil:
			return errors.Join(context.Cause(ctx), err)
		case parked > 0:
			return fmt.Errorf("%d webhooks were given up", parked)
		case waiting == 0 && r.pending.Load() >= b.outgoing()+b.made[quotesAlone] && r.processing.Load() >= b.outgoing() &&
			r.completed.Load() >= b.outgoing() && r.incoming.Load() >= b.made[transfersIn]+b.deposits():
			return nil
		}
		if err := rest(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// outgoing is how many outgoing payments were made so far, each to its end.
func (b *bench) outgoing() int64 { return b.made[ramps] + b.made[payouts] + b.made[transfersOut] }

// deposits is how many accounts were funded.
func (b *bench) deposits() int64 {
	if !b.needsFunds() {
		return 0
	}
	return int64(len(b.customers))
}

// checkTransactions holds what the service has in its books of transactions to what
// was asked of it, kind by kind, and tells how many completed.
func (b *bench) checkTransactions(ctx context.Context) (int64, error) {
	got, err := b.rig.meter.transactions(ctx)
	if err != nil {
		return 0, err
	}
	want := transactions{ramps: b.made[ramps], payouts: b.made[payouts], out: b.made[transfersOut], in: b.made[transfersIn],
		deposits: b.deposits(), unpaid: b.made[quotesAlone]}
	if got != want {
		return 0, fmt.Errorf("the service has %+v; want %+v", got, want)
	}
	return got.ramps + got.payouts + got.out + got.in + got.deposits, nil
}

// situation is where things stand, for whoever must find out what went wrong.
func (b *bench) situation(ctx context.Context) string {
	r := b.rig.receiver
	if r == nil {
		return "nothing was asked for yet"
	}
	waiting, parked, err := b.rig.meter.webhooks(ctx)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("of %d quotes alone, %d outgoing payments and %d transfers in that were finished, %d PENDING, %d PROCESSING, %d COMPLETED, %d incoming, "+
		"%d FAILED, %d balance and %d other events were accepted; %d events wait to be sent, %d were given up",
		b.made[quotesAlone], b.outgoing(), b.made[transfersIn], r.pending.Load(), r.processing.Load(), r.completed.Load(), r.incoming.Load(),
		r.failed.Load(), r.balances.Load(), r.other.Load(), waiting, parked)
}

// verifySamples checks the signatures of the deliveries kept from the warm-up.
func (b *bench) verifySamples(ctx context.Context) (int, error) {
	c, err := dial(ctx, b.rig.target.address)
	if err != nil {
		return 0, err
	}
	defer c.close()
	var document any
	if err := c.call(b.rig.target, "GET", "/webhook-keys", nil, &document); err != nil {
		return 0, err
	}
	var k keys
	if err := k.collect(document); err != nil {
		return 0, fmt.Errorf("read the webhook keys: %w", err)
	}
	samples := b.rig.receiver.kept()
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
