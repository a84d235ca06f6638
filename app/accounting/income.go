package accounting

import (
	"context"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// Granularity is how long the periods of a report on income are.
type Granularity string

// The steps; days and months are those of UTC.
const (
	Daily   Granularity = "day"
	Monthly Granularity = "month"
)

// IncomeQuery selects the interval of an income report and how it is divided. Without To it
// ends now.
type IncomeQuery struct {
	By ports.TimeKind
	period.Interval
	Granularity Granularity
}

// Income is what was earned in each of several periods.
type Income struct {
	By      ports.TimeKind
	Periods []IncomePeriod
}

// IncomePeriod is the income of one period.
type IncomePeriod struct {
	period.Interval
	Lines []IncomeLine
}

// IncomeLine is what an income account earned in a period: credits minus debits.
type IncomeLine struct {
	Path     string
	Currency money.Currency
	Amount   money.Total
}

// maxIncomePeriods is how many periods are told at once.
const maxIncomePeriods = 100

// Income reads what was earned by period, currency and account. Faults: INVALID_INPUT
// for a span that ends before it begins or in the future, or has too many periods.
func (f *Service) Income(ctx context.Context, p ident.Platform, q IncomeQuery) (Income, error) {
	if err := f.checkInterval(q.Interval); err != nil {
		return Income{}, err
	}
	if q.To.IsZero() {
		q.To = f.Clock.Now().Truncate(time.Millisecond).Add(time.Millisecond)
	}
	income := Income{By: q.By, Periods: splitInterval(q.Interval, q.Granularity)}
	if len(income.Periods) > maxIncomePeriods {
		return Income{}, fault.Invalid(fault.Field{Field: "from", Message: "must be nearer to the end: at most 100 periods are answered at once"})
	}
	cuts := []ports.Cutoff{{By: q.By, Moment: q.BeforeFrom()}}
	for _, p := range income.Periods {
		cuts = append(cuts, ports.Cutoff{By: q.By, Moment: p.Last()})
	}
	err := f.Ledger.Turnovers(ctx, p, ledger.Income, cuts, func(a ports.AccountTurnovers) error {
		for i := range income.Periods {
			earned := a.Turnovers[i+1].Balance(a.Class).Sub(a.Turnovers[i].Balance(a.Class))
			if earned.Sign() != 0 {
				income.Periods[i].Lines = append(income.Periods[i].Lines, IncomeLine{a.Account.Path, a.Account.Currency, earned})
			}
		}
		return nil
	})
	return income, err
}

// splitInterval divides an interval at each midnight of UTC, or at the first of each month.
// It stops as soon as there are too many periods.
func splitInterval(i period.Interval, size Granularity) []IncomePeriod {
	var periods []IncomePeriod
	for from := i.From.UTC(); from.Before(i.To) && len(periods) <= maxIncomePeriods; {
		to := time.Date(from.Year(), from.Month()+1, 1, 0, 0, 0, 0, time.UTC)
		if size == Daily {
			to = time.Date(from.Year(), from.Month(), from.Day()+1, 0, 0, 0, 0, time.UTC)
		}
		next := to
		if to.After(i.To) {
			to = i.To
		}
		periods = append(periods, IncomePeriod{Interval: period.Interval{From: from, To: to}})
		from = next
	}
	return periods
}
