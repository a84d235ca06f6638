package webhooks

import (
	"context"
	"errors"
	"time"

	"causeway/core/ident"
	"causeway/ports"
)

const (
	// pollInterval is how often the queue is scanned without notifications.
	pollInterval = 250 * time.Millisecond
	// minTurnInterval is the minimum time between two exchanges with the database. What arrives
	// in between is sent together.
	minTurnInterval = 2 * time.Millisecond
	// maxRecordDelay is how long an outcome may stay unrecorded, and recordBatchSize how many may.
	// After a crash those events are sent a second time. Each recording is a commit.
	maxRecordDelay  = 25 * time.Millisecond
	recordBatchSize = 256
	// busyWindow is how long a platform counts as busy after activity. Its events are then fetched
	// on every notification.
	busyWindow = time.Second
	// idleTimeout is how long a platform without events is kept.
	idleTimeout = 10 * time.Second
	// fullScanInterval is how often the queue of a platform is read from its beginning, not from
	// the watermark of the session.
	fullScanInterval = time.Minute
	// minScanInterval is the minimum time between two scans of the whole queue. After a scan the
	// dispatcher waits at least scanBackoffFactor times as long as the scan took.
	minScanInterval   = 25 * time.Millisecond
	scanBackoffFactor = 20
	// maxClaims is how many platforms a process claims in one turn, so that other processes get
	// some.
	maxClaims = 64
	// sessionTimeout is the time limit of one turn with the database. A session that exceeds it is
	// closed.
	sessionTimeout = 15 * time.Second
)

// dispatcher exchanges events and outcomes with the database for all endpoint queues of a session:
// their outcomes are recorded in one commit, and their events fetched in one round trip.
type dispatcher struct {
	service     *Service
	session     ports.WebhookSession
	deliveryCtx context.Context // the context of deliveries; cancelled when the session ends
	queues      map[ident.Platform]*endpointQueue
	// releasedBreakers are the circuit breakers of platforms that were released while their endpoint
	// failed, to make room for others.
	releasedBreakers map[ident.Platform]circuitBreaker
	// panicked receives the panic of a worker, which ends the session.
	panicked chan error

	turns          int
	lastTurn       time.Time
	lastScan       time.Time
	nextScan       time.Time
	pendingResults []ports.WebhookResult // taken from the queues and not recorded yet
}

// serve runs turns until ctx is done and no delivery runs any more.
func (d *dispatcher) serve(ctx context.Context) error {
	var deadline time.Time
	var latest news
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
		d.takeCommitted(now, &latest)
		if err := d.runTurn(now, latest.newEvents, stopping); err != nil {
			return err
		}
		d.turns++
		var err error
		if latest, err = d.wait(ctx, stopping); err != nil {
			return err
		}
		if latest.changed {
			return errDatabaseChanged
		}
		select {
		case err := <-d.panicked:
			return err
		default:
		}
	}
}

var errDatabaseChanged = errors.New("the database was started again or replaced, so numbers of events may be given again")

// takeCommitted adds the events that were handed over to their queues. Those that have to be fetched are noted as new.
func (d *dispatcher) takeCommitted(now clockReading, latest *news) {
	added := map[*endpointQueue]bool{}
	for _, e := range latest.committed {
		if q := d.queues[e.Platform]; q != nil && q.addCommitted(now, e) {
			added[q] = true
		} else {
			latest.mayHave(e.Platform)
		}
	}
	for q := range added {
		q.resume(d.deliveryCtx)
	}
}

// runTurn scans the queue if that is due, and exchanges outcomes and events.
func (d *dispatcher) runTurn(now clockReading, newEvents map[ident.Platform]bool, stopping bool) error {
	ctx, cancel := context.WithTimeout(d.deliveryCtx, sessionTimeout)
	defer cancel()
	scanDue := !now.machine.Before(d.nextScan)
	unknown := d.needsScan(now, newEvents)
	if !stopping && (scanDue || unknown && now.machine.Sub(d.lastScan) >= minScanInterval) {
		if err := d.scan(ctx, now, scanDue); err != nil {
			return err
		}
	} else if unknown {
		d.nextScan = earlier(d.nextScan, d.lastScan.Add(minScanInterval))
	}
	return d.exchange(ctx, now, func(p ident.Platform) bool { return scanDue || newEvents[p] }, stopping)
}

