package period

import (
	"cmp"
	"errors"
	"time"
)

// Month is a calendar month in UTC. The zero Month is no month.
type Month struct {
	year  int
	month time.Month
}

// Earliest is the first month that a ledger can have.
var Earliest = Month{2000, time.January}

// MonthOf returns the month that contains t.
func MonthOf(t time.Time) Month {
	t = t.UTC()
	return Month{t.Year(), t.Month()}
}

// ErrInvalidMonth is the error of ParseMonth.
var ErrInvalidMonth = errors.New("must be a month of the form YYYY-MM, 2000-01 or later")

// ParseMonth parses a month in the form that String returns.
func ParseMonth(text string) (Month, error) {
	t, err := time.Parse("2006-01", text)
	if err != nil || MonthOf(t).Before(Earliest) {
		return Month{}, ErrInvalidMonth
	}
	return MonthOf(t), nil
}

// String returns the month as in "2026-10", and the empty string for the zero Month.
func (m Month) String() string {
	if m.IsZero() {
		return ""
	}
	return m.Start().Format("2006-01")
}

// IsZero reports whether m is no month.
func (m Month) IsZero() bool { return m == Month{} }

// Start returns the first time in the month, and the zero time for the zero Month.
func (m Month) Start() time.Time {
	if m.IsZero() {
		return time.Time{}
	}
	return time.Date(m.year, m.month, 1, 0, 0, 0, 0, time.UTC)
}

// End returns the first time after the month.
func (m Month) End() time.Time { return m.Next().Start() }

// Next returns the month after m.
func (m Month) Next() Month { return m.addMonths(1) }

// Previous returns the month before m.
func (m Month) Previous() Month { return m.addMonths(-1) }

func (m Month) addMonths(months int) Month {
	return MonthOf(time.Date(m.year, m.month+time.Month(months), 1, 0, 0, 0, 0, time.UTC))
}

// Compare orders months by time. The zero Month comes first.
func (m Month) Compare(other Month) int {
	return cmp.Or(cmp.Compare(m.year, other.year), cmp.Compare(m.month, other.month))
}

// Before reports whether m is earlier than other.
func (m Month) Before(other Month) bool { return m.Compare(other) < 0 }
