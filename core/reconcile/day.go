package reconcile

import "time"

// Day is a calendar day, counted from 1 January 1970. Statements have days, not times.
type Day int32

// NoDay is the zero Day, and means that there is none.
const NoDay Day = 0

const secondsPerDay = 24 * 60 * 60

// DayOf returns the day of t in UTC.
func DayOf(t time.Time) Day {
	seconds := t.Unix()
	days := seconds / secondsPerDay
	if seconds%secondsPerDay < 0 {
		days--
	}
	return Day(days)
}

// Date returns the day of a calendar date, or false if there is no such date.
func Date(year, month, day int) (Day, bool) {
	if year < 1971 || year > 9999 {
		return NoDay, false
	}
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if t.Year() != year || int(t.Month()) != month || t.Day() != day {
		return NoDay, false
	}
	return DayOf(t), true
}

// LatestDay returns the current day in the easternmost time zone, the latest that a statement
// can have.
func LatestDay(now time.Time) Day { return DayOf(now.Add(14 * time.Hour)) }

// Start returns the first time of the day in UTC.
func (d Day) Start() time.Time { return time.Unix(int64(d)*secondsPerDay, 0).UTC() }

// String returns the day as in "2026-03-14", and the empty string for NoDay.
func (d Day) String() string {
	if d == NoDay {
		return ""
	}
	return d.Start().Format(time.DateOnly)
}

// daysBetween returns the number of days from one day to another.
func daysBetween(a, b Day) int {
	if a < b {
		return int(b - a)
	}
	return int(a - b)
}