// needsScan reports whether a platform has new events that are not fetched without a scan.
func (d *dispatcher) needsScan(now clockReading, newEvents map[ident.Platform]bool) bool {
	for p := range newEvents {
		if q := d.queues[p]; q == nil || !q.isPolling(now) {
			return true
		}
	}
	return false
}

// exchange records outcomes if enough wait or for long enough, and fetches the events that the
// queues have capacity for.
func (d *dispatcher) exchange(ctx context.Context, now clockReading, newEvents func(ident.Platform) bool, stopping bool) error {
	var fetches []ports.WebhookFetch
	var fetching []*endpointQueue
	count, oldest := 0, now.machine
	for _, q := range d.queues {
		if fetch, ok := q.nextFetch(now, newEvents(q.platform)); ok && !stopping {
			fetches, fetching = append(fetches, fetch), append(fetching, q)
		}
		n, since := q.pendingResults()
		if count += n; n > 0 {
			oldest = earlier(oldest, since)
		}
	}
	if count >= recordBatchSize || count > 0 && (stopping || now.machine.Sub(oldest) >= maxRecordDelay) {
		d.pendingResults = d.collectResults()
	}
	if len(d.pendingResults) == 0 && len(fetches) == 0 {
		return nil
	}
	due, err := d.session.Exchange(ctx, now.service, d.pendingResults, fetches)
	if err != nil {
		return err
	}
	d.markRecorded(now)
	for i, q := range fetching {
		q.setEndpoint(due[i].Endpoint)
		q.addEvents(d.deliveryCtx, now, fetches[i], due[i])
	}
	return nil
}

// collectResults takes all outcomes from the queues, after those taken before.
func (d *dispatcher) collectResults() []ports.WebhookResult {
	results := d.pendingResults
	d.pendingResults = nil
	for _, q := range d.queues {
		results = append(results, q.takeResults()...)
	}
	return results
}

func (d *dispatcher) markRecorded(now clockReading) {
	byQueue := map[*endpointQueue][]ports.WebhookResult{}
	for _, r := range d.pendingResults {
		q := d.queues[r.Event.Platform]
		byQueue[q] = append(byQueue[q], r)
	}
	for q, results := range byQueue {
		q.markRecorded(now, results)
	}
	d.pendingResults = nil
}

// wait returns when something is due or the dispatcher is woken, and returns why.
func (d *dispatcher) wait(ctx context.Context, stopping bool) (news, error) {
	now := d.service.readClocks()
	next := d.nextScan
	for _, q := range d.queues {
		next = earlier(next, q.nextTurn(now))
	}
	pause := min(max(next.Sub(now.machine), 0), pollInterval)
	if stopping {
		pause, ctx = min(pause, minTurnInterval), context.WithoutCancel(ctx)
	}
	// Outcomes and events that arrive within minTurnInterval are exchanged together.
	if rest := minTurnInterval - now.machine.Sub(d.lastTurn); rest > 0 && rest <= minTurnInterval {
		select {
		case <-time.After(rest):
		case <-ctx.Done():
		}
		pause = max(pause-rest, 0)
	}
	latest, err := d.service.wakeup.wait(ctx, pause, d.session.Wait)
	d.lastTurn = time.Now()
	return latest, err
}

// endSession ends the session because a worker panicked.
func (d *dispatcher) endSession(err error) {
	select {
	case d.panicked <- err:
	default: // another worker panicked too
	}
	d.service.wakeup.wake()
}

func (d *dispatcher) stopQueues() {
	for _, q := range d.queues {
		q.stop()
	}
}

func (d *dispatcher) isSending() bool {
	for _, q := range d.queues {
		if q.isSending() {
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
