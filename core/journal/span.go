package journal

import (
	"strings"
	"time"

	"causeway/core/fault"
	"causeway/core/period"
)

// Span is the day or the month that journals are made for, in UTC.
type Span struct {
	From, To time.Time // To is excluded
}

const monthLayout = "2006-01"

// ParseSpan parses a day, such as 2026-10-31, or a month, such as 2026-10. Fault: INVALID_INPUT.
func ParseSpan(text string) (Span, error) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return Span{day, day.AddDate(0, 0, 1)}, nil
	}
	if month, err := time.Parse(monthLayout, text); err == nil {
		return Span{month, month.AddDate(0, 1, 0)}, nil
	}
	return Span{}, fault.Invalid(fault.Field{Field: "span", Message: "must be a day of the form YYYY-MM-DD or a month of the form YYYY-MM"})
}

// IsMonth reports whether the span is a month.
func (s Span) IsMonth() bool { return s.To.Sub(s.From) > 24*time.Hour }

// String returns the span as ParseSpan reads it.
func (s Span) String() string {
	if s.IsMonth() {
		return s.From.Format(monthLayout)
	}
	return s.From.Format(time.DateOnly)
}

// LastDay returns the last day of the span, which the journals are dated.
func (s Span) LastDay() time.Time { return s.To.AddDate(0, 0, -1) }

// Month returns the month of the span.
func (s Span) Month() period.Month { return period.MonthOf(s.From) }

// Overlaps reports whether a day is in both spans.
func (s Span) Overlaps(other Span) bool { return s.From.Before(other.To) && other.From.Before(s.To) }

// Check returns INVALID_INPUT unless the span is over and not before the year 2000.
func (s Span) Check(now time.Time) error {
	var message string
	switch {
	case now.Before(s.To):
		message = "is not over: its last day must be before today, in UTC"
	case s.Month().Before(period.Earliest):
		message = "must not be before the year 2000"
	default:
		return nil
	}
	return fault.Invalid(fault.Field{Field: "span", Message: message})
}

// prefix is that of the numbers of journals of the span. It is short: QuickBooks takes 21 characters.
func (s Span) prefix() string { return "CW-" + strings.ReplaceAll(s.String(), "-", "") + "-" }
