package period

import (
	"time"

	"causeway/ledger"
)

// Calendar says where the months of a platform's books stand. The zero Calendar has
// every month open.
//
// It begins with the first month that is ever held. What is effective before that month
// is no month's: it is what the month opens with, and nothing is added to it.
type Calendar struct {
	// First is the month that the calendar begins with; zero when none was ever held.
	First Month
	// Closed is the first month that is not closed, Open the first that is not held:
	// First ≤ Closed ≤ Open, all zero or none.
	Closed, Open Month
}

// Begun tells whether any month is held or closed.
func (c Calendar) Begun() bool { return !c.First.IsZero() }

// State is the state of a month. What lies before the calendar counts as closed.
func (c Calendar) State(m Month) State {
	switch {
	case m.Before(c.Closed):
		return Closed
	case m.Before(c.Open):
		return Held
	default:
		return Open
	}
}

// Takes is the earliest moment at which a posting may be effective: an authorised one in
// the first month that is not closed, any other in the first that is not held. The zero
// time says that there is no limit.
func (c Calendar) Takes(authorised bool) time.Time {
	if authorised {
		return c.Closed.Start()
	}
	return c.Open.Start()
}

// Place is the posting as the books take it: as it is, or moved to the earliest moment
// that takes it.
func (c Calendar) Place(p ledger.Posting, authorised bool) ledger.Posting {
	if earliest := c.Takes(authorised); p.Effective.Before(earliest) {
		return p.MovedTo(earliest)
	}
	return p
}

// Do carries out an action on a month, or answers CONFLICT and why: the month is not
// over, it is not in the state for it, or another month comes first.
func (c Calendar) Do(a Action, m Month, now time.Time) (Calendar, error) {
	if c.Begun() && m.Before(c.First) {
		return c, conflict("Before the first month", "The books' months begin with %s; what is effective before is what it opens with.", c.First)
	}
	if _, err := c.State(m).Next(a); err != nil {
		return c, err
	}
	switch a {
	case Hold:
		return c.hold(m, now)
	case Reopen:
		return c.reopen(m)
	default:
		return c.close(m)
	}
}

func (c Calendar) hold(m Month, now time.Time) (Calendar, error) {
	if now.Before(m.End()) {
		return c, conflict("Month is not over", "%s is not over; it can be held from %s on.", m, m.End().Format(time.RFC3339))
	}
	if !c.Begun() {
		return Calendar{First: m, Closed: m, Open: m.Next()}, nil
	}
	if m != c.Open {
		return c, conflict("Out of order", "Months are held in their order: hold %s first.", c.Open)
	}
	c.Open = m.Next()
	return c, nil
}

func (c Calendar) reopen(m Month) (Calendar, error) {
	if last := c.Open.Previous(); m != last {
		return c, conflict("Out of order", "Months are reopened in the order in which they were held, backwards: reopen %s first.", last)
	}
	if c.Open = m; c.Open == c.First {
		return Calendar{}, nil
	}
	return c, nil
}

func (c Calendar) close(m Month) (Calendar, error) {
	if m != c.Closed {
		return c, conflict("Out of order", "Months are closed in their order: close %s first.", c.Closed)
	}
	c.Closed = m.Next()
	return c, nil
}
