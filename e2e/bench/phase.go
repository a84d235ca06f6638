package main

import (
	"context"
	"fmt"
	"time"
)

// kind is what a piece of work is.
type kind int

const (
	ramps kind = iota
	quotesAlone
	payouts
	transfersOut
	transfersIn
	kinds
)

var works = [kinds]work{ramps: (*worker).ramp, quotesAlone: (*worker).quoteOnly, payouts: (*worker).payout,
	transfersOut: (*worker).transferOut, transfersIn: (*worker).transferIn}

// phase is one stretch of load.
type phase struct {
	name     string
	inFlight int // workers; for a fixed rate, the most that may wait at once
	rate     float64
	kind     kind
	few      int // use only that many customers; 0 is all
	warm     time.Duration
	measured time.Duration
}

// figures are what a phase shows.
type figures struct {
	inFlight           int
	perSecond          float64
	whole, quote       latency // from beginning to end, and of POST /quotes
	send, webhook      latency // of the request that moves the money, and from its answer to the COMPLETED webhook
	started, completed int     // in all, outside the measured time too
	cost               cost
}

// measure runs a phase: warm up, measure, let everything that began finish.
func (b *bench) measure(ctx context.Context, p phase) (figures, error) {
	// Every phase begins right after a checkpoint, so that none happens to pay for
	// what another one wrote.
	if err := b.rig.meter.run(ctx, "CHECKPOINT"); err != nil {
		return figures{}, err
	}
	stop := make(chan struct{})
	type outcome struct {
		all []moments
		err error
	}
	ended := make(chan outcome, 1)
	go func() {
		all, err := crew(ctx, p.inFlight, b.hire(p), p.pace(stop), works[p.kind])
		ended <- outcome{all, err}
	}()
	during := func(d time.Duration) error {
		select {
		case early := <-ended:
			ended <- early
			return fmt.Errorf("%s: %w", p.name, early.err)
		case <-time.After(d):
			return nil
		}
	}
	var from, to reading
	err := during(p.warm)
	if err == nil {
		from, err = b.rig.meter.read(ctx)
	}
	if err == nil {
		err = during(p.measured)
	}
	if err == nil {
		to, err = b.rig.meter.read(ctx)
	}
	close(stop)
	last := <-ended
	if err == nil && last.err != nil {
		err = fmt.Errorf("%s: %w", p.name, last.err)
	}
	if err != nil {
		return figures{}, err
	}
	b.made[p.kind] += int64(len(last.all))
	return figuresOf(p, last.all, from, to)
}

func (p phase) pace(stop <-chan struct{}) pace {
	if p.rate > 0 {
		return every(time.Duration(float64(time.Second)/p.rate), stop)
	}
	return asFast(stop)
}

func (b *bench) hire(p phase) func(context.Context, int) (*worker, error) {
	customers := b.customers
	if p.few > 0 {
		customers = customers[:min(p.few, len(customers))]
	}
	return func(ctx context.Context, number int) (*worker, error) {
		return newWorker(ctx, b.rig.target, b.rig.receiver, customers, number, b.keys)
	}
}

// figuresOf counts what ended in the measured time.
func figuresOf(p phase, all []moments, from, to reading) (figures, error) {
	f := figures{inFlight: p.inFlight, started: len(all)}
	var whole, quote, send, webhook []time.Duration
	for _, m := range all {
		if end := m.end(); end.Before(from.at) || !end.Before(to.at) {
			continue
		}
		f.completed++
		begin := m.due
		if !m.quoted.IsZero() {
			quote = append(quote, m.quoted.Sub(m.due))
			begin = m.quoted
		}
		if m.paid.IsZero() {
			continue
		}
		whole = append(whole, m.completed.Sub(m.due))
		send = append(send, m.paid.Sub(begin))
		// The webhook may overtake the answer; then nobody waited for it.
		webhook = append(webhook, max(0, m.completed.Sub(m.paid)))
	}
	if f.completed == 0 {
		return f, fmt.Errorf("%s: nothing was finished in %s", p.name, to.at.Sub(from.at))
	}
	f.perSecond = float64(f.completed) / to.at.Sub(from.at).Seconds()
	f.whole, f.quote, f.send, f.webhook = latencyOf(whole), latencyOf(quote), latencyOf(send), latencyOf(webhook)
	f.cost = costOf(from, to, f.completed)
	return f, nil
}
