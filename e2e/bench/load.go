package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// phase is load of one kind for some time.
type phase struct {
	part, name       string // part is the value of --only that selects it; its profiles can be wanted
	kind             kind
	inFlight         int         // workers
	rate             float64     // per second; 0 is as fast as the workers can
	customers        []*customer // nil is all of the platform
	warmUp, duration time.Duration
	goal             goal // of the rate, to that of pgbench
}

// measurement is the result of a phase.
type measurement struct {
	completed     int
	refused       int // of those that are completed
	perSecond     float64
	total, quote  latency // of all steps, and of POST /quotes
	send, webhook latency // of the request that moves the money, and from its response to the COMPLETED webhook
	refusal       latency // of a request that the policy of the agent refuses
	cost          cost
}

// runPhase warms up, measures, and finishes what was started.
func (b *bench) runPhase(ctx context.Context, p phase) measurement {
	// A checkpoint before each phase, so that none pays for what an earlier one wrote.
	b.meter.exec(ctx, "CHECKPOINT")
	if b.profileDir != "" && (p.part == "ramps" || p.part != "" && p.part == b.part) {
		defer b.startProfiles(ctx, p.warmUp+p.duration)()
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	var all []stepTimes
	var loadErr error
	go func() {
		defer close(ended)
		all, loadErr = b.runWorkers(ctx, p, newSchedule(p.rate, stop))
	}()
	var edges [2]reading
	readErr := try(func() {
		for i, wait := range []time.Duration{p.warmUp, p.duration} {
			select {
			case <-ended: // too early: loadErr says why
			case <-time.After(wait):
				edges[i] = b.meter.read(ctx)
			}
		}
	})
	close(stop)
	<-ended
	if loadErr != nil {
		failf("%s: %w", p.name, loadErr)
	}
	check(readErr)
	for _, s := range all {
		if !s.refused {
			b.done[p.kind]++
		}
	}
	m := newMeasurement(p, all, edges[0], edges[1])
	logf("%s: %.0f/s, first response %s ms; service, Postgres, generator: %s", p.name, m.perSecond, cmp.Or(m.quote, m.send, m.refusal),
		m.cost.processorTimes())
	return m
}

// schedule returns when the next piece of work is due, and whether there is one.
type schedule func() (due time.Time, more bool)

// newSchedule makes work due at a fixed rate until stop is closed, whether or not earlier work
// is done: work that starts late because the service is slow has been waiting since it was
// due. With no rate every worker starts again as soon as it is done.
func newSchedule(rate float64, stop <-chan struct{}) schedule {
	begin := time.Now()
	var next atomic.Int64
	return func() (time.Time, bool) {
		select {
		case <-stop:
			return time.Time{}, false
		default:
		}
		if rate == 0 {
			return time.Now(), true
		}
		return begin.Add(time.Duration(float64(next.Add(1)-1) / rate * float64(time.Second))), true
	}
}

// stallTimeout is how long no work may finish before the run fails.
const stallTimeout = 30 * time.Second

// runWorkers does the work of a phase on a schedule, and returns the times of all of it in no
// order. The first error ends it, as does a stall.
func (b *bench) runWorkers(ctx context.Context, p phase, next schedule) ([]stepTimes, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stall := time.AfterFunc(stallTimeout, func() { cancel(fmt.Errorf("no work has finished for %s", stallTimeout)) })
	defer stall.Stop()
	customers := p.customers
	if customers == nil {
		customers = b.customers
	}
	done := make([][]stepTimes, p.inFlight)
	var running sync.WaitGroup
	for i := range done {
		running.Go(func() {
			err := try(func() {
				w := worker{connect(ctx, b.platform.Client, b.idempotencyKeys), b.receiver, customers}
				for due, more := next(); more; due, more = next() {
					check(sleep(ctx, time.Until(due)))
					done[i] = append(done[i], w.do(ctx, p.kind, due))
					stall.Reset(stallTimeout)
				}
			})
			if err != nil {
				cancel(err)
			}
		})
	}
	running.Wait()
	return slices.Concat(done...), context.Cause(ctx)
}

// newMeasurement counts what ended in the measured time.
func newMeasurement(p phase, all []stepTimes, from, to reading) measurement {
	var m measurement
	var total, quote, send, webhook, refusal []time.Duration
	for _, s := range all {
		if s.completed.Before(from.at) || !s.completed.Before(to.at) {
			continue
		}
		m.completed++
		start := s.due
		if !s.quoted.IsZero() {
			quote = append(quote, s.quoted.Sub(s.due))
			start = s.quoted
		}
		if s.refused {
			refusal = append(refusal, s.completed.Sub(start))
		}
		if s.paid.IsZero() {
			continue
		}
		total = append(total, s.completed.Sub(s.due))
		send = append(send, s.paid.Sub(start))
		webhook = append(webhook, max(0, s.completed.Sub(s.paid))) // it may be received before the response
	}
	if m.completed == 0 {
		failf("%s: nothing was finished in %s", p.name, to.at.Sub(from.at))
	}
	m.perSecond = float64(m.completed) / to.at.Sub(from.at).Seconds()
	m.total, m.quote, m.send, m.webhook = latencyOf(total), latencyOf(quote), latencyOf(send), latencyOf(webhook)
	m.refused, m.refusal = len(refusal), latencyOf(refusal)
	m.cost = costOf(from, to, m.completed)
	return m
}
