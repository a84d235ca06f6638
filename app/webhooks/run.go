package webhooks

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"causeway/core/ident"
	"causeway/ports"
)

// Wake notifies the dispatcher of committed events of platforms, so that they are fetched at once. It never blocks.
// Without it they are found within pollInterval.
func (s *Service) Wake(of ...ident.Platform) { s.wakeup.wake(of...) }

// HandOver is Wake with the events of one commit, in their order. Most are then sent without being fetched.
func (s *Service) HandOver(committed []ports.CommittedWebhook) {
	if len(committed) > 0 {
		s.wakeup.handOver(committed)
	}
}

// ForgetCommitted ends the session of the dispatcher and drops what was handed over to it. Another database gives the numbers of lost
// events to others.
func (s *Service) ForgetCommitted() { s.wakeup.forget() }

// Run sends events until ctx is done. It then starts no further delivery, waits up to Grace for
// running ones, and records them. Any number of processes may run it on one database: each platform
// is served by one of them at a time, and by another at once if that one stops.
func (s *Service) Run(ctx context.Context) {
	var unrecorded []ports.WebhookResult
	for failures := 0; ctx.Err() == nil; failures++ {
		d := &dispatcher{service: s, queues: map[ident.Platform]*endpointQueue{}, releasedBreakers: map[ident.Platform]circuitBreaker{},
			panicked: make(chan error, 1)}
		err := d.runSession(ctx, unrecorded)
		unrecorded = d.unrecordedDeliveries()
		if err == nil {
			return
		}
		s.Metrics.Disconnected(err)
		if d.turns > 0 {
			failures = 0
		}
		// Back off exponentially, with jitter.
		pause := min(100*time.Millisecond<<min(failures, 8), 5*time.Second) / 2
		pause += rand.N(pause)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// runSession opens a session and serves on it until ctx is done (nil) or the session fails. If the
// session is lost, running deliveries are interrupted, because another process may claim the
// platforms. After a panic the next session reads everything again.
func (d *dispatcher) runSession(ctx context.Context, unrecorded []ports.WebhookResult) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = newPanicError(p)
		}
	}()
	opening, cancel := context.WithTimeout(ctx, sessionTimeout)
	defer cancel()
	session, err := d.service.Queue.OpenSession(opening)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		d.pendingResults = unrecorded
		return err
	}
	defer session.Close()
	d.session = session
	if len(unrecorded) > 0 {
		// These were delivered before the last session was lost. If recording them fails, they
		// are sent once more.
		if _, err := session.Exchange(opening, d.service.Clock.Now(), unrecorded, nil); err != nil {
			return err
		}
	}

	deliveryCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	d.deliveryCtx = deliveryCtx
	endDeliveries := func() {
		stop()
		for _, q := range d.queues {
			q.stopAndWait()
		}
	}
	defer endDeliveries() // after a panic
	err = d.serve(ctx)
	endDeliveries()
	if err != nil {
		return err
	}
	return d.recordRemaining()
}

// newPanicError returns the error for a recovered panic, with its stack.
func newPanicError(p any) error { return fmt.Errorf("panic: %v\n%s", p, debug.Stack()) }

// recordRemaining records the outcomes of the last deliveries.
func (d *dispatcher) recordRemaining() error {
	results := d.collectResults()
	if len(results) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), sessionTimeout)
	defer cancel()
	_, err := d.session.Exchange(ctx, d.service.Clock.Now(), results, nil)
	return err
}

// unrecordedDeliveries returns the successful deliveries that were not recorded before the session
// was lost. Failed ones are left out: the stored queue still has those events.
func (d *dispatcher) unrecordedDeliveries() []ports.WebhookResult {
	all := append(d.pendingResults, d.collectResults()...)
	settled := all[:0]
	for _, r := range all {
		if r.Outcome == ports.WebhookSettled {
			settled = append(settled, r)
		}
	}
	return settled
}
