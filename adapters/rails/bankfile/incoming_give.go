package bankfile

import (
	"context"
	"fmt"
	"time"

	"causeway/core/bankorder"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ports"
)

// piece is what is collected of a file in one poll.
type piece struct {
	a      *Adapter
	lease  ports.Lease
	r      *reading
	report *ports.RailReport
	until  time.Time
	// reports are about our orders. A credit that is about one is the receipt of instead, by its place, if there is no such order.
	reports []OrderReport
	instead map[string]ports.RailReceipt
	// named are the receipts whose names have to be kept, in case they are taken back.
	named []Receipt
}

// give passes on the items of a file after a position. It returns the position after them, and whether the file has ended
// before.
func (a *Adapter) give(ctx context.Context, lease ports.Lease, r *reading, from position, report *ports.RailReport,
	until time.Time) (position, bool, error) {
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
	case it.whole:
		return true, p.takeStatement(ctx, "file", "MT940")
	case it.status != nil:
		return p.takeStatus(ctx, *it.status)
	case it.returns != nil:
		p.takeReturn(*it.returns)
	case it.change != nil:
		p.takeChange(*it.change)
	case it.balance != nil:
		p.takeBalance(*it.report, *it.balance)
	case it.entry != nil:
		return true, p.takePayment(ctx, *it.report, *it.entry, it.entry.Payments[it.payment], fmt.Sprintf("entry %d, payment %d, line %d",
			it.number, it.payment+1, it.entry.Line))
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
	for i, r := range p.reports {
		r.PartnerID, r.Code, r.Text = clean(r.PartnerID), clean(r.Code), clean(r.Text)
		for name, value := range r.Correction {
			r.Correction[name] = clean(value)
		}
		p.reports[i] = r
	}
	notices, fees, err := p.a.store.ReportOrders(ctx, p.lease, p.r.file.Number, p.reports, p.a.clock.Now())
	if err != nil {
		return err
	}
	p.report.Fees = append(p.report.Fees, fees...)
	for _, n := range notices {
		p.a.logNotice(n, "")
		receipt, credited := p.instead[n.Place]
		if credited { // it has come, whatever it is of
			p.report.Receipts = append(p.report.Receipts, receipt)
		}
		if needsAnswer(n.Kind) && !(credited && n.Kind == bankorder.UnknownPayment) {
			p.report.Contradictions = append(p.report.Contradictions, contradictionOf(n, credited))
		}
	}
	p.reports, p.instead = nil, map[string]ports.RailReceipt{}
	return nil
}

// notice keeps what an operator has to look at in the file.
func (p *piece) notice(ctx context.Context, kind bankorder.NoticeKind, place, name, code, problem string) error {
	n := bankorder.Notice{Connection: p.a.connection.Name, File: p.r.file.Number, Place: place, Kind: kind, Name: name, Code: code}
	if needsAnswer(kind) {
		p.report.Contradictions = append(p.report.Contradictions,
			rail.Contradiction{Name: name, Reported: rail.Said{State: string(kind), Code: code}, Problem: problem})
	}
	return p.a.keepNotice(ctx, p.lease, n, problem)
}

// contradict keeps a contradiction, and a notice of it in the file.
func (p *piece) contradict(ctx context.Context, c rail.Contradiction, place string) error {
	p.report.Contradictions = append(p.report.Contradictions, c)
	n := bankorder.Notice{Connection: p.a.connection.Name, File: p.r.file.Number, Place: place, Kind: bankorder.Contradiction, Name: c.Name}
	return p.a.keepNotice(ctx, p.lease, n, c.Problem)
}

// needsAnswer reports whether a notice is about money of which somebody has to decide.
func needsAnswer(kind bankorder.NoticeKind) bool {
	switch kind {
	case bankorder.UnknownPayment, bankorder.Contradiction, bankorder.DuplicateFile, bankorder.OtherCurrency:
		return true
	default: // nothing of it was used, or nothing has moved
		return false
	}
}

// contradictionOf returns what a notice says about an order, with what is recorded of it. credited: the money is unmatched funds.
func contradictionOf(n bankorder.Notice, credited bool) rail.Contradiction {
	r := n.Report
	c := rail.Contradiction{Name: n.Name, Reported: rail.Said{State: string(r.State), At: r.At, Amount: r.Amount, PartnerID: r.PartnerID,
		Code: n.Code, Text: r.Text}}
	if n.Kind == bankorder.DuplicateFile {
		c.Reported.State = string(n.Kind)
	}
	c.Problem = fmt.Sprintf("the bank says %s of %s, which is none of ours: ask it which payment that is", c.Reported.State, n.Name)
	if o := n.Order; o != nil {
		c.Platform, c.Kind, c.Subject = o.Platform, rail.Kind(o.Kind), o.Subject
		c.Recorded = rail.Said{State: string(o.State), At: o.QueuedAt, Amount: o.Amount, PartnerID: o.PartnerID, Code: o.Code, Text: o.Text}
		for _, at := range []time.Time{o.AcceptedAt, o.SettledAt, o.ReturnedAt} {
			if !at.IsZero() {
				c.Recorded.At = at
			}
		}
		c.Problem = fmt.Sprintf("the %s %s of %s is recorded as %s, and the bank says now %s", c.Kind.Word(), n.Name, o.Amount,
			o.State, c.Reported.State)
		if r.Amount != (money.Amount{}) {
			c.Problem += " of " + r.Amount.String()
		}
		c.Problem += ": ask it where the money is"
	}
	if credited {
		c.Problem += "; what was credited is in unmatched funds"
	}
	return c
}
