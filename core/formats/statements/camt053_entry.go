package statements

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"causeway/core/formats/iso20022"
	"causeway/core/money"
	"causeway/core/reconcile"
)

// Entry implements iso20022.StatementVisitor. It adds an entry: one line for each of its payments if their
// amounts are known exactly, and one line for the entry otherwise.
func (c *camtParser) Entry(_ *iso20022.WrittenReport, e *iso20022.WrittenEntry) error {
	if e.OwnStatus {
		return reconcile.InvalidFile("line %d: an entry has the status %.40q, which is none of ISO 20022", e.Line, e.Status)
	}
	if e.Status == "" && c.statement.withoutStatus == 0 {
		c.statement.withoutStatus = e.Line
	}
	if e.Status != "BOOK" && e.Status != "" {
		if err := c.beginStatementAccount(e.Amount.Currency); err != nil {
			return err
		}
		c.current.Ignored++
		return nil
	}
	l := reconcile.Line{ServicerReference: e.ServicerReference, Description: e.Text, Returned: e.Reversal}
	for _, r := range e.BatchReferences {
		addReference(&l, r)
	}
	if err := c.setDays(&l, e); err != nil {
		return err
	}
	if err := c.beginStatementAccount(e.Amount.Currency); err != nil {
		return err
	}
	total, err := c.parseEntryAmount("an entry", e.Amount, e.Line)
	if err != nil {
		return err
	}
	if c.statement.sum, err = money.AddMinor(c.statement.sum, total); err != nil {
		return sumTooLargeError()
	}
	if amounts := c.detailAmounts(e, total); amounts != nil {
		for i, amount := range amounts {
			if err := c.addLine(detailLine(l, e.Payments[i], amount, i+1)); err != nil {
				return err
			}
		}
		return nil
	}
	l.Amount = total
	addReference(&l, e.Reference)
	for i := range e.Payments {
		d := &e.Payments[i]
		if l.ServicerReference == "" && len(e.Payments) == 1 {
			l.ServicerReference = d.ServicerReference
		}
		addReference(&l, d.ServicerReference)
		for _, r := range d.References {
			addReference(&l, r)
		}
		if len(l.Description) < reconcile.MaxDescription {
			l.Description = strings.TrimSpace(l.Description + " " + d.Description)
		}
		l.Returned = l.Returned || d.Returned
	}
	return c.addLine(l)
}

// setDays sets the days of a line of an entry. Without its own it has that of the statement, if that is of a single day. One
// that is only valued is booked by the end of the statement, whenever its funds are available.
func (c *camtParser) setDays(l *reconcile.Line, e *iso20022.WrittenEntry) error {
	for _, day := range []struct {
		to      *reconcile.Day
		written time.Time
	}{{&l.Booked, e.Booked}, {&l.Value, e.Value}} {
		if *day.to = dayOf(day.written); *day.to == reconcile.NoDay && !day.written.IsZero() {
			return reconcile.InvalidFile("line %d: %q is not a date", e.Line, day.written.Format(time.DateOnly))
		}
	}
	if l.Booked == reconcile.NoDay {
		if err := c.statement.readPeriod(); err != nil {
			return err
		}
		if l.Booked = cmp.Or(l.Value, c.statement.onlyDay()); l.Booked == reconcile.NoDay {
			return reconcile.InvalidFile("line %d: an entry has no date, and the statement is not of a single day", e.Line)
		}
		l.ValuedOnly = l.Value != reconcile.NoDay
		if _, to, closing := c.statement.days(); max(to, closing) != reconcile.NoDay {
			l.Booked = min(l.Booked, max(to, closing))
		}
	}
	l.Value = cmp.Or(l.Value, l.Booked)
	return nil
}

// detailAmounts returns the amounts of the payments of an entry, if it has several that each have an
// amount in the account's currency and together add up to the entry; otherwise nil.
func (c *camtParser) detailAmounts(e *iso20022.WrittenEntry, total int64) []int64 {
	if len(e.Payments) < 2 {
		return nil
	}
	var sum int64
	amounts := make([]int64, len(e.Payments))
	for i := range e.Payments {
		stated := e.Payments[i].Amount
		stated.Side = cmp.Or(stated.Side, e.Amount.Side)
		amount, err := c.parseEntryAmount("", stated, e.Line)
		if err != nil || amount == 0 {
			return nil
		}
		amounts[i] = amount
		if sum, err = money.AddMinor(sum, amount); err != nil {
			return nil
		}
	}
	if sum != total {
		return nil
	}
	return amounts
}

// detailLine returns the line of the n-th payment of an entry.
func detailLine(entry reconcile.Line, d iso20022.WrittenPayment, amount int64, n int) reconcile.Line {
	l := reconcile.Line{Booked: entry.Booked, Value: entry.Value, Amount: amount, ServicerReference: d.ServicerReference,
		Description: cmp.Or(d.Description, entry.Description), Returned: d.Returned || entry.Returned}
	if l.ServicerReference == "" && entry.ServicerReference != "" {
		l.ServicerReference = fmt.Sprintf("%s#%d", entry.ServicerReference, n)
	}
	for _, references := range [][]string{d.References, entry.References} {
		for _, r := range references {
			addReference(&l, r)
		}
	}
	return l
}
