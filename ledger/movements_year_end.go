package ledger

import (
	"causeway/core/money"
)

// NetBalance is the balance of an account: debits less credits, in minor units.
type NetBalance struct {
	Path     string
	Currency money.Currency
	Net      money.Total
}

// YearEnd closes the income and expense of a year into retained earnings: afterwards these accounts are at zero.
//
//	income/fees → equity/retained-earnings
//	equity/retained-earnings → expense/rails
//
// An account has one entry, or more if its balance is larger than MaxAmount.
func YearEnd(h Header, balances []NetBalance) Posting {
	var entries []Entry
	for _, b := range balances {
		for _, amount := range partsOf(b.Net) {
			e := entry(b.Path, EquityRetainedEarnings, money.Amount{Minor: amount, Currency: b.Currency})
			if b.Net.Sign() > 0 {
				e.Debit, e.Credit = e.Credit, e.Debit
			}
			entries = append(entries, e)
		}
	}
	return h.posting(KindYearEnd, entries...)
}

// partsOf divides the absolute value of a sum into amounts that entries can have.
func partsOf(sum money.Total) (parts []int64) {
	if sum.Sign() < 0 {
		sum = sum.Neg()
	}
	for limit := money.TotalOf(MaxAmount); sum.Sub(limit).Sign() > 0; sum = sum.Sub(limit) {
		parts = append(parts, MaxAmount)
	}
	last, _ := sum.Minor()
	return append(parts, last)
}
