package agent

import (
	"time"

	"causeway/core/money"
)

// Counter is what an agent has spent on one day (UTC) in one currency, exactly: amounts in other currencies than
// that of the spending limits are converted when a policy is evaluated. A payment that fails is given back to the
// day on which it was counted.
type Counter struct {
	Day          string // such as "2026-03-14"
	Currency     money.Currency
	Transactions int64
	Spent        int64 // in minor units of Currency
}

// Counters are those of the days of one month.
type Counters []Counter

// DayOf returns the day on which a payment is counted that starts at a time.
func DayOf(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// MonthOf returns the month of a time, such as "2026-03".
func MonthOf(at time.Time) string { return at.UTC().Format("2006-01") }
