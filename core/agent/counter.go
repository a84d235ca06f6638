package agent

import (
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"causeway/core/fault"
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

// Add returns the counters after one more payment of an amount, which starts on a day. Faults: AMOUNT_OUT_OF_RANGE if
// the sum of the day does not fit.
func (c Counters) Add(day string, amount money.Amount) (Counters, error) {
	c = slices.Clone(c)
	i := slices.IndexFunc(c, func(o Counter) bool { return o.Day == day && o.Currency == amount.Currency })
	if i < 0 {
		return append(c, Counter{Day: day, Currency: amount.Currency, Transactions: 1, Spent: amount.Minor}), nil
	}
	spent, err := money.AddMinor(c[i].Spent, amount.Minor)
	if err != nil {
		return nil, fault.New(fault.AmountOutOfRange, "The agent has sent %s today, and the sum with this payment would be too large to count. "+
			"Send less, or wait until the next day (UTC).",
			money.Amount{Minor: c[i].Spent, Currency: amount.Currency})
	}
	c[i].Transactions, c[i].Spent = c[i].Transactions+1, spent
	return c, nil
}

// Usage is what an agent has spent, in the currency of its spending limits. Days and months are of UTC. An amount above
// money.MaxMinor, which is above every limit, is shown as that.
type Usage struct {
	DailyTransactionCount int
	DailySpend            int64
	// Day is the day that is counted, such as "2026-03-14".
	Day          string
	MonthlySpend int64
	// Month is the month that is counted, such as "2026-03".
	Month string
}

// UsageAt returns the usage at a time, at the present rates; counters are those of its month. An error is one of
// convert.
func (a Agent) UsageAt(counters Counters, now time.Time, convert Converter) (Usage, error) {
	usage := Usage{Day: DayOf(now), Month: MonthOf(now)}
	usage.DailyTransactionCount = int(counters.Transactions(usage.Day))
	var err error
	if usage.DailySpend, err = counters.spent(usage.Day, a.Policy.Limits.Currency, convert); err != nil {
		return Usage{}, err
	}
	usage.MonthlySpend, err = counters.spent(usage.Month, a.Policy.Limits.Currency, convert)
	usage.DailySpend, usage.MonthlySpend = min(usage.DailySpend, money.MaxMinor), min(usage.MonthlySpend, money.MaxMinor)
	return usage, err
}

// Transactions returns the number of transactions of a period: a day ("2026-03-14") or a month ("2026-03").
func (c Counters) Transactions(period string) (n int64) {
	for _, o := range c {
		if strings.HasPrefix(o.Day, period) {
			n += o.Transactions
		}
	}
	return n
}

// Sums returns what was spent in a period, a day or a month, in each currency. It omits what was given back.
// Errors: money.ErrOverflow.
func (c Counters) Sums(period string) ([]money.Amount, error) {
	var sums []money.Amount
	for _, o := range c {
		if !strings.HasPrefix(o.Day, period) || o.Spent == 0 {
			continue
		}
		i := slices.IndexFunc(sums, func(s money.Amount) bool { return s.Currency == o.Currency })
		if i < 0 {
			i = len(sums)
			sums = append(sums, money.Amount{Currency: o.Currency})
		}
		var err error
		if sums[i].Minor, err = money.AddMinor(sums[i].Minor, o.Spent); err != nil {
			return nil, err
		}
	}
	return sums, nil
}

// spent returns what was spent in a period, in one currency. What does not fit is the highest possible amount: it
// is above every limit.
func (c Counters) spent(period string, currency money.Currency, convert Converter) (int64, error) {
	total, err := c.total(period, currency, convert)
	if errors.Is(err, money.ErrOverflow) {
		return math.MaxInt64, nil
	}
	return total, err
}

// total adds up the amounts of each currency before it converts them, so that each is rounded up once. Errors:
// money.ErrOverflow, and those of convert.
func (c Counters) total(period string, currency money.Currency, convert Converter) (int64, error) {
	sums, err := c.Sums(period)
	if err != nil {
		return 0, err
	}
	total := int64(0)
	for _, sum := range sums {
		converted, err := convertUp(sum, currency, convert)
		if err != nil {
			return 0, err
		}
		if total, err = money.AddMinor(total, converted.Minor); err != nil {
			return 0, err
		}
	}
	return total, nil
}
