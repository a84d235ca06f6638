package finance

import (
	"context"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// Step is how long the periods of a report on income are.
type Step string

// The steps; days and months are those of UTC.
const (
	ByDay   Step = "day"
	ByMonth Step = "month"
)

// Earnings asks for what was earned from one moment to another, inclusive at both ends.
// Without To, until now.
type Earnings struct {
	By       ports.TimeKind
	From, To time.Time
	Step     Step
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
	Earned   money.Total
}

// mostPeriods is how many periods are told at once.
const mostPeriods = 100

// Income reads what was earned by period, currency and account. Faults: INVALID_INPUT
// for a span that ends before it begins or in the future, or has too many periods.
func (f *Finance) Income(ctx context.Context, p ident.Platform, e Earnings) (Income, error) {
	if err := f.over(e.From, e.To); err != nil {
		return Income{}, err
	}
	to := e.To
	if to.IsZero() {
		to = f.Clock.Now()
	}
	made := Income{By: e.By, Periods: periods(e.From, to, e.Step)}
	if len(made.Periods) > mostPeriods {
		return Income{}, fault.Invalid(fault.Field{Field: "from", Message: "must be nearer to the end: at most 100 periods are answered at once"})
	}
	cuts := []ports.Cutoff{{By: e.By, Moment: before(e.From)}}
	for _, period := range made.Periods {
		cuts = append(cuts, ports.Cutoff{By: e.By, Moment: through(period.To)})
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

// periods divides a span at midnights of UTC, all of them or those of the first of a
// month. It stops as soon as there are too many.
func periods(from, to time.Time, step Step) []IncomePeriod {
	var made []IncomePeriod
	for begin := from.UTC(); !begin.After(to) && len(made) <= mostPeriods; {
		next := time.Date(begin.Year(), begin.Month()+1, 1, 0, 0, 0, 0, time.UTC)
		if step == ByDay {
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
