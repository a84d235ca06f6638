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
	kindCount
)

var workByKind = [kindCount]workFunc{ramps: (*worker).ramp, quotesAlone: (*worker).quoteOnly, payouts: (*worker).payout,
	transfersOut: (*worker).transferOut, transfersIn: (*worker).transferIn}

// phase is one stretch of load.
type phase struct {
	name         string
	inFlight     int // workers; for a fixed rate, the most that may wait at once
	rate         float64
	kind         kind
	maxCustomers int // use only that many customers; 0 is all
	warmUp       time.Duration
	duration     time.Duration
}

// measurement are what a phase shows.
type measurement struct {
	inFlight           int
	perSecond          float64
	total, quote       latency // from beginning to end, and of POST /quotes
	send, webhook      latency // of the request that moves the money, and from its answer to the COMPLETED webhook
	started, completed int     // in all, outside the measured time too
	cost               cost
}

// measure runs a phase: warm up, measure, let everything that began finish.
func (b *bench) measure(ctx context.Context, p phase) (measurement, error) {
	// Every phase begins right after a checkpoint, so that none happens to pay for
	// what another one wrote.
	if err := b.env.meter.exec(ctx, "CHECKPOINT"); err != nil {
		return measurement{}, err
	}
	stop := make(chan struct{})
	type outcome struct {
		all []stepTimes
		err error
	}
	ended := make(chan outcome, 1)
	go func() {
		all, err := runWorkers(ctx, p.inFlight, b.workerFactory(p), p.schedule(stop), workByKind[p.kind])
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
	err := during(p.warmUp)
	if err == nil {
		from, err = b.env.meter.read(ctx)
	}
	if err == nil {
		err = during(p.duration)
	}
	if err == nil {
		to, err = b.env.meter.read(ctx)
	}
	close(stop)
	last := <-ended
	if err == nil && last.err != nil {
		err = fmt.Errorf("%s: %w", p.name, last.err)
	}
	if err != nil {
		return measurement{}, err
	}
	b.doneByKind[p.kind] += int64(len(last.all))
	return newMeasurement(p, last.all, from, to)
}

func (p phase) schedule(stop <-chan struct{}) schedule {
	if p.rate > 0 {
		return atFixedRate(time.Duration(float64(time.Second)/p.rate), stop)
	}
	return withoutPause(stop)
}

func (b *bench) workerFactory(p phase) func(context.Context, int) (*worker, error) {
	customers := b.customers
	if p.maxCustomers > 0 {
		customers = customers[:min(p.maxCustomers, len(customers))]
	}
	return func(ctx context.Context, number int) (*worker, error) {
		return newWorker(ctx, b.env.target, b.env.receiver, customers, number, b.idempotencyKeys)
	}
}

// newMeasurement counts what ended in the measured time.
func newMeasurement(p phase, all []stepTimes, from, to reading) (measurement, error) {
	f := measurement{inFlight: p.inFlight, started: len(all)}
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
	f.total, f.quote, f.send, f.webhook = latencyOf(whole), latencyOf(quote), latencyOf(send), latencyOf(webhook)
	f.cost = costOf(from, to, f.completed)
	return f, nil
}
