package period

import (
	"time"

	"causeway/ledger"
)

// Calendar holds the states of a platform's months. In the zero Calendar every month is
// open.
//
// A calendar begins with the first month that is soft-closed. Postings effective before it
// are the opening balances of that month, and no more are accepted.
type Calendar struct {
	// First is the month that the calendar begins with; zero before any soft close.
	First Month
	// FirstUnclosed is the first month that is not closed, FirstOpen the first that is open:
	// First <= FirstUnclosed <= FirstOpen. Either all are zero or none is.
	FirstUnclosed, FirstOpen Month
}

// Started reports whether any month is soft-closed or closed.
func (c Calendar) Started() bool { return !c.First.IsZero() }

// FirstMonth returns the first month that is listed: that of the calendar or, before it is started, the first one with a
// posting, which is zero if there is none, and at the latest the present one.
func (c Calendar) FirstMonth(firstPosted, now Month) Month {
	switch {
	case c.Started():
		return c.First
	case firstPosted.IsZero() || now.Before(firstPosted):
		return now
	case firstPosted.Before(Earliest):
		return Earliest
	default:
		return firstPosted
	}
}

// State returns the state of a month. Months before the calendar count as closed.
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

// EarliestEffective returns the earliest effective time of a new posting: the start of the
// first month that is not closed for an authorised posting, and of the first open month for
// any other. The zero time means no limit.
func (c Calendar) EarliestEffective(authorised bool) time.Time {
	if authorised {
		return c.FirstUnclosed.Start()
	}
	return c.FirstOpen.Start()
}

// Redate returns the posting as the ledger accepts it: unchanged, or with the earliest
// effective time that is accepted.
func (c Calendar) Redate(p ledger.Posting, authorised bool) ledger.Posting {
	if earliest := c.EarliestEffective(authorised); p.Effective.Before(earliest) {
		return p.Redate(earliest)
	}
	return p
}

// Apply returns the calendar after an action on a month. Fault: CONFLICT if the month is not
// over, is not in a state that allows the action, or another month comes first.
func (c Calendar) Apply(a Action, m Month, now time.Time) (Calendar, error) {
	if c.Started() && m.Before(c.First) {
		return c, conflict("Before the first month", "The first accounting period is %s; earlier postings are its opening balances.", c.First)
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
		return c, conflict("Month is not over", "%s is not over; soft-close it at %s or later.", m, m.End().Format(time.RFC3339))
	}
	if !c.Started() {
		return Calendar{First: m, FirstUnclosed: m, FirstOpen: m.Next()}, nil
	}
	if m != c.FirstOpen {
		return c, conflict("Out of order", "Months are soft-closed in order: soft-close %s first.", c.FirstOpen)
	}
	c.FirstOpen = m.Next()
	return c, nil
}

func (c Calendar) reopen(m Month) (Calendar, error) {
	if last := c.FirstOpen.Previous(); m != last {
		return c, conflict("Out of order", "Months are reopened in reverse order: reopen %s first.", last)
	}
	if c.FirstOpen = m; c.FirstOpen == c.First {
		return Calendar{}, nil
	}
	return c, nil
}

func (c Calendar) close(m Month) (Calendar, error) {
	if m != c.FirstUnclosed {
		return c, conflict("Out of order", "Months are closed in order: close %s first.", c.FirstUnclosed)
	}
	c.FirstUnclosed = m.Next()
	return c, nil
}
