package accounting

import (
	"context"
	"errors"
	"slices"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// TrialBalanceQuery selects the interval of a trial balance. Without From it begins with the
// first posting, without To it ends with the last.
type TrialBalanceQuery struct {
	By ports.TimeKind
	period.Interval
	// Grouped: one line for each line of the chart, not for each account.
	Grouped bool
}

// TrialBalance is that of one platform for a period.
type TrialBalance struct {
	TrialBalanceQuery
	Lines []TrialBalanceLine
	// Totals are those of the lines, one a currency.
	Totals []TrialBalanceTotal
}

// TrialBalanceLine is one account, or one line of the chart, in one currency.
type TrialBalanceLine struct {
	Path     string
	Currency money.Currency
	Class    ledger.Class
	TrialBalanceColumns
}

// TrialBalanceColumns are those of a trial balance. Opening and closing are debits minus credits,
// so that an account that is owed to somebody stands below zero.
type TrialBalanceColumns struct{ Opening, Debits, Credits, Closing money.Total }

func (c TrialBalanceColumns) add(o TrialBalanceColumns) TrialBalanceColumns {
	return TrialBalanceColumns{c.Opening.Add(o.Opening), c.Debits.Add(o.Debits), c.Credits.Add(o.Credits), c.Closing.Add(o.Closing)}
}

// TrialBalanceTotal adds up the lines of one currency.
type TrialBalanceTotal struct {
	Currency money.Currency
	TrialBalanceColumns
}

// Balanced tells whether the columns say what double entry promises: balances add up to
// zero before and after, and as much was debited as credited.
func (s TrialBalanceTotal) Balanced() bool {
	return s.Opening.Sign() == 0 && s.Closing.Sign() == 0 && s.Debits.Equal(s.Credits)
}

// maxTrialBalanceLines is how many accounts a trial balance has at most; more are not for reading.
const maxTrialBalanceLines = 50_000

var errTooManyLines = errors.New("too many lines")

// TrialBalance reads one, all of one moment. Faults: INVALID_INPUT for a period that ends
// before it begins or in the future, and for more accounts than can be answered.
func (f *Service) TrialBalance(ctx context.Context, p ident.Platform, q TrialBalanceQuery) (TrialBalance, error) {
	if err := f.checkInterval(q.Interval); err != nil {
		return TrialBalance{}, err
	}
	cuts := []ports.Cutoff{{By: q.By, Moment: q.Last()}}
	if !q.From.IsZero() {
		cuts = append(cuts, ports.Cutoff{By: q.By, Moment: q.BeforeFrom()})
	}
	made := TrialBalance{TrialBalanceQuery: q}
	err := f.Ledger.Turnovers(ctx, p, "", cuts, func(a ports.AccountTurnovers) error {
		made.addAccount(a)
		if len(made.Lines) > maxTrialBalanceLines {
			return errTooManyLines
		}
		return nil
	})
	if errors.Is(err, errTooManyLines) {
		return TrialBalance{}, fault.Invalid(fault.Field{Field: "detail",
			Message: "must be group: there are more than 50000 accounts, and only their groups fit into one answer"})
	}
	return made, err
}

// addAccount adds an account; they come by currency and path.
func (b *TrialBalance) addAccount(a ports.AccountTurnovers) {
	closing := a.Turnovers[0]
	if closing.Debits.Sign() == 0 && closing.Credits.Sign() == 0 {
		return // nothing was posted to it by then
	}
	var opening ports.Turnover
	if len(a.Turnovers) > 1 {
		opening = a.Turnovers[1]
	}
	line := TrialBalanceLine{Path: a.Account.Path, Currency: a.Account.Currency, Class: a.Class, TrialBalanceColumns: TrialBalanceColumns{
		Opening: opening.Debits.Sub(opening.Credits), Closing: closing.Debits.Sub(closing.Credits),
		Debits: closing.Debits.Sub(opening.Debits), Credits: closing.Credits.Sub(opening.Credits),
	}}
	if n := len(b.Totals); n == 0 || b.Totals[n-1].Currency != line.Currency {
		b.Totals = append(b.Totals, TrialBalanceTotal{Currency: line.Currency})
	}
	sum := &b.Totals[len(b.Totals)-1]
	sum.TrialBalanceColumns = sum.add(line.TrialBalanceColumns)
	if of, err := ledger.FindChartLine(line.Path); b.Grouped && err == nil {
		line.Path = of.Path
		if i := slices.IndexFunc(b.Lines, func(l TrialBalanceLine) bool { return l.Path == line.Path && l.Currency == line.Currency }); i >= 0 {
			b.Lines[i].TrialBalanceColumns = b.Lines[i].add(line.TrialBalanceColumns)
			return
		}
	}
	b.Lines = append(b.Lines, line)
}
