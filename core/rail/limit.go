package rail

import (
	"fmt"

	"causeway/core/corridor"
	"causeway/core/money"
)

// Limit is what a connection pays out without the review of an operator, in minor units; zero is no limit.
type Limit struct {
	// Rail is the rail that the limit is of; empty for all rails of the connection together.
	Rail     corridor.Rail
	Currency money.Currency
	// PerPayout is of one payment, PerHour and PerDay of all in one hour and one day of UTC.
	PerPayout, PerHour, PerDay int64
}

// Usage is what a connection has paid out on one rail and in one currency in the present hour and day, in minor units.
type Usage struct{ Hour, Day int64 }

// Exceeded returns the first limit that one more payment of an amount exceeds, in words for operators; empty if none
// does. usage returns what was paid out on a rail, or on all rails if it is empty.
func (c Connection) Exceeded(r corridor.Rail, amount money.Amount, usage func(corridor.Rail) Usage) string {
	for _, l := range c.Limits {
		if l.Currency != amount.Currency || l.Rail != "" && l.Rail != r {
			continue
		}
		used := usage(l.Rail)
		for _, check := range []struct {
			name        string
			limit, used int64
		}{{"payout", l.PerPayout, 0}, {"hour", l.PerHour, used.Hour}, {"day", l.PerDay, used.Day}} {
			if check.limit > 0 && amount.Minor > check.limit-check.used {
				return fmt.Sprintf("above the limit of %s per %s%s", money.Amount{Minor: check.limit, Currency: l.Currency}, check.name, l.scope())
			}
		}
	}
	return ""
}

func (l Limit) scope() string {
	if l.Rail == "" {
		return ""
	}
	return " on " + string(l.Rail)
}
