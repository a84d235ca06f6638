package statements

import (
	"causeway/core/money"
	"causeway/core/reconcile"
)

// runningBalance compares the balance in each line of a CSV file with the amounts. The oldest line
// is the first or the last one.
type runningBalance struct {
	lines                 int
	first, last           balanceLine
	ascending, descending bool // whether the lines so far are in that order
	brokenLine            int  // the first line with which they are in neither
}

type balanceLine struct {
	balance, amount int64
	day             reconcile.Day
}

func (b *runningBalance) add(balance, amount int64, day reconcile.Day, number int) {
	line := balanceLine{balance, amount, day}
	if b.lines++; b.lines == 1 {
		b.first, b.ascending, b.descending = line, true, true
	} else if b.ascending || b.descending {
		b.ascending = b.ascending && b.last.balance+amount == balance
		b.descending = b.descending && balance+b.last.amount == b.last.balance
		if !b.ascending && !b.descending {
			b.brokenLine = number
		}
	}
	b.last = line
}

// ends returns the opening and the closing balance; nil if the order of the lines cannot be seen.
func (b *runningBalance) ends() (opening, closing *int64) {
	ascending, descending := b.ascending, b.descending
	if ascending && descending && b.lines > 1 {
		ascending, descending = b.first.day < b.last.day, b.first.day > b.last.day
	}
	from, to := b.first, b.last
	if !ascending {
		from, to = b.last, b.first
	}
	if !ascending && !descending {
		return nil, nil
	}
	before := from.balance - from.amount
	return &before, &to.balance
}

// endBalances checks the column with balances of the current account after the last line.
func (p *csvParser) endBalances() error {
	b := p.balances[p.current]
	if b == nil {
		return nil
	}
	if b.brokenLine > 0 {
		return p.mismatch(p.current, "is not complete: line %d, column %d (%.60s): the amounts do not lead from the balance of the line before "+
			"it to this one: a line is missing or in another order",
			b.brokenLine, p.columnIndexes[reconcile.ColumnBalance]+1, p.layout.Columns[reconcile.ColumnBalance])
	}
	var sum int64
	for _, l := range p.current.Lines {
		var err error
		if sum, err = money.AddMinor(sum, l.Amount); err != nil {
			return sumTooLargeError()
		}
	}
	name := "the file"
	if p.layout.HasAccounts() {
		name = "the account " + p.current.PartnerAccount
	}
	opening, closing := b.ends()
	return p.addPage(page{name: name, opening: opening, closing: closing, sum: sum}, "")
}
