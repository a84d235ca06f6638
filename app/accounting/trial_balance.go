package accounting

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"causeway/app/internal/report"
	"causeway/core/books"
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
	// Grouped returns one line for each line of the chart of accounts, not for each account.
	Grouped bool
	// Group selects the accounts whose paths begin with it, or those of a line of the chart of accounts if it is the path of a group, and
	// Currency those in one currency; empty for all.
	Group    string
	Currency money.Currency
	// OrGrouped groups them if there are too many accounts for a line each.
	OrGrouped bool
}

// TrialBalance is the trial balance of one platform for an interval.
type TrialBalance struct {
	TrialBalanceQuery
	Lines []TrialBalanceLine
	// Totals are the totals of the lines, one for each currency.
	Totals []TrialBalanceTotal
}

// TrialBalanceLine is one account, or one line of the chart of accounts, in one currency.
type TrialBalanceLine struct {
	Path     string
	Currency money.Currency
	Class    ledger.Class
	TrialBalanceColumns
	// GL is the account of the general ledger, by the present mapping.
	GL books.GLAccount
}

// TrialBalanceColumns are the amounts of a line. Opening and Closing are debits minus credits,
// so that a liability is negative.
type TrialBalanceColumns struct{ Opening, Debits, Credits, Closing money.Total }

func (c TrialBalanceColumns) add(o TrialBalanceColumns) TrialBalanceColumns {
	return TrialBalanceColumns{c.Opening.Add(o.Opening), c.Debits.Add(o.Debits), c.Credits.Add(o.Credits), c.Closing.Add(o.Closing)}
}

// TrialBalanceTotal is the total of the lines in one currency.
type TrialBalanceTotal struct {
	Currency money.Currency
	TrialBalanceColumns
}

// Balanced reports whether the total follows double entry: the balances add up to zero
// before and after, and debits equal credits.
func (t TrialBalanceTotal) Balanced() bool {
	return t.Opening.Sign() == 0 && t.Closing.Sign() == 0 && t.Debits.Equal(t.Credits)
}

// maxTrialBalanceLines is the maximum number of accounts in a trial balance.
const maxTrialBalanceLines = 50_000

var errTooManyLines = errors.New("too many lines")

// TrialBalance returns a trial balance, read at one time. Fault: INVALID_INPUT for an
// interval that is empty or in the future, and for too many accounts.
func (s *Service) TrialBalance(ctx context.Context, p ident.Platform, q TrialBalanceQuery) (TrialBalance, error) {
	if err := s.checkInterval(q.Interval); err != nil {
		return TrialBalance{}, err
	}
	cuts := []ports.Cutoff{{By: q.By, Moment: q.Last()}}
	if !q.From.IsZero() {
		cuts = append(cuts, ports.Cutoff{By: q.By, Moment: q.BeforeFrom()})
	}
	balance := TrialBalance{TrialBalanceQuery: q}
	err := s.Ledger.Turnovers(ctx, p, "", cuts, func(a ports.AccountTurnovers) error {
		balance.addAccount(a)
		if len(balance.Lines) > maxTrialBalanceLines {
			return errTooManyLines
		}
		return nil
	})
	if errors.Is(err, errTooManyLines) && q.OrGrouped && !q.Grouped {
		q.Grouped = true
		return s.TrialBalance(ctx, p, q)
	}
	if errors.Is(err, errTooManyLines) {
		return TrialBalance{}, fault.Invalid(fault.Field{Field: "detail",
			Message: "must be group: a trial balance has at most 50000 accounts"})
	}
	if err != nil {
		return TrialBalance{}, report.TooSlow(err, "Use by=recorded, omit from, list the accounts in pages with GET /ledger/accounts, or "+
			"export the ledger.")
	}
	mapping, err := s.Store.GLMapping(ctx, p, time.Time{})
	for i, line := range balance.Lines {
		balance.Lines[i].GL = mapping.Resolve(line.Path, line.Currency)
	}
	return balance, err
}

// inGroup reports whether a path is in a group of TrialBalanceQuery.
func inGroup(path, group string) bool {
	if strings.HasSuffix(group, ">") {
		line, err := ledger.FindChartLine(path)
		return err == nil && line.Path == group
	}
	return strings.HasPrefix(path, group)
}

// addAccount adds an account. Accounts come ordered by currency and path.
func (b *TrialBalance) addAccount(a ports.AccountTurnovers) {
	closing := a.Turnovers[0]
	if closing.Debits.Sign() == 0 && closing.Credits.Sign() == 0 {
		return // without postings at the end of the interval
	}
	if !inGroup(a.Account.Path, b.Group) || b.Currency != "" && b.Currency != a.Account.Currency {
		return
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
	if chartLine, err := ledger.FindChartLine(line.Path); b.Grouped && err == nil {
		line.Path = chartLine.Path
		if i := slices.IndexFunc(b.Lines, func(l TrialBalanceLine) bool { return l.Path == line.Path && l.Currency == line.Currency }); i >= 0 {
			b.Lines[i].TrialBalanceColumns = b.Lines[i].add(line.TrialBalanceColumns)
			return
		}
	}
	b.Lines = append(b.Lines, line)
}
