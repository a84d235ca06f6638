package bankfile

import (
	"context"
	"fmt"
	"time"

	"causeway/core/bankorder"
	"causeway/ports"
)

// piece is what is collected of a file in one poll.
type piece struct {
	a      *Adapter
	lease  ports.BankLease
	r      *reading
	report *ports.RailReport
	until  time.Time
	// reports are about our orders. A credit that is about one is the receipt of instead, by its place, if there is no such order.
	reports []ports.BankOrderReport
	instead map[string]ports.RailReceipt
	// named are the receipts whose names have to be kept, in case they are taken back.
	named []ports.BankReceipt
}

// give passes on the items of a file after a position. It returns the position after them, and whether the file has ended
// before.
func (a *Adapter) give(ctx context.Context, lease ports.BankLease, r *reading, from position, report *ports.RailReport, until time.Time) (position, bool, error) {
	if r.next == nil || r.given > from.Position {
		r.rewind(r.format.items)
	}
	for r.given < from.Position {
		if _, some, err := r.take(); err != nil || !some {
			return from, !some && err == nil, err
		}
		if r.given%100 == 0 && time.Now().After(until) {
			return from, false, nil // it is gone on from here
		}
	}
	p := &piece{a: a, lease: lease, r: r, report: report, until: until, instead: map[string]ports.RailReceipt{}}
	taken := 0
	for ; taken < maxPiece && (taken == 0 || time.Now().Before(until)); taken++ {
		it, some, err := r.take()
		if err != nil {
			return from, false, err
		}
		if !some {
			break
		}
		complete, err := p.take(ctx, it)
		if err != nil {
			return from, false, err
		}
		if !complete {
			r.takeBack(it)
			break
		}
	}
	if err := p.apply(ctx); err != nil {
		return from, false, err
	}
	at := position{File: r.file.Number, Position: r.given}
	return at, taken == 0 && at == from && r.held == nil, nil
}

// take passes an item on. It returns false if that needs more time.
func (p *piece) take(ctx context.Context, it item) (bool, error) {
	switch {
	case it.status != nil:
		return p.takeStatus(ctx, *it.status)
	case it.returns != nil:
		p.takeReturn(*it.returns)
	case it.change != nil:
		p.takeChange(*it.change)
	case it.balance != nil:
		p.takeBalance(*it.report, *it.balance)
	case it.entry != nil:
		return true, p.takePayment(ctx, *it.report, *it.entry, it.entry.Payments[it.payment], fmt.Sprintf("entry %d, payment %d, line %d", it.number, it.payment+1, it.entry.Line))
	case it.report != nil:
		return true, p.takeReport(ctx, *it.report)
	}
	return true, nil
}

// apply stores what was reported about our orders, and adds the credits that are about none of them.
func (p *piece) apply(ctx context.Context) error {
	if err := p.keepNames(ctx); err != nil || len(p.reports) == 0 {
		return err
	}
	notices, fees, err := p.a.store.ReportBankOrders(ctx, p.lease, p.r.file.Number, p.reports, p.a.clock.Now())
	if err != nil {
		return err
	}
	p.report.Fees = append(p.report.Fees, fees...)
	for _, n := range notices {
		p.a.logNotice(n, "")
		if receipt, is := p.instead[n.Place]; is && n.Kind == bankorder.UnknownPayment {
			p.report.Receipts = append(p.report.Receipts, receipt)
		}
	}
	p.reports, p.instead = nil, map[string]ports.RailReceipt{}
	return nil
}

// notice keeps what an operator has to look at in the file.
func (p *piece) notice(ctx context.Context, kind bankorder.NoticeKind, place, name, code, problem string) error {
	return p.a.keepNotice(ctx, p.lease, bankorder.Notice{File: p.r.file.Number, Place: place, Kind: kind, Name: name, Code: code}, problem)
}
