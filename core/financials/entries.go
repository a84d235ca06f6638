package financials

import (
	"slices"

	"causeway/core/money"
)

// Part names which of the entries of an account a figure is the sum of.
type Part string

// The parts.
const (
	AllEntries Part = ""
	// Earned leaves out the postings that close a year, and their reversals; YearEnd has only these.
	Earned  Part = "earned"
	YearEnd Part = "year-end"
	// CashReceived and CashPaid have the entries between the account and cash, by whether they increased cash.
	CashReceived Part = "cash-received"
	CashPaid     Part = "cash-paid"
	// Debits and Credits have the entries that debit the account, or credit it: those of a trial balance.
	Debits  Part = "debits"
	Credits Part = "credits"
)

// Parts returns every part.
func Parts() []Part {
	return []Part{AllEntries, Earned, YearEnd, CashReceived, CashPaid, Debits, Credits}
}

// IsCash reports whether the entries are those with cash.
func (p Part) IsCash() bool { return p == CashReceived || p == CashPaid }

// Entries are those of an account, or of a group of accounts, that are effective in a period. Without From it begins with the first.
type Entries struct {
	Period
	Part Part
}

// AccountFigure is what an account adds to a row.
type AccountFigure struct {
	Key
	// Quantity has the sign of the account: above zero for debits of assets and expense. Of cash it is less than zero for what was paid.
	Quantity money.Total
	// Value has the sign of the row.
	Value int64
	// Entries are those that Quantity is the sum of; nil if there are none, because it is computed.
	Entries *Entries
}

// The rows of the cash flow statement that are computed.
const (
	rateChanges     = "rate-changes"
	postedMeanwhile = "posted-meanwhile"
)

// HasEntries reports whether the value of a column is the sum of entries: those of the row in a report whose first column it is.
func (r Row) HasEntries(column int) bool {
	return !r.IsTotal && r.Code != rateChanges && r.Code != postedMeanwhile && (r.Values[column] != 0 || column == 0 && len(r.Accounts) > 0)
}

// newAccountFigure returns a figure of a balance sheet or an income statement.
func newAccountFigure(f Figure, period Period, part Part) AccountFigure {
	a := AccountFigure{f.Key, f.Quantity, f.Value, &Entries{period, part}}
	if own, _ := LineOf(f.Path); own.Section == Expense && f.Line.Section == Equity {
		a.Quantity = a.Quantity.Neg()
	}
	if f.isComputed {
		a.Entries = nil
	}
	return a
}

// accountsOf returns the accounts of a line of the balance sheet, which have all entries until its end, or of the income statement.
func (r *Report) accountsOf(s Statement, figures []Figure, line Line) (accounts []AccountFigure) {
	period, part := Period{To: r.Columns[0].To}, AllEntries
	if s == IncomeStatement {
		period, part = r.Columns[0].Period, Earned
	}
	for _, f := range figures {
		if f.Line.Code == line.Code && f.Line.Section == line.Section {
			accounts = append(accounts, newAccountFigure(f, period, part))
		}
	}
	return accounts
}

// equityAccounts returns the accounts of the rows of a part of equity, by the code of the row.
func (r *Report) equityAccounts(lines []string, hasResult bool) map[string][]AccountFigure {
	now := r.Columns[0]
	accounts := map[string][]AccountFigure{}
	var changes []AccountFigure
	change := func(a AccountFigure, sign int64) {
		i := slices.IndexFunc(changes, func(c AccountFigure) bool { return c.Key == a.Key && (c.Entries == nil) == (a.Entries == nil) })
		if i < 0 {
			i = len(changes)
			part := AllEntries
			if isResult(a.Path) {
				part = YearEnd // all else is the result
			}
			changes = append(changes, AccountFigure{Key: a.Key})
			if a.Entries != nil {
				changes[i].Entries = &Entries{now.Period, part}
			}
		}
		c := &changes[i]
		if c.Value += sign * a.Value; sign < 0 {
			a.Quantity = a.Quantity.Neg()
		}
		c.Quantity = c.Quantity.Add(a.Quantity)
	}
	for _, f := range now.Closing {
		if f.Line.Section == Equity && slices.Contains(lines, f.Line.Code) {
			a := newAccountFigure(f, Period{To: now.To}, AllEntries)
			accounts["closing"] = append(accounts["closing"], a)
			change(a, 1)
		}
	}
	for _, f := range now.Opening {
		if f.Line.Section == Equity && slices.Contains(lines, f.Line.Code) {
			a := newAccountFigure(f, Period{To: now.From.Previous()}, AllEntries)
			accounts["opening"] = append(accounts["opening"], a)
			change(a, -1)
		}
	}
	for _, f := range now.Earnings {
		if !hasResult {
			break
		}
		a := newAccountFigure(f, now.Period, Earned)
		if f.Line.Section == Expense {
			a.Value = -a.Value
		}
		accounts["result"] = append(accounts["result"], a)
		change(a, -1)
	}
	accounts["changes"] = slices.DeleteFunc(changes, func(c AccountFigure) bool { return c.Value == 0 && c.Quantity.Sign() == 0 })
	return accounts
}
