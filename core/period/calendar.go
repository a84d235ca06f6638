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
	// FirstUnclosed is the first month that is not closed, Open the first that is not held:
	// First ≤ Closed ≤ Open, all zero or none.
	FirstUnclosed, FirstOpen Month
}

// Started tells whether any month is held or closed.
func (c Calendar) Started() bool { return !c.First.IsZero() }

// State is the state of a month. What lies before the calendar counts as closed.
func (c Calendar) State(m Month) State {
	switch {
	case m.Before(c.FirstUnclosed):
		return Closed
	case m.Before(c.FirstOpen):
		return SoftClosed
	default:
		return Open
	}
}

// EarliestEffective is the earliest moment at which a posting may be effective: an authorised one in
// the first month that is not closed, any other in the first that is not held. The zero
// time says that there is no limit.
func (c Calendar) EarliestEffective(authorised bool) time.Time {
	if authorised {
		return c.FirstUnclosed.Start()
	}
	return c.FirstOpen.Start()
}

// Redate is the posting as the books take it: as it is, or moved to the earliest moment
// that takes it.
func (c Calendar) Redate(p ledger.Posting, authorised bool) ledger.Posting {
	if earliest := c.EarliestEffective(authorised); p.Effective.Before(earliest) {
		return p.Redate(earliest)
	}
	return p
}

// Apply carries out an action on a month, or answers CONFLICT and why: the month is not
// over, it is not in the state for it, or another month comes first.
func (c Calendar) Apply(a Action, m Month, now time.Time) (Calendar, error) {
	if c.Started() && m.Before(c.First) {
		return c, conflict("Before the first month", "The books' months begin with %s; what is effective before is what it opens with.", c.First)
	}
	if _, err := c.State(m).Next(a); err != nil {
		return c, err
	}
	switch a {
	case SoftClose:
		return c.softClose(m, now)
	case Reopen:
		return c.reopen(m)
	default:
		return c.close(m)
	}
}

func (c Calendar) softClose(m Month, now time.Time) (Calendar, error) {
	if now.Before(m.End()) {
		return c, conflict("Month is not over", "%s is not over; it can be held from %s on.", m, m.End().Format(time.RFC3339))
	}
	if !c.Started() {
		return Calendar{First: m, FirstUnclosed: m, FirstOpen: m.Next()}, nil
	}
	if m != c.FirstOpen {
		return c, conflict("Out of order", "Months are held in their order: hold %s first.", c.FirstOpen)
	}
	c.FirstOpen = m.Next()
	return c, nil
}

func (c Calendar) reopen(m Month) (Calendar, error) {
	if last := c.FirstOpen.Previous(); m != last {
		return c, conflict("Out of order", "Months are reopened in the order in which they were held, backwards: reopen %s first.", last)
	}
	if c.FirstOpen = m; c.FirstOpen == c.First {
		return Calendar{}, nil
	}
	return c, nil
}

func (c Calendar) close(m Month) (Calendar, error) {
	if m != c.FirstUnclosed {
		return c, conflict("Out of order", "Months are closed in their order: close %s first.", c.FirstUnclosed)
	}
	c.FirstUnclosed = m.Next()
	return c, nil
}
