package webhooks

import (
	"context"
	"slices"
	"time"

	"causeway/core/ident"
)

// scan looks over the whole queue: it finds platforms with something to do, takes
// those that nobody serves, tells lanes of theirs, and lets idle ones go. On a tick
// it also learns of changed endpoints.
func (d *dispatcher) scan(ctx context.Context, now clockReading, ticks bool) error {
	var skip, watch []ident.Platform
	for p, l := range d.queues {
		// Busy lanes look for themselves, and so need not be looked for.
		if l.isPolling(now) {
			skip = append(skip, p)
		}
		if ticks {
			watch = append(watch, p)
		}
	}
	for p, g := range d.releasedBreakers {
		if now.machine.Before(g.nextProbe) {
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
	var strangers []ident.Platform
	for _, p := range found.Due {
		if l := d.queues[p]; l != nil {
			l.markDue(now)
		} else {
			strangers = append(strangers, p)
		}
	}
	if err := d.claim(ctx, now, strangers); err != nil {
		return err
	}
	if ticks {
		if err := d.maintain(ctx, now); err != nil {
			return err
		}
	}
	d.lastScan = now.machine
	d.nextScan = now.machine.Add(max(pollInterval, scanBackoffFactor*time.Since(now.machine)))
	return nil
}

// claim takes on platforms, as many as there is room for.
func (d *dispatcher) claim(ctx context.Context, now clockReading, strangers []ident.Platform) error {
	if len(strangers) == 0 {
		return nil
	}
	// Any of them, so that no platform is always the last.
	room, start := d.service.MaxTenants-len(d.queues), int(now.machine.UnixNano()/int64(time.Millisecond))%len(strangers)
	strangers = append(strangers[start:len(strangers):len(strangers)], strangers[:start]...)
	strangers = strangers[:min(len(strangers), maxClaims)]
	if room < len(strangers) {
		if err := d.releaseFailing(ctx, now, len(strangers)-room); err != nil {
			return err
		}
		if strangers = strangers[:min(len(strangers), d.service.MaxTenants-len(d.queues))]; len(strangers) == 0 {
			return nil
		}
	}
	claimed, err := d.session.Claim(ctx, strangers)
	if err != nil {
		return err
	}
	for p, endpoint := range claimed {
		l := newEndpointQueue(d.service, p, endpoint, func() { d.service.wakeup.wake(false) })
		if g, rested := d.releasedBreakers[p]; rested {
			l.breaker = g
			delete(d.releasedBreakers, p)
		}
		d.queues[p] = l
	}
	return nil
}

// maintain gives up what is too old to be sent, begins probes, and lets go of lanes that
// have nothing to do.
func (d *dispatcher) maintain(ctx context.Context, now clockReading) error {
	var leave []ident.Platform
	for p, l := range d.queues {
		l.expire(now.service)
		l.resume(d.deliveryCtx)
		if l.isIdle(now) {
			leave = append(leave, p)
		}
	}
	for p, g := range d.releasedBreakers {
		if now.machine.Sub(g.nextProbe) > time.Minute {
			delete(d.releasedBreakers, p) // somebody else's by now
		}
	}
	return d.release(ctx, leave)
}

// releaseFailing lets go of lanes whose endpoint fails: they wait as well without one.
func (d *dispatcher) releaseFailing(ctx context.Context, now clockReading, count int) error {
	var leave []ident.Platform
	for p, l := range d.queues {
		if g, ok := l.canRelease(now); ok && len(leave) < count {
			d.releasedBreakers[p] = g
			leave = append(leave, p)
		}
	}
	return d.release(ctx, leave)
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
