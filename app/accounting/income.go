package accounting

import (
	"context"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// Interval is how long the periods of a report on income are.
type Interval string

// The steps; days and months are those of UTC.
const (
	Daily   Interval = "day"
	Monthly Interval = "month"
)

// IncomeQuery asks for what was earned from one moment to another, inclusive at both ends.
// Without To, until now.
type IncomeQuery struct {
	By       ports.TimeKind
	From, To time.Time
	Interval Interval
}

// Income is what was earned in each of several periods.
type Income struct {
	By      ports.TimeKind
	Periods []IncomePeriod
}

// IncomePeriod is one period, inclusive at both ends.
type IncomePeriod struct {
	From, To time.Time
	Lines    []IncomeLine
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
func (f *Service) Income(ctx context.Context, p ident.Platform, e IncomeQuery) (Income, error) {
	if err := f.checkPeriod(e.From, e.To); err != nil {
		return Income{}, err
	}
	to := e.To
	if to.IsZero() {
		to = f.Clock.Now()
	}
	made := Income{By: e.By, Periods: splitPeriods(e.From, to, e.Interval)}
	if len(made.Periods) > maxIncomePeriods {
		return Income{}, fault.Invalid(fault.Field{Field: "from", Message: "must be nearer to the end: at most 100 periods are answered at once"})
	}
	cuts := []ports.Cutoff{{By: e.By, Moment: justBefore(e.From)}}
	for _, period := range made.Periods {
		cuts = append(cuts, ports.Cutoff{By: e.By, Moment: endOfMillisecond(period.To)})
	}
	err := f.Ledger.Turnovers(ctx, p, ledger.Income, cuts, func(a ports.AccountTurnovers) error {
		for i := range made.Periods {
			earned := a.Turnovers[i+1].Balance(a.Class).Sub(a.Turnovers[i].Balance(a.Class))
			if earned.Sign() != 0 {
				made.Periods[i].Lines = append(made.Periods[i].Lines, IncomeLine{a.Account.Path, a.Account.Currency, earned})
			}
		}
		return nil
	})
	return made, err
}

// splitPeriods divides a span at midnights of UTC, all of them or those of the first of a
// month. It stops as soon as there are too many.
func splitPeriods(from, to time.Time, step Interval) []IncomePeriod {
	var made []IncomePeriod
	for begin := from.UTC(); !begin.After(to) && len(made) <= maxIncomePeriods; {
		next := time.Date(begin.Year(), begin.Month()+1, 1, 0, 0, 0, 0, time.UTC)
		if step == Daily {
			next = time.Date(begin.Year(), begin.Month(), begin.Day()+1, 0, 0, 0, 0, time.UTC)
		}
		end := next.Add(-time.Millisecond)
		if end.After(to) {
			end = to
		}
		made = append(made, IncomePeriod{From: begin, To: end})
		begin = next
	}
	return made
}
