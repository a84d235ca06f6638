package webhooks

import (
	"context"
	"time"

	"causeway/core/ident"
	"causeway/ports"
)

const (
	// tick is how often the queue is looked over when nobody calls.
	tick = 250 * time.Millisecond
	// spacing is the least time between two exchanges with the queue: what comes
	// meanwhile goes together.
	spacing = 2 * time.Millisecond
	// recordWithin bounds how long an outcome stays unrecorded, recordAtOnce how many
	// do: a crash may send so much a second time. Each record is a commit.
	recordWithin = 25 * time.Millisecond
	recordAtOnce = 256
	// recent is how long a platform counts as busy: it is then read on every call.
	recent = time.Second
	// idle is how long a platform without work is kept.
	idle = 10 * time.Second
	// wholeEvery is how often a queue is read from its very beginning, to be sure.
	wholeEvery = time.Minute
	// surveySpacing is the least time between two looks over the whole queue, and
	// surveyShare the most of the time that they may take.
	surveySpacing = 25 * time.Millisecond
	surveyShare   = 20
	// mostClaims is how many platforms a process takes on in one turn: it leaves some
	// to others.
	mostClaims = 64
	// patience with the database; after that the session is given up.
	patience = 15 * time.Second
)

// desk is the one place that speaks with the queue, for all lanes together: what
// they have to record is one commit, and what they ask for one round trip.
type desk struct {
	notify  *Notify
	session ports.WebhookSession
	working context.Context // of the deliveries
	lanes   map[ident.Platform]*lane
	// resting are platforms that were let go while their endpoint failed, to make room.
	resting map[ident.Platform]gate

	turns      int
	lastTurn   time.Time
	lastSurvey time.Time
	nextSurvey time.Time
	left       []ports.WebhookResult // taken from a lane and not recorded
}

// serve takes turn after turn until ctx ends and nothing runs any more.
func (d *desk) serve(ctx context.Context) error {
	var deadline time.Time
	events := true
	for {
		now := d.notify.instant()
		stopping := ctx.Err() != nil
		if stopping {
			if deadline.IsZero() {
				deadline = now.run.Add(d.notify.Grace)
				d.halt()
			}
			if !d.sending() || !now.run.Before(deadline) {
				return nil
			}
		}
		if err := d.turn(now, events, stopping); err != nil {
			return err
		}
		d.turns++
		var err error
		if events, err = d.wait(ctx, stopping); err != nil {
			return err
		}
	}
}

// turn does what is due now.
func (d *desk) turn(now instant, events, stopping bool) error {
	ctx, cancel := context.WithTimeout(d.working, patience)
	defer cancel()
	ticks := !now.run.Before(d.nextSurvey)
	if !stopping && (ticks || events && now.run.Sub(d.lastSurvey) >= surveySpacing) {
		if err := d.survey(ctx, now, ticks); err != nil {
			return err
		}
	} else if events {
		d.nextSurvey = earlier(d.nextSurvey, d.lastSurvey.Add(surveySpacing))
	}
	return d.exchange(ctx, now, events || ticks, stopping)
}

// exchange records what is to be recorded and reads what the lanes have room for.
func (d *desk) exchange(ctx context.Context, now instant, look, stopping bool) error {
	var wants []ports.WebhookFetch
	var wanting []*lane
	count, oldest := 0, now.run
	for _, l := range d.lanes {
		if want, ok := l.want(now, look); ok && !stopping {
			wants, wanting = append(wants, want), append(wanting, l)
		}
		n, since := l.unrecorded()
		if count += n; n > 0 {
			oldest = earlier(oldest, since)
		}
	}
	if count >= recordAtOnce || count > 0 && (stopping || now.run.Sub(oldest) >= recordWithin) {
		d.left = d.gather()
	}
	if len(d.left) == 0 && len(wants) == 0 {
		return nil
	}
	due, err := d.session.Exchange(ctx, now.due, d.left, wants)
	if err != nil {
		return err
	}
	d.recorded(now)
	for i, l := range wanting {
		l.move(due[i].Endpoint)
		l.add(d.working, now, wants[i], due[i])
	}
	return nil
}

// gather takes all outcomes from the lanes, with those that were taken before.
func (d *desk) gather() []ports.WebhookResult {
	done := d.left
	d.left = nil
	for _, l := range d.lanes {
		done = append(done, l.take()...)
	}
	return done
}

func (d *desk) recorded(now instant) {
	byLane := map[*lane][]ports.WebhookResult{}
	for _, done := range d.left {
		l := d.lanes[done.Event.Platform]
		byLane[l] = append(byLane[l], done)
	}
	for l, done := range byLane {
		l.recorded(now, done)
	}
	d.left = nil
}

// wait returns when something is due or the bell rings, and tells whether there are
// new events.
func (d *desk) wait(ctx context.Context, stopping bool) (bool, error) {
	now := d.notify.instant()
	next := d.nextSurvey
	for _, l := range d.lanes {
		next = earlier(next, l.nextDue(now))
	}
	pause := min(max(next.Sub(now.run), 0), tick)
	if stopping {
		pause, ctx = min(pause, spacing), context.WithoutCancel(ctx)
	}
	// Whatever is due, what comes within a moment goes with it.
	if rest := spacing - now.run.Sub(d.lastTurn); rest > 0 && rest <= spacing {
		select {
		case <-time.After(rest):
		case <-ctx.Done():
		}
		pause = max(pause-rest, 0)
	}
	events, err := d.notify.bell.wait(ctx, pause, d.session.Wait)
	d.lastTurn = time.Now()
	return events, err
}

func (d *desk) halt() {
	for _, l := range d.lanes {
		l.halt()
	}
}

func (d *desk) sending() bool {
	for _, l := range d.lanes {
		if l.busy() {
			return true
		}
	}
	return false
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
