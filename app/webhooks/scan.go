package webhooks

import (
	"context"
	"slices"
	"time"

	"causeway/core/ident"
)

// scan searches the whole queue for platforms with due events. It claims those without an owner and
// notifies the queues of those it owns. If full, it also reads changed endpoints and maintains the
// queues.
func (d *dispatcher) scan(ctx context.Context, now clockReading, full bool) error {
	var skip, watch []ident.Platform
	for p, q := range d.queues {
		// Busy queues fetch their events without a scan.
		if q.isPolling(now) {
			skip = append(skip, p)
		}
		if full {
			watch = append(watch, p)
		}
	}
	for p, breaker := range d.releasedBreakers {
		if now.machine.Before(breaker.nextProbe) {
			skip = append(skip, p)
		}
	}
	found, err := d.session.Scan(ctx, now.service, skip, watch, 2*d.service.MaxTenants)
	if err != nil {
		return err
	}
	for p, endpoint := range found.Endpoints {
		d.queues[p].setEndpoint(endpoint)
	}
	var unclaimed []ident.Platform
	for _, p := range found.Due {
		if q := d.queues[p]; q != nil {
			q.markDue(now)
		} else {
			unclaimed = append(unclaimed, p)
		}
	}
	if err := d.claim(ctx, now, unclaimed); err != nil {
		return err
	}
	if full {
		if err := d.maintain(ctx, now); err != nil {
			return err
		}
	}
	d.lastScan = now.machine
	d.nextScan = now.machine.Add(max(pollInterval, scanBackoffFactor*time.Since(now.machine)))
	return nil
}

// claim claims platforms, up to MaxTenants.
func (d *dispatcher) claim(ctx context.Context, now clockReading, unclaimed []ident.Platform) error {
	if len(unclaimed) == 0 {
		return nil
	}
	// Start anywhere, so that no platform is always the last.
	capacity, start := d.service.MaxTenants-len(d.queues), int(now.machine.UnixNano()/int64(time.Millisecond))%len(unclaimed)
	unclaimed = append(unclaimed[start:len(unclaimed):len(unclaimed)], unclaimed[:start]...)
	unclaimed = unclaimed[:min(len(unclaimed), maxClaims)]
	if capacity < len(unclaimed) {
		if err := d.releaseFailing(ctx, now, len(unclaimed)-capacity); err != nil {
			return err
		}
		if unclaimed = unclaimed[:min(len(unclaimed), d.service.MaxTenants-len(d.queues))]; len(unclaimed) == 0 {
			return nil
		}
	}
	claimed, err := d.session.Claim(ctx, unclaimed)
	if err != nil {
		return err
	}
	for p, endpoint := range claimed {
		q := newEndpointQueue(d.service, p, endpoint, func() { d.service.wakeup.wake() }, d.endSession)
		if breaker, ok := d.releasedBreakers[p]; ok {
			q.breaker = breaker
			delete(d.releasedBreakers, p)
		}
		d.queues[p] = q
	}
	return nil
}

// maintain expires old events, starts probes, and releases idle platforms.
func (d *dispatcher) maintain(ctx context.Context, now clockReading) error {
	var released []ident.Platform
	for p, q := range d.queues {
		q.expire(now.service)
		q.resume(d.deliveryCtx)
		if q.isIdle(now) {
			released = append(released, p)
		}
	}
	for p, breaker := range d.releasedBreakers {
		if now.machine.Sub(breaker.nextProbe) > time.Minute {
			delete(d.releasedBreakers, p) // another process serves it by now
		}
	}
	return d.release(ctx, released)
}

// releaseFailing releases up to count platforms whose endpoint fails.
func (d *dispatcher) releaseFailing(ctx context.Context, now clockReading, count int) error {
	var released []ident.Platform
	for p, q := range d.queues {
		if breaker, ok := q.canRelease(now); ok && len(released) < count {
			d.releasedBreakers[p] = breaker
			released = append(released, p)
		}
	}
	return d.release(ctx, released)
}

func (d *dispatcher) release(ctx context.Context, platforms []ident.Platform) error {
	if len(platforms) == 0 {
		return nil
	}
	for p := range slices.Values(platforms) {
		delete(d.queues, p)
	}
	return d.session.Release(ctx, platforms)
}
