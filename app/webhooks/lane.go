package webhooks

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/ports"
)

// lane delivers the events of one platform. The desk gives it events and takes from
// it what became of them; workers send in between, each until there is nothing more.
type lane struct {
	notify   *Notify
	platform ident.Platform
	// ring tells the desk that there is something to record or room to read.
	ring func()

	mu       sync.Mutex
	endpoint ports.Endpoint
	gate     gate
	lines    map[uuid.UUID]*line
	ready    fifo           // heads of lines, to be sent
	held     map[int64]bool // all in memory, until what became of them is recorded
	done     []ports.WebhookResult
	doneAt   time.Time // when the first of done came, on the machine's clock
	sending  int
	stopped  bool // nothing more is begun
	workers  sync.WaitGroup
	reading
}

// line is the events of one subject, in their order; the first is ready or being sent.
type line struct {
	events []ports.QueuedWebhook
	// followed: there are later ones in the backlog, to be made due after the last of these.
	followed bool
	// unrecorded counts outcomes that the queue does not know yet; of those, failed
	// counts events that are to be tried again, and stoodBack those behind others.
	unrecorded, failed, stoodBack int
}

func newLane(n *Notify, p ident.Platform, endpoint ports.Endpoint, ring func()) *lane {
	return &lane{
		notify: n, platform: p, endpoint: endpoint, ring: ring, gate: newGate(n.Width),
		lines: map[uuid.UUID]*line{}, held: map[int64]bool{}, reading: reading{fresh: true, retryAt: n.Clock.Now(), active: time.Now()},
	}
}

// place puts an event in its line, or into the backlog if it must wait there for one
// before it. Whatever stands back does so for one that is in memory, which makes the
// next one due when it is settled, or for one in the backlog, which is made due.
func (l *lane) place(q ports.QueuedWebhook) {
	l.held[q.Seq] = true
	in := l.lines[q.Subject]
	if in == nil {
		in = &line{}
		l.lines[q.Subject] = in
	}
	if in.refuses(q, l.notify.lineLength) {
		in.followed = true
		// Should the first in the backlog stand back itself (behind one that is gone,
		// or that it is older than), this gets it going.
		q.HasSuccessor = q.Blocked
		l.settle(in, ports.WebhookResult{Event: q, Outcome: ports.WebhookDeferred})
		return
	}
	in.followed = in.followed || q.HasSuccessor
	// What is sent again may be older than what waits; never before the one being sent.
	at := len(in.events)
	for at > 1 && in.events[at-1].Seq > q.Seq {
		at--
	}
	in.events = slices.Insert(in.events, at, q)
	if at == 0 {
		l.ready.push(q.Subject)
	}
}

// refuses tells that an event must stand back.
func (in *line) refuses(q ports.QueuedWebhook, longest int) bool {
	switch {
	case q.Blocked, in.failed > 0:
		return true // behind one in the backlog, or about to be there
	case len(in.events) == 0 && q.InBacklog:
		return false // the first in the backlog, and nothing is sent: those that stood back did so for it
	default:
		return in.stoodBack > 0 || len(in.events) >= longest
	}
}

// count keeps the book of outcomes that are not recorded.
func (in *line) count(fate ports.WebhookOutcome, by int) {
	in.unrecorded += by
	if fate == ports.WebhookRetry {
		in.failed += by
	} else if fate == ports.WebhookDeferred {
		in.stoodBack += by
	}
}

// pump begins as many deliveries as the gate allows.
func (l *lane) pump(ctx context.Context) {
	now := time.Now()
	for !l.stopped && l.endpoint.URL != "" && l.sending < l.gate.allows(now) {
		q, ok := l.next()
		if !ok {
			return
		}
		l.sending++
		endpoint, probe := l.endpoint, l.gate.closed
		l.workers.Go(func() { l.work(ctx, q, endpoint, probe) })
	}
}

// next is the event to be sent next.
func (l *lane) next() (ports.QueuedWebhook, bool) {
	subject, ok := l.ready.pop()
	if !ok {
		return ports.QueuedWebhook{}, false
	}
	return l.lines[subject].events[0], true
}

