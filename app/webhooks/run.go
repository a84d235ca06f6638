package webhooks

import (
	"context"
	"math/rand/v2"
	"time"

	"causeway/core/ident"
	"causeway/ports"
)

// Wake says that events were committed, so that they are sent at once. It never
// blocks. Without it they are found within a quarter of a second.
func (n *Service) Wake() { n.wakeup.wake(true) }

// Run sends what waits until ctx ends; then it begins nothing more, gives what runs
// the grace to finish, and records it. Any number of processes may run it on one
// database: each platform is served by one of them at a time, and by another at once
// when that one is gone.
func (n *Service) Run(ctx context.Context) {
	var unrecorded []ports.WebhookResult
	for failures := 0; ctx.Err() == nil; failures++ {
		d := &dispatcher{service: n, queues: map[ident.Platform]*endpointQueue{}, releasedBreakers: map[ident.Platform]circuitBreaker{}}
		err := d.runSession(ctx, unrecorded)
		unrecorded = d.unrecordedDeliveries()
		if err == nil {
			return
		}
		n.Metrics.Disconnected(err)
		if d.turns > 0 {
			failures = 0
		}
		// Half of a pause that doubles, and a random part of the other half.
		pause := min(100*time.Millisecond<<min(failures, 8), 5*time.Second) / 2
		pause += rand.N(pause)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// runSession opens a session and serves on it until ctx ends (nil) or the session does.
// What it sends is broken off when the session is lost: from then on the platforms
// belong to whoever claims them.
func (d *dispatcher) runSession(ctx context.Context, unrecorded []ports.WebhookResult) error {
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
		// Delivered before the last session was lost. If even this fails, they are
		// sent once more.
		if _, err := session.Exchange(opening, d.service.Clock.Now(), unrecorded, nil); err != nil {
			return err
		}
	}

	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	d.deliveryCtx = working
	err = d.serve(ctx)
	stop()
	for _, l := range d.queues {
		l.stopAndWait()
	}
	if err != nil {
		return err
	}
	return d.recordRemaining()
}

// recordRemaining records what the last deliveries came to.
func (d *dispatcher) recordRemaining() error {
	done := d.collectResults()
	if len(done) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), sessionTimeout)
	defer cancel()
	_, err := d.session.Exchange(ctx, d.service.Clock.Now(), done, nil)
	return err
}

// unrecordedDeliveries are deliveries that succeeded and whose record was lost with the
// session. Of those that failed nothing is kept: the queue still has them as they were.
func (d *dispatcher) unrecordedDeliveries() []ports.WebhookResult {
	all := append(d.pendingResults, d.collectResults()...)
	kept := all[:0]
	for _, done := range all {
		if done.Outcome == ports.WebhookSettled {
			kept = append(kept, done)
		}
	}
	return kept
}
