// Package yearend holds the rules of the end of a financial year: one posting closes its income and expense into
// retained earnings, as long as its last month is soft-closed, and can be reversed.
//
// The package decides; it reads, stores and posts nothing.
package yearend

import (
	"strconv"
	"time"

	"causeway/core/period"
)

// Year is a financial year: twelve months, named by the calendar year in which they end.
type Year struct {
	number int
	last   period.Month
}

// OfNumber returns the financial year that ends in a month of a calendar year.
func OfNumber(number int, endMonth time.Month) Year {
	return Year{number, period.MonthOf(time.Date(number, endMonth, 1, 0, 0, 0, 0, time.UTC))}
}

// OfMonth returns the financial year that a month belongs to.
func OfMonth(m period.Month, endMonth time.Month) Year {
	y := OfNumber(m.Start().Year(), endMonth)
	if y.last.Before(m) {
		return y.Next()
	}
	return y
}

// Number returns the calendar year in which the year ends.
func (y Year) Number() int { return y.number }

// String returns the number as text.
func (y Year) String() string { return strconv.Itoa(y.number) }

// First returns the first month.
func (y Year) First() period.Month { return y.Previous().last.Next() }

// Last returns the last month.
func (y Year) Last() period.Month { return y.last }

// Next returns the year after y.
func (y Year) Next() Year { return OfNumber(y.number+1, y.last.Start().Month()) }

// Previous returns the year before y.
func (y Year) Previous() Year { return OfNumber(y.number-1, y.last.Start().Month()) }

// End returns the last stored time of the year, at which the posting that closes it is effective.
func (y Year) End() time.Time { return y.last.End().Add(-time.Microsecond) }
