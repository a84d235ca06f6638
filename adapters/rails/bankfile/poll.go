package bankfile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"causeway/ports"
)

const (
	// pollTimeout bounds a poll, so that its lease is held to its end. Sending leaves the rest of it to reading.
	pollTimeout = 55 * time.Second
	sendTimeout = 40 * time.Second
	leaseTime   = 2 * time.Minute
	// sendTime is after how long no further file is begun.
	sendTime = 15 * time.Second
	// pieceSize is how many changed or settled orders are taken at once.
	pieceSize = 1000
)

// cursor is how far a caller has been given what there is.
type cursor struct {
	// News is the number of the last change of an order.
	News int64 `json:"news"`
	position
}

// position is how far a caller has been given a file of the bank: its number, and a place in it.
type position struct {
	File     int64 `json:"file,omitempty"`
	Position int   `json:"position,omitempty"`
	// Aside: the file was given up, and the caller has kept it aside.
	Aside bool `json:"aside,omitempty"`
}

// pace is how often something is tried that does not work, so that it delays nothing else: at the pace of the feed at first,
// and then less and less often.
type pace struct {
	failures int
	retryAt  time.Time
	problem  error // the last one
}

const (
	// firstFailures is how many failures have no delay of their own.
	firstFailures = 3
	maxRetryDelay = 2 * time.Minute
)

// try does something unless it has failed and its time has not come. It returns the last problem as long as there is one.
func (p *pace) try(now time.Time, do func() (more bool, err error)) (more bool, err error) {
	if now.Before(p.retryAt) {
		return false, p.problem
	}
	more, err = do()
	if err == nil || errors.Is(err, ports.ErrLeaseLost) {
		*p = pace{}
		return more, err
	}
	p.problem, p.failures = err, p.failures+1
	if later := p.failures - firstFailures; later > 0 {
		p.retryAt = now.Add(min(5*time.Second<<min(later, 16), maxRetryDelay))
	}
	return false, err
}

// Poll implements ports.RailFeed. Files are delivered and read by the process that has the lease; what has changed of
// orders is reported by every process. What does not work of these delays nothing else: it is the problem of the report.
func (a *Adapter) Poll(ctx context.Context, from string) (ports.RailReport, error) {
	var at cursor
	if from != "" {
		if err := json.Unmarshal([]byte(from), &at); err != nil {
			return ports.RailReport{}, fmt.Errorf("cursor %q of connection %s: %w", from, a.connection.Name, err)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	ctx, cancel := context.WithTimeout(ports.ForAllPlatforms(ctx), pollTimeout)
	defer cancel()
	lease, held, err := a.lease(ctx)
	if err != nil {
		return ports.RailReport{}, err
	}
	var report ports.RailReport
	next := at
	if held {
		next.position, report.Problem = a.work(ctx, lease, at.position, &report)
	}
	if report.Changed, next.News, err = a.store.ChangedOrders(ctx, a.connection.Name, at.News, pieceSize); err != nil {
		return ports.RailReport{}, errors.Join(report.Problem, err)
	}
	text, err := json.Marshal(next)
	if err != nil {
		return ports.RailReport{}, err
	}
	report.Cursor, report.More = string(text), report.More || len(report.Changed) == pieceSize
	return report, nil
}

// lease extends the lease on the files, or takes it; false if another process has it.
func (a *Adapter) lease(ctx context.Context) (ports.Lease, bool, error) {
	if a.held.Fence > 0 {
		if err := a.store.Renew(ctx, a.held, leaseTime); !errors.Is(err, ports.ErrLeaseLost) {
			return a.held, err == nil, err
		}
	}
	lease, taken, err := a.store.Lease(ctx, a.connection.Name, leaseTime)
	if a.held = lease; !taken {
		a.held = ports.Lease{}
	}
	return a.held, taken, err
}

// work does what needs the lease: deliver, read, settle, each at a pace of its own. After an error in reading it returns the
// position that it was given, and no piece of a file.
func (a *Adapter) work(ctx context.Context, lease ports.Lease, from position, report *ports.RailReport) (position, error) {
	now := a.clock.Now()
	moreToSend, sending := a.sending.try(now, func() (bool, error) { return a.send(ctx, lease) })
	before, next := *report, from
	moreToRead, reading := a.incoming.try(now, func() (more bool, err error) {
		next, more, err = a.readIncoming(ctx, lease, from, report)
		return more, err
	})
	if reading != nil {
		next, *report = from, before
	}
	report.Raw, a.aside = append(report.Raw, a.aside...), nil
	moreToSettle, settling := a.settleDue(ctx, lease)
	report.More = moreToSend || moreToRead || moreToSettle
	problem := errors.Join(sending, reading, settling)
	if errors.Is(problem, ports.ErrLeaseLost) {
		a.log.Info("another process has taken over the files of the bank")
		return next, nil
	}
	return next, problem
}

// settleDue settles the orders of files whose time without a return has passed.
func (a *Adapter) settleDue(ctx context.Context, lease ports.Lease) (more bool, err error) {
	n, err := a.store.SettleDue(ctx, lease, a.clock.Now(), pieceSize)
	return n == pieceSize, err
}
