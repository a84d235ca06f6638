package settlement

import "time"

// Day is a day on which a schedule differs from a week of Monday to Friday.
type Day struct {
	Date time.Time // at midnight of UTC
	Open bool
	Why  string
}

// Exceptions returns the holidays of a year, also those on weekends, and the weekends and holidays on which the partner works.
func (s Schedule) Exceptions(year int) []Day {
	var days []Day
	for date := time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC); date.Year() == year; date = date.AddDate(0, 0, 1) {
		closed := s.closedBy(date)
		usual := s.Calendar.closedBy(date)
		switch {
		case closed == "" && usual != "":
			days = append(days, Day{Date: date, Open: true, Why: "working day of the partner, although it is closed otherwise: " + usual})
		case closed != "" && closed != date.Weekday().String():
			days = append(days, Day{Date: date, Why: closed})
		}
	}
	return days
}

// BusinessDays returns the number of days of a year on which payments are executed.
func (s Schedule) BusinessDays(year int) int {
	n := 0
	for date := time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC); date.Year() == year; date = date.AddDate(0, 0, 1) {
		if s.isBusinessDay(date) {
			n++
		}
	}
	return n
}
