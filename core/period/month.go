package period

import (
	"cmp"
	"errors"
	"time"
)

// Month is a calendar month of UTC. The zero Month is none.
type Month struct {
	year  int
	month time.Month
}

// Earliest is the first month that books can have.
var Earliest = Month{2000, time.January}

// MonthOf is the month that a moment lies in.
func MonthOf(t time.Time) Month {
	t = t.UTC()
	return Month{t.Year(), t.Month()}
}

// ErrInvalidMonth says that a text is no month.
var ErrInvalidMonth = errors.New("must be a month of the form YYYY-MM, 2000-01 or later")

// ParseMonth reads a month as String writes it.
func ParseMonth(text string) (Month, error) {
	t, err := time.Parse("2006-01", text)
	if err != nil || MonthOf(t).Before(Earliest) {
		return Month{}, ErrInvalidMonth
	}
	return MonthOf(t), nil
}

// String is the month as in "2026-10"; empty for the zero month.
func (m Month) String() string {
	if m.IsZero() {
		return ""
	}
	return m.Start().Format("2006-01")
}

// IsZero tells whether there is no month.
func (m Month) IsZero() bool { return m == Month{} }

// Start is the first moment of the month; the zero time for the zero month.
func (m Month) Start() time.Time {
	if m.IsZero() {
		return time.Time{}
	}
	return time.Date(m.year, m.month, 1, 0, 0, 0, 0, time.UTC)
}

// End is the first moment after the month.
func (m Month) End() time.Time { return m.Next().Start() }

// Next is the month after.
func (m Month) Next() Month { return m.addMonths(1) }

// Previous is the month before.
func (m Month) Previous() Month { return m.addMonths(-1) }

func (m Month) addMonths(months int) Month {
	return MonthOf(time.Date(m.year, m.month+time.Month(months), 1, 0, 0, 0, 0, time.UTC))
}

// Compare orders months by time, the zero month first.
func (m Month) Compare(other Month) int {
	return cmp.Or(cmp.Compare(m.year, other.year), cmp.Compare(m.month, other.month))
}

// Before tells whether the month is earlier than another.
func (m Month) Before(other Month) bool { return m.Compare(other) < 0 }
