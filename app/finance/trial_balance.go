package finance

import (
	"context"
	"errors"
	"slices"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// Period says which period a trial balance is of, inclusive at both ends. Without From
// it begins with the first posting, without To it ends with the last.
type Period struct {
	By       ports.TimeKind
	From, To time.Time
	// Grouped: one line for each line of the chart, not for each account.
	Grouped bool
}

// TrialBalance is that of one platform for a period.
type TrialBalance struct {
	Period
	Lines []TrialLine
	// Sums are those of the lines, one a currency.
	Sums []TrialSum
}

// TrialLine is one account, or one line of the chart, in one currency.
type TrialLine struct {
	Path     string
	Currency money.Currency
	Class    ledger.Class
	Columns
}

// Columns are those of a trial balance. Opening and closing are debits minus credits,
// so that an account that is owed to somebody stands below zero.
type Columns struct{ Opening, Debits, Credits, Closing money.Total }

func (c Columns) add(o Columns) Columns {
	return Columns{c.Opening.Add(o.Opening), c.Debits.Add(o.Debits), c.Credits.Add(o.Credits), c.Closing.Add(o.Closing)}
}

// TrialSum adds up the lines of one currency.
type TrialSum struct {
	Currency money.Currency
	Columns
}

// Balanced tells whether the columns say what double entry promises: balances add up to
// zero before and after, and as much was debited as credited.
func (s TrialSum) Balanced() bool {
	return s.Opening.Sign() == 0 && s.Closing.Sign() == 0 && s.Debits.Equal(s.Credits)
}

// mostLines is how many accounts a trial balance has at most; more are not for reading.
const mostLines = 50_000

var errTooLong = errors.New("too many lines")

// TrialBalance reads one, all of one moment. Faults: INVALID_INPUT for a period that ends
// before it begins or in the future, and for more accounts than can be answered.
func (f *Finance) TrialBalance(ctx context.Context, p ident.Platform, period Period) (TrialBalance, error) {
	if err := f.over(period.From, period.To); err != nil {
		return TrialBalance{}, err
	}
	cuts := []ports.Cutoff{{By: period.By, Moment: through(period.To)}}
	if !period.From.IsZero() {
		cuts = append(cuts, ports.Cutoff{By: period.By, Moment: before(period.From)})
	}
	made := TrialBalance{Period: period}
	err := f.Ledger.Turnovers(ctx, p, "", cuts, func(a ports.AccountTurnovers) error {
		made.take(a)
		if len(made.Lines) > mostLines {
			return errTooLong
		}
		return nil
	})
	if errors.Is(err, errTooLong) {
		return TrialBalance{}, fault.Invalid(fault.Field{Field: "detail",
			Message: "must be group: there are more than 50000 accounts, and only their groups fit into one answer"})
	}
	return made, err
}

// take adds an account; they come by currency and path.
func (b *TrialBalance) take(a ports.AccountTurnovers) {
	closing := a.Turnovers[0]
	if closing.Debits.Sign() == 0 && closing.Credits.Sign() == 0 {
		return // nothing was posted to it by then
	}
	var opening ports.Turnover
	if len(a.Turnovers) > 1 {
		opening = a.Turnovers[1]
	}
	line := TrialLine{Path: a.Account.Path, Currency: a.Account.Currency, Class: a.Class, Columns: Columns{
		Opening: opening.Debits.Sub(opening.Credits), Closing: closing.Debits.Sub(closing.Credits),
		Debits: closing.Debits.Sub(opening.Debits), Credits: closing.Credits.Sub(opening.Credits),
	}}
	if n := len(b.Sums); n == 0 || b.Sums[n-1].Currency != line.Currency {
		b.Sums = append(b.Sums, TrialSum{Currency: line.Currency})
	}
	sum := &b.Sums[len(b.Sums)-1]
	sum.Columns = sum.add(line.Columns)
	if of, err := ledger.FindChartLine(line.Path); b.Grouped && err == nil {
		line.Path = of.Path
		if i := slices.IndexFunc(b.Lines, func(l TrialLine) bool { return l.Path == line.Path && l.Currency == line.Currency }); i >= 0 {
			b.Lines[i].Columns = b.Lines[i].add(line.Columns)
			return
		}
	}
	b.Lines = append(b.Lines, line)
}

// over is nil for a period that has passed, else INVALID_INPUT with all that is wrong.
func (f *Finance) over(from, to time.Time) error {
	var bad []fault.Field
	for _, end := range []struct {
		field string
		at    time.Time
	}{{"from", from}, {"to", to}} {
		if refused, ok := fault.As(f.past(end.field, end.at)); ok {
			bad = append(bad, refused.Fields...)
		}
	}
	if refused, ok := fault.As(ordered(ports.Span{From: from, To: to})); ok {
		bad = append(bad, refused.Fields...)
	}
	if len(bad) == 0 {
		return nil
	}
	return fault.Invalid(bad...)
}
