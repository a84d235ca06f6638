package accounting

import (
	"context"
	"time"

	runs "causeway/app/internal/monthend"
	"causeway/app/internal/report"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// Granularity is the length of the periods of an income report.
type Granularity string

// Days and months are in UTC.
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

// Income is the income of consecutive periods.
type Income struct {
	By      ports.TimeKind
	Periods []IncomePeriod
}

// IncomePeriod is the income of one period.
type IncomePeriod struct {
	period.Interval
	Lines []IncomeLine
}

// IncomeLine is the income on one account in a period: credits minus debits.
type IncomeLine struct {
	Path     string
	Currency money.Currency
	Amount   money.Total
}

// maxIncomePeriods is the maximum number of periods in a report.
const maxIncomePeriods = 100

// Income returns the income by period, currency and account, without the closings of years. Fault: INVALID_INPUT for an
// interval that is empty, is in the future or has too many periods.
func (s *Service) Income(ctx context.Context, p ident.Platform, q IncomeQuery) (Income, error) {
	if err := s.checkInterval(q.Interval); err != nil {
		return Income{}, err
	}
	if q.To.IsZero() {
		q.To = s.Clock.Now().Truncate(time.Millisecond).Add(time.Millisecond)
	}
	income := Income{By: q.By, Periods: splitInterval(q.Interval, q.Granularity)}
	if len(income.Periods) > maxIncomePeriods {
		return Income{}, fault.Invalid(fault.Field{Field: "from", Message: "is too early: a report has at most 100 periods"})
	}
	cuts := []ports.Cutoff{{By: q.By, Moment: q.BeforeFrom()}}
	for _, p := range income.Periods {
		cuts = append(cuts, ports.Cutoff{By: q.By, Moment: p.Last()})
	}
	err := s.addEarned(ctx, p, &income, cuts)
	return income, report.TooSlow(err, "Choose a later from or an earlier to, granularity=month, or by=recorded.")
}

// addEarned adds the lines of the report. It begins again if the closing of a year was posted meanwhile.
func (s *Service) addEarned(ctx context.Context, p ident.Platform, income *Income, cuts []ports.Cutoff) error {
	closings, err := runs.YearPostings(ctx, p, s.Store, s.Ledger)
	for err == nil {
		for i := range income.Periods {
			income.Periods[i].Lines = nil
		}
		err = s.Ledger.Turnovers(ctx, p, ledger.Income, cuts, func(a ports.AccountTurnovers) error {
			for i := range income.Periods {
				earned := a.Turnovers[i+1].Balance(a.Class).Sub(a.Turnovers[i].Balance(a.Class)).Add(closedOf(closings, a.Account, cuts[i], cuts[i+1]))
				if earned.Sign() != 0 {
					income.Periods[i].Lines = append(income.Periods[i].Lines, IncomeLine{a.Account.Path, a.Account.Currency, earned})
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		before := len(closings)
		if closings, err = runs.YearPostings(ctx, p, s.Store, s.Ledger); len(closings) == before {
			return err
		}
	}
	return err
}

// closedOf returns what the closings of years after one cutoff and up to another took from an income account, less
// what their reversals brought back to it.
func closedOf(closings []ports.RecordedPosting, account ledger.Account, after, upto ports.Cutoff) (sum money.Total) {
	for _, posting := range closings {
		at := posting.Recorded
		if upto.By == ports.ByEffective {
			at = posting.Effective
		}
		if at.After(upto.Moment) || !at.After(after.Moment) {
			continue
		}
		for _, e := range posting.Entries {
			switch account {
			case ledger.Account{Platform: account.Platform, Path: e.Debit, Currency: e.Currency}:
				sum = sum.Add(money.TotalOf(e.Amount))
			case ledger.Account{Platform: account.Platform, Path: e.Credit, Currency: e.Currency}:
				sum = sum.Sub(money.TotalOf(e.Amount))
			}
		}
	}
	return sum
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
