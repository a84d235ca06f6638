package period

import "time"

// Interval is a range of time, half open: From <= t < To. A zero bound is open, so the
// zero Interval is all of time.
type Interval struct{ From, To time.Time }

// Contains reports whether a time is in the interval.
func (i Interval) Contains(t time.Time) bool {
	return (i.From.IsZero() || !t.Before(i.From)) && (i.To.IsZero() || t.Before(i.To))
}

// IsEmpty reports whether no time is in the interval.
func (i Interval) IsEmpty() bool {
	return !i.From.IsZero() && !i.To.IsZero() && !i.From.Before(i.To)
}

// IsUnbounded reports whether every time is in the interval.
func (i Interval) IsUnbounded() bool { return i.From.IsZero() && i.To.IsZero() }

// timeResolution is the resolution of stored times.
const timeResolution = time.Microsecond

// BeforeFrom returns the last time before the interval, at the resolution of stored
// times, or the zero time if the interval has no lower bound.
func (i Interval) BeforeFrom() time.Time { return justBefore(i.From) }

// Last returns the last time in the interval, at the resolution of stored times, or the
// zero time if the interval has no upper bound.
func (i Interval) Last() time.Time { return justBefore(i.To) }

func justBefore(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(-timeResolution)
}
