package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// kind is what a piece of work is.
type kind int

const (
	ramps kind = iota
	quotesOnly
	payouts
	transfersOut
	transfersIn
	kindCount
)

// workByKind does one piece of work of each kind.
var workByKind = [kindCount]func(w *worker, ctx context.Context, due time.Time) (stepTimes, error){
	ramps: (*worker).ramp, quotesOnly: (*worker).quoteOnly, payouts: (*worker).payout,
	transfersOut: (*worker).transferOut, transfersIn: (*worker).transferIn,
}

// phase is load of one kind for some time.
type phase struct {
	name         string
	inFlight     int     // workers
	rate         float64 // per second; 0 is as fast as the workers can
	kind         kind
	maxCustomers int // 0 is all
	warmUp       time.Duration
	duration     time.Duration
}

// measurement is the result of a phase.
type measurement struct {
	inFlight           int
	perSecond          float64
	total, quote       latency // of all steps, and of POST /quotes
	send, webhook      latency // of the request that moves the money, and from its response to the COMPLETED webhook
	started, completed int     // started includes those outside of the measured time
	cost               cost
}

// measure runs a phase: warm up, measure, and finish what was started.
func (b *bench) measure(ctx context.Context, p phase) (measurement, error) {
	// A checkpoint before each phase, so that none pays for what an earlier one wrote.
	if err := b.env.meter.exec(ctx, "CHECKPOINT"); err != nil {
		return measurement{}, err
	}
	var interval time.Duration
	if p.rate > 0 {
		interval = time.Duration(float64(time.Second) / p.rate)
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	var all []stepTimes
	var loadErr error
	go func() {
		defer close(ended)
		all, loadErr = b.runWorkers(ctx, p, newSchedule(interval, stop))
	}()
	var edges [2]reading
	var err error
	for i, wait := range []time.Duration{p.warmUp, p.duration} {
		select {
		case <-ended: // too early: loadErr says why
		case <-time.After(wait):
			if err == nil {
				edges[i], err = b.env.meter.read(ctx)
			}
		}
	}
	close(stop)
	<-ended
	if loadErr != nil {
		return measurement{}, fmt.Errorf("%s: %w", p.name, loadErr)
	}
	if err != nil {
		return measurement{}, err
	}
	b.doneByKind[p.kind] += int64(len(all))
	return newMeasurement(p, all, edges[0], edges[1])
}

// schedule returns when the next piece of work is due, and whether there is one.
type schedule func() (due time.Time, more bool)

// newSchedule makes work due at a fixed rate until stop is closed, whether or not earlier work
// is done: work that starts late because the service is slow has been waiting since it was
// due. With no interval every worker starts again as soon as it is done.
func newSchedule(interval time.Duration, stop <-chan struct{}) schedule {
	begin := time.Now()
	var next atomic.Int64
	return func() (time.Time, bool) {
		select {
		case <-stop:
			return time.Time{}, false
		default:
		}
		if interval == 0 {
			return time.Now(), true
		}
		return begin.Add(time.Duration(next.Add(1)-1) * interval), true
	}
}

// stallTimeout is how long no work may finish before the run fails.
const stallTimeout = 30 * time.Second

// runWorkers does the work of a phase on a schedule, and returns the times of all of it in no
// order. The first error ends it, as does a stall.
func (b *bench) runWorkers(ctx context.Context, p phase, next schedule) (all []stepTimes, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	customers := b.customers
	if p.maxCustomers > 0 {
		customers = customers[:min(p.maxCustomers, len(customers))]
	}
	workers := make([]*worker, p.inFlight)
	for i := range workers {
		c, err := dial(ctx, b.env.target.address)
		if err != nil {
			return nil, fmt.Errorf("worker %d: %w", i, err)
		}
		defer c.close()
		workers[i] = &worker{client: c, target: b.env.target, receiver: b.env.receiver, customers: customers, idempotencyKeys: b.idempotencyKeys,
			random: rand.New(rand.NewPCG(uint64(i), 0x5eed)), done: make(chan paymentEnd, 1)}
	}
	stall := time.AfterFunc(stallTimeout, func() { cancel(fmt.Errorf("no work has finished for %s", stallTimeout)) })
	defer stall.Stop()
	done := make([][]stepTimes, p.inFlight)
	var running sync.WaitGroup
	for i, w := range workers {
		running.Go(func() {
			for due, more := next(); more; due, more = next() {
				err := sleep(ctx, time.Until(due))
				var times stepTimes
				if err == nil {
					times, err = workByKind[p.kind](w, ctx, due)
				}
				if err != nil {
					cancel(err)
					return
				}
				done[i] = append(done[i], times)
				stall.Reset(stallTimeout)
			}
		})
	}
	running.Wait()
	return slices.Concat(done...), context.Cause(ctx)
}

// newMeasurement counts what ended in the measured time.
func newMeasurement(p phase, all []stepTimes, from, to reading) (measurement, error) {
	m := measurement{inFlight: p.inFlight, started: len(all)}
	var total, quote, send, webhook []time.Duration
	for _, s := range all {
		if end := s.end(); end.Before(from.at) || !end.Before(to.at) {
			continue
		}
		m.completed++
		start := s.due
		if !s.quoted.IsZero() {
			quote = append(quote, s.quoted.Sub(s.due))
			start = s.quoted
		}
		if s.paid.IsZero() {
			continue
		}
		total = append(total, s.completed.Sub(s.due))
		send = append(send, s.paid.Sub(start))
		webhook = append(webhook, max(0, s.completed.Sub(s.paid))) // it may be received before the response
	}
	if m.completed == 0 {
		return m, fmt.Errorf("%s: nothing was finished in %s", p.name, to.at.Sub(from.at))
	}
	m.perSecond = float64(m.completed) / to.at.Sub(from.at).Seconds()
	m.total, m.quote, m.send, m.webhook = latencyOf(total), latencyOf(quote), latencyOf(send), latencyOf(webhook)
	m.cost = costOf(from, to, m.completed)
	return m, nil
}
