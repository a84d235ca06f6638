package reconcile

import "time"

// Day is a calendar day: days since 1 January 1970. Partners book by the day.
type Day int32

// NoDay is the zero Day; no statement is that old.
const NoDay Day = 0

const secondsPerDay = 24 * 60 * 60

// DayOf is the day of a moment in UTC.
func DayOf(t time.Time) Day {
	seconds := t.Unix()
	days := seconds / secondsPerDay
	if seconds%secondsPerDay < 0 {
		days--
	}
	return Day(days)
}

// Date is the day as a calendar says it; what is no day of it is false.
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

// LatestDay is the day that it is in the easternmost places while it is now in UTC: no
// honest statement tells of a later one.
func LatestDay(now time.Time) Day { return DayOf(now.Add(14 * time.Hour)) }

// Start is the first moment of the day in UTC.
func (d Day) Start() time.Time { return time.Unix(int64(d)*secondsPerDay, 0).UTC() }

// String is the day as in "2026-03-14", empty for none.
func (d Day) String() string {
	if d == NoDay {
		return ""
	}
	return d.Start().Format(time.DateOnly)
}

// daysBetween is how many days lie between two.
func daysBetween(a, b Day) int {
	if a < b {
		return int(b - a)
	}
	return int(a - b)
}
