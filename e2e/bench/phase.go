package main

import (
	"context"
	"fmt"
	"time"
)

// phase is one stretch of load.
type phase struct {
	name     string
	inFlight int // workers; for a fixed rate, the most that may wait at once
	rate     float64
	quotes   bool // quotes alone instead of ramps
	few      int  // use only that many customers; 0 is all
	warm     time.Duration
	measured time.Duration
}

// figures are what a phase shows.
type figures struct {
	inFlight           int
	perSecond          float64
	ramp, quote        latency
	send, webhook      latency // of POST /sandbox/send, and from its answer to the COMPLETED webhook
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
		all, err := crew(ctx, p.inFlight, b.hire(p), p.pace(stop), p.work())
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
	b.quotes += len(last.all)
	if !p.quotes {
		b.ramps += len(last.all)
	}
	return figuresOf(p, last.all, from, to)
}

func (p phase) pace(stop <-chan struct{}) pace {
	if p.rate > 0 {
		return every(time.Duration(float64(time.Second)/p.rate), stop)
	}
	return asFast(stop)
}

func (p phase) work() work {
	if p.quotes {
		return (*worker).quoteOnly
	}
	return (*worker).ramp
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
	var ramp, quote, send, webhook []time.Duration
	for _, m := range all {
		if end := m.end(); end.Before(from.at) || !end.Before(to.at) {
			continue
		}
		quote = append(quote, m.quoted.Sub(m.due))
		if p.quotes {
			continue
		}
		ramp = append(ramp, m.completed.Sub(m.due))
		send = append(send, m.paid.Sub(m.quoted))
		// The webhook may overtake the answer; then nobody waited for it.
		webhook = append(webhook, max(0, m.completed.Sub(m.paid)))
	}
	if len(quote) == 0 {
		return f, fmt.Errorf("%s: nothing was finished in %s", p.name, to.at.Sub(from.at))
	}
	f.completed = len(quote)
	f.perSecond = float64(len(quote)) / to.at.Sub(from.at).Seconds()
	f.ramp, f.quote, f.send, f.webhook = latencyOf(ramp), latencyOf(quote), latencyOf(send), latencyOf(webhook)
	f.cost = costOf(from, to, len(quote))
	return f, nil
}
