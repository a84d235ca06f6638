package financials

import (
	"time"

	"causeway/core/period"
	"causeway/core/yearend"
)

// Span is how long a statement reaches back from its last month.
type Span string

// The spans.
const (
	OneMonth      Span = "MONTH"
	QuarterToDate Span = "QUARTER_TO_DATE"
	YearToDate    Span = "YEAR_TO_DATE"
)

// Spans returns every span.
func Spans() []Span { return []Span{OneMonth, QuarterToDate, YearToDate} }

// Period is consecutive months, both included.
type Period struct{ From, To period.Month }

// IsZero reports whether there is no such period.
func (p Period) IsZero() bool { return p == Period{} }

// String returns "2026-10", or "2026-07..2026-09".
func (p Period) String() string {
	switch {
	case p.IsZero():
		return ""
	case p.From == p.To:
		return p.To.String()
	}
	return p.From.String() + ".." + p.To.String()
}

// Periods returns the period of a span that ends with a month, the one before it, and that of the year before. The year to date has none
// before it but that of the year before. Quarters are those of the financial year.
func Periods(s Span, m period.Month, yearEnd time.Month) (current, before, yearBefore Period) {
	first := yearend.OfMonth(m, yearEnd).First()
	switch s {
	case QuarterToDate:
		for later := first; !m.Before(later); later = shifted(later, 3) {
			first = later
		}
		current = Period{first, m}
		before = Period{shifted(first, -3), shifted(m, -3)}
	case YearToDate:
		current = Period{first, m}
	default:
		current, before = Period{m, m}, Period{m.Previous(), m.Previous()}
	}
	return current, before, Period{shifted(current.From, -12), shifted(m, -12)}
}

func shifted(m period.Month, months int) period.Month {
	return period.MonthOf(m.Start().AddDate(0, months, 0))
}
