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
}

// Poll implements ports.RailFeed. Files are delivered and read by the process that has the lease; what has changed of
// orders is reported by every process. A problem with one of these does not stop the others: it is returned when there is
// nothing else to return.
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
	now := a.clock.Now()
	a.leased = true
	lease, held, err := a.store.TakeBankLease(ctx, a.connection.Name, a.holder, now, now.Add(leaseTime))
	if err != nil {
		return ports.RailReport{}, err
	}
	var report ports.RailReport
	var problem error
	next := at
	if held {
		next.position, problem = a.work(ctx, lease, at.position, &report)
	}
	var changed bool
	if report.Changed, next.News, err = a.store.ChangedBankOrders(ctx, a.connection.Name, at.News, pieceSize); err != nil {
		return ports.RailReport{}, errors.Join(problem, err)
	}
	changed = len(report.Changed) > 0
	if problem != nil && !changed && next == at {
		return ports.RailReport{}, problem
	}
	if problem != nil {
		a.log.WithError(problem).Error("cannot exchange files with the bank; will retry")
	}
	text, err := json.Marshal(next)
	if err != nil {
		return ports.RailReport{}, err
	}
	report.Cursor, report.More = string(text), report.More || problem != nil || len(report.Changed) == pieceSize
	return report, nil
}

// work does what needs the lease: deliver, read, settle. After an error it has added nothing to the report, and returns
// the position that it was given.
func (a *Adapter) work(ctx context.Context, lease ports.BankLease, from position, report *ports.RailReport) (position, error) {
	moreToSend, sending := a.send(ctx, lease)
	before := *report
	next, moreToRead, reading := a.readIncoming(ctx, lease, from, report)
	if reading != nil {
		next, *report = from, before
	}
	moreToSettle, settling := a.settleDue(ctx, lease)
	report.More = moreToSend || moreToRead || moreToSettle
	problem := errors.Join(sending, reading, settling)
	if errors.Is(problem, ports.ErrBankLeaseLost) {
		a.log.Info("another process has taken over the files of the bank")
		return next, nil
	}
	return next, problem
}

// settleDue settles the orders of files whose time without a return has passed.
func (a *Adapter) settleDue(ctx context.Context, lease ports.BankLease) (more bool, err error) {
	n, err := a.store.SettleDueBankOrders(ctx, lease, a.clock.Now(), pieceSize)
	return n == pieceSize, err
}
