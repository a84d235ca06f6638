package webhooks

import (
	"context"
	"time"

	"causeway/core/ident"
	"causeway/ports"
)

const (
	// pollInterval is how often the queue is looked over when nobody calls.
	pollInterval = 250 * time.Millisecond
	// minTurnInterval is the least time between two exchanges with the queue: what comes
	// meanwhile goes together.
	minTurnInterval = 2 * time.Millisecond
	// maxRecordDelay bounds how long an outcome stays unrecorded, recordAtOnce how many
	// do: a crash may send so much a second time. Each record is a commit.
	maxRecordDelay  = 25 * time.Millisecond
	recordBatchSize = 256
	// busyWindow is how long a platform counts as busy: it is then read on every call.
	busyWindow = time.Second
	// idleTimeout is how long a platform without work is kept.
	idleTimeout = 10 * time.Second
	// fullScanInterval is how often a queue is read from its very beginning, to be sure.
	fullScanInterval = time.Minute
	// minScanInterval is the least time between two looks over the whole queue, and
	// surveyShare the most of the time that they may take.
	minScanInterval   = 25 * time.Millisecond
	scanBackoffFactor = 20
	// maxClaims is how many platforms a process takes on in one turn: it leaves some
	// to others.
	maxClaims = 64
	// sessionTimeout with the database; after that the session is given up.
	sessionTimeout = 15 * time.Second
)

// dispatcher is the one place that speaks with the queue, for all lanes together: what
// they have to record is one commit, and what they ask for one round trip.
type dispatcher struct {
	service     *Service
	session     ports.WebhookSession
	deliveryCtx context.Context // of the deliveries
	queues      map[ident.Platform]*endpointQueue
	// releasedBreakers are platforms that were let go while their endpoint failed, to make room.
	releasedBreakers map[ident.Platform]circuitBreaker

	turns          int
	lastTurn       time.Time
	lastScan       time.Time
	nextScan       time.Time
	pendingResults []ports.WebhookResult // taken from a lane and not recorded
}

// serve takes turn after turn until ctx ends and nothing runs any more.
func (d *dispatcher) serve(ctx context.Context) error {
	var deadline time.Time
	events := true
	for {
		now := d.service.readClocks()
		stopping := ctx.Err() != nil
		if stopping {
			if deadline.IsZero() {
				deadline = now.machine.Add(d.service.Grace)
				d.stopQueues()
			}
			if !d.isSending() || !now.machine.Before(deadline) {
				return nil
			}
		}
		if err := d.runTurn(now, events, stopping); err != nil {
			return err
		}
		d.turns++
		var err error
		if events, err = d.wait(ctx, stopping); err != nil {
			return err
		}
	}
}

// runTurn does what is due now.
func (d *dispatcher) runTurn(now clockReading, events, stopping bool) error {
	ctx, cancel := context.WithTimeout(d.deliveryCtx, sessionTimeout)
	defer cancel()
	ticks := !now.machine.Before(d.nextScan)
	if !stopping && (ticks || events && now.machine.Sub(d.lastScan) >= minScanInterval) {
		if err := d.scan(ctx, now, ticks); err != nil {
			return err
		}
	} else if events {
		d.nextScan = earlier(d.nextScan, d.lastScan.Add(minScanInterval))
	}
	return d.exchange(ctx, now, events || ticks, stopping)
}

// exchange records what is to be recorded and reads what the lanes have room for.
func (d *dispatcher) exchange(ctx context.Context, now clockReading, look, stopping bool) error {
	var wants []ports.WebhookFetch
	var wanting []*endpointQueue
	count, oldest := 0, now.machine
	for _, l := range d.queues {
		if want, ok := l.nextFetch(now, look); ok && !stopping {
			wants, wanting = append(wants, want), append(wanting, l)
		}
		n, since := l.pendingResults()
		if count += n; n > 0 {
			oldest = earlier(oldest, since)
		}
	}
	if count >= recordBatchSize || count > 0 && (stopping || now.machine.Sub(oldest) >= maxRecordDelay) {
		d.pendingResults = d.collectResults()
	}
	if len(d.pendingResults) == 0 && len(wants) == 0 {
		return nil
	}
	due, err := d.session.Exchange(ctx, now.service, d.pendingResults, wants)
	if err != nil {
		return err
	}
	d.markRecorded(now)
	for i, l := range wanting {
		l.setEndpoint(due[i].Endpoint)
		l.addEvents(d.deliveryCtx, now, wants[i], due[i])
	}
	return nil
}

// collectResults takes all outcomes from the lanes, with those that were taken before.
func (d *dispatcher) collectResults() []ports.WebhookResult {
	done := d.pendingResults
	d.pendingResults = nil
	for _, l := range d.queues {
		done = append(done, l.takeResults()...)
	}
	return done
}

func (d *dispatcher) markRecorded(now clockReading) {
	byLane := map[*endpointQueue][]ports.WebhookResult{}
	for _, done := range d.pendingResults {
		l := d.queues[done.Event.Platform]
		byLane[l] = append(byLane[l], done)
	}
	for l, done := range byLane {
		l.markRecorded(now, done)
	}
	d.pendingResults = nil
}

// wait returns when something is due or the bell rings, and tells whether there are
// new events.
func (d *dispatcher) wait(ctx context.Context, stopping bool) (bool, error) {
	now := d.service.readClocks()
	next := d.nextScan
	for _, l := range d.queues {
		next = earlier(next, l.nextTurn(now))
	}
	pause := min(max(next.Sub(now.machine), 0), pollInterval)
	if stopping {
		pause, ctx = min(pause, minTurnInterval), context.WithoutCancel(ctx)
	}
	// Whatever is due, what comes within a moment goes with it.
	if rest := minTurnInterval - now.machine.Sub(d.lastTurn); rest > 0 && rest <= minTurnInterval {
		select {
		case <-time.After(rest):
		case <-ctx.Done():
		}
		pause = max(pause-rest, 0)
	}
	events, err := d.service.wakeup.wait(ctx, pause, d.session.Wait)
	d.lastTurn = time.Now()
	return events, err
}

func (d *dispatcher) stopQueues() {
	for _, l := range d.queues {
		l.stop()
	}
}

func (d *dispatcher) isSending() bool {
	for _, l := range d.queues {
		if l.isSending() {
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
