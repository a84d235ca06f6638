package webhooks

import (
	"context"
	"slices"
	"time"

	"causeway/core/ident"
)

// survey looks over the whole queue: it finds platforms with something to do, takes
// those that nobody serves, tells lanes of theirs, and lets idle ones go. On a tick
// it also learns of changed endpoints.
func (d *desk) survey(ctx context.Context, now instant, ticks bool) error {
	var skip, watch []ident.Platform
	for p, l := range d.lanes {
		// Busy lanes look for themselves, and so need not be looked for.
		if l.attentive(now) {
			skip = append(skip, p)
		}
		if ticks {
			watch = append(watch, p)
		}
	}
	for p, g := range d.resting {
		if now.run.Before(g.until) {
			skip = append(skip, p)
		}
	}
	found, err := d.session.Scan(ctx, now.due, skip, watch, 2*d.notify.Lanes)
	if err != nil {
		return err
	}
	for p, endpoint := range found.Endpoints {
		d.lanes[p].move(endpoint)
	}
	var strangers []ident.Platform
	for _, p := range found.Due {
		if l := d.lanes[p]; l != nil {
			l.hasDue(now)
		} else {
			strangers = append(strangers, p)
		}
	}
	if err := d.claim(ctx, now, strangers); err != nil {
		return err
	}
	if ticks {
		if err := d.tidy(ctx, now); err != nil {
			return err
		}
	}
	d.lastSurvey = now.run
	d.nextSurvey = now.run.Add(max(tick, surveyShare*time.Since(now.run)))
	return nil
}

// claim takes on platforms, as many as there is room for.
func (d *desk) claim(ctx context.Context, now instant, strangers []ident.Platform) error {
	if len(strangers) == 0 {
		return nil
	}
	// Any of them, so that no platform is always the last.
	room, start := d.notify.Lanes-len(d.lanes), int(now.run.UnixNano()/int64(time.Millisecond))%len(strangers)
	strangers = append(strangers[start:len(strangers):len(strangers)], strangers[:start]...)
	strangers = strangers[:min(len(strangers), mostClaims)]
	if room < len(strangers) {
		if err := d.makeRoom(ctx, now, len(strangers)-room); err != nil {
			return err
		}
		if strangers = strangers[:min(len(strangers), d.notify.Lanes-len(d.lanes))]; len(strangers) == 0 {
			return nil
		}
	}
	claimed, err := d.session.Claim(ctx, strangers)
	if err != nil {
		return err
	}
	for p, endpoint := range claimed {
		l := newLane(d.notify, p, endpoint, func() { d.notify.bell.ring(false) })
		if g, rested := d.resting[p]; rested {
			l.gate = g
			delete(d.resting, p)
		}
		d.lanes[p] = l
	}
	return nil
}

// tidy gives up what is too old to be sent, begins probes, and lets go of lanes that
// have nothing to do.
func (d *desk) tidy(ctx context.Context, now instant) error {
	var leave []ident.Platform
	for p, l := range d.lanes {
		l.expire(now.due)
		l.resume(d.working)
		if l.isIdle(now) {
			leave = append(leave, p)
		}
	}
	for p, g := range d.resting {
		if now.run.Sub(g.until) > time.Minute {
			delete(d.resting, p) // somebody else's by now
		}
	}
	return d.release(ctx, leave)
}

// makeRoom lets go of lanes whose endpoint fails: they wait as well without one.
func (d *desk) makeRoom(ctx context.Context, now instant, count int) error {
	var leave []ident.Platform
	for p, l := range d.lanes {
		if g, ok := l.canRest(now); ok && len(leave) < count {
			d.resting[p] = g
			leave = append(leave, p)
		}
	}
	return d.release(ctx, leave)
}

func (d *desk) release(ctx context.Context, platforms []ident.Platform) error {
	if len(platforms) == 0 {
		return nil
	}
	for p := range slices.Values(platforms) {
		delete(d.lanes, p)
	}
	return d.session.Release(ctx, platforms)
}