// work sends one event after the other while it may.
func (l *lane) work(ctx context.Context, q ports.QueuedWebhook, endpoint ports.Endpoint, probe bool) {
	for more := true; more; {
		at := l.notify.Clock.Now()
		answer := l.notify.Webhooks.Deliver(ctx, ports.WebhookDelivery{Endpoint: endpoint, ID: q.ID, Body: q.Body, At: at})
		q, endpoint, probe, more = l.finish(ctx, q, endpoint, probe, at, answer)
	}
}

// finish decides what becomes of an event after an attempt, and what its worker does next.
func (l *lane) finish(ctx context.Context, q ports.QueuedWebhook, endpoint ports.Endpoint, probe bool, at time.Time, answer ports.WebhookResponse) (ports.QueuedWebhook, ports.Endpoint, bool, bool) {
	now := l.notify.instant()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sending--
	if ctx.Err() != nil && !answer.Outcome.Delivered() {
		// We broke it off ourselves: it stays in the queue as if nothing had been.
		l.stopped = true
		l.ring()
		return q, endpoint, false, false
	}
	l.notify.Meter.Attempted(answer.Outcome, answer.Duration)
	l.judge(now.run, endpoint, probe, answer.Outcome)

	in, made := l.lines[q.Subject], attempt(at, answer)
	in.events = in.events[1:]
	done := ports.WebhookResult{Event: q, Attempt: &made}
	done.Event.Body = nil
	if !answer.Outcome.Delivered() {
		if next, again := event.NextAttempt(q.Name, q.AttemptsSinceDue+1, q.DueSince, now.due, rand.Uint64()); again {
			done.Outcome, done.RetryAt = ports.WebhookRetry, next
		} else {
			l.notify.Meter.Parked()
		}
	} else {
		l.notify.Meter.Delivered(now.due.Sub(q.Created))
	}
	l.conclude(in, done)

	if l.stopped || l.endpoint.URL == "" || l.sending >= l.gate.allows(now.run) {
		return q, endpoint, false, false
	}
	next, ok := l.next()
	if !ok {
		return q, endpoint, false, false
	}
	l.sending++
	l.pump(ctx) // the gate may have opened
	return next, l.endpoint, l.gate.closed, true
}

// judge tells the gate, unless the endpoint was changed meanwhile.
func (l *lane) judge(now time.Time, endpoint ports.Endpoint, probe bool, outcome event.Outcome) {
	switch {
	case endpoint != l.endpoint:
	case outcome.Delivered():
		if l.gate.succeeded() {
			l.notify.Meter.Resumed(l.platform)
		}
	case l.gate.failed(now, outcome.Responded(), probe):
		l.notify.Meter.Paused(l.platform, outcome)
	}
}

// conclude ends an event that was the first of its line: the next one is ready, or
// must stand back behind it.
func (l *lane) conclude(in *line, done ports.WebhookResult) {
	if done.Outcome == ports.WebhookSettled {
		done.Event.HasSuccessor = in.followed && len(in.events) == 0
		l.settle(in, done)
		if len(in.events) > 0 {
			l.ready.push(done.Event.Subject)
		}
		return
	}
	// Should it be gone (settled by the last owner, who lost the platform before it
	// could say so), those that stand back for it must not wait.
	done.Event.HasSuccessor = true
	l.settle(in, done)
	for _, follower := range in.events {
		follower.HasSuccessor = false
		l.settle(in, ports.WebhookResult{Event: follower, Outcome: ports.WebhookDeferred})
	}
	in.events, in.followed = nil, false // the one in the backlog wakes those behind it
}

// settle keeps an outcome until it is recorded.
func (l *lane) settle(in *line, done ports.WebhookResult) {
	if len(l.done) == 0 {
		l.doneAt = time.Now()
	}
	done.Event.Body = nil
	l.done = append(l.done, done)
	in.count(done.Outcome, 1)
	if n := len(l.done); n == 1 || n == recordAtOnce || l.fresh && len(l.ready.subjects) < l.gate.width {
		l.ring()
	}
}
