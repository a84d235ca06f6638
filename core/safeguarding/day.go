package safeguarding

import (
	"fmt"
	"time"
)

// Day is a calendar day in UTC, such as "2026-10-31".
type Day string

// DayOf returns the day of a time.
func DayOf(t time.Time) Day { return Day(t.UTC().Format(time.DateOnly)) }

// ParseDay parses a day of the form YYYY-MM-DD.
func ParseDay(text string) (Day, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil || t.Year() < 2000 {
		return "", fmt.Errorf("%.40q is not a day of the form YYYY-MM-DD, such as 2026-10-31", text)
	}
	return Day(text), nil
}

// Start returns the first moment of the day.
func (d Day) Start() time.Time {
	t, _ := time.Parse(time.DateOnly, string(d)) // a Day is valid
	return t
}

// End returns the first moment of the next day.
func (d Day) End() time.Time { return d.Start().AddDate(0, 0, 1) }

// Last returns the last stored moment of the day.
func (d Day) Last() time.Time { return d.End().Add(-time.Microsecond) }

// Next returns the day after d.
func (d Day) Next() Day { return DayOf(d.End()) }

// Before returns the day before d.
func (d Day) Before() Day { return DayOf(d.Start().AddDate(0, 0, -1)) }

const (
	// reportDelay is how long after the end of a day its report is made, so that what was under way has
	// been recorded.
	reportDelay = 5 * time.Minute
	// maxDays is how many days are reported on at once after a time in which the service did not run.
	maxDays = 31
)

// DueDays returns the days to report on, in order: those that are over since the last report, at most the
// last 31. Without a report it is the last day that is over.
func DueDays(last Day, now time.Time) []Day {
	yesterday := DayOf(now.Add(-reportDelay).AddDate(0, 0, -1))
	next := yesterday
	if last != "" {
		next = last.Next()
		if earliest := DayOf(yesterday.Start().AddDate(0, 0, 1-maxDays)); next < earliest {
			next = earliest
		}
	}
	var days []Day
	for ; next <= yesterday; next = next.Next() {
		days = append(days, next)
	}
	return days
}

// recentDays is how many days are made again when they are confirmed: banks send statements after a weekend and a holiday.
const recentDays = 5

// RecentDays returns the last days that are over, in order.
func RecentDays(now time.Time) (days []Day) {
	for i := recentDays; i > 0; i-- {
		days = append(days, DayOf(now.AddDate(0, 0, -i)))
	}
	return days
}
