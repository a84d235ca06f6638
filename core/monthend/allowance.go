package monthend

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"causeway/core/books"
	"causeway/core/money"
	"causeway/core/receivable"
	"causeway/ledger"
)

// Allowance is what of the receivables in one currency is expected to be lost at the end of a month.
type Allowance struct {
	Currency money.Currency
	// Owed is what is owed by age, in the order of receivable.Bands, and Rates are those of the books.
	Owed  [4]int64
	Rates books.AllowanceRates
	// Before is the allowance without the run, and Required the one after it.
	Before, Required int64
}

// Change returns what the run posts: above zero if more is expected to be lost.
func (a Allowance) Change() int64 { return a.Required - a.Before }

// Allowances returns the allowances by currency, for what is owed at the end of a month, rounded half to even. before has the
// allowances that
// there are. Error: money.ErrOverflow.
func Allowances(owed []receivable.Aging, rates books.AllowanceRates, before map[money.Currency]int64) ([]Allowance, error) {
	found := map[money.Currency]Allowance{}
	for currency, amount := range before {
		found[currency] = Allowance{Currency: currency, Rates: rates, Before: amount}
	}
	for _, aging := range owed {
		a := Allowance{Currency: aging.Currency, Rates: rates, Before: before[aging.Currency]}
		for i, band := range receivable.Bands() {
			minor, fits := aging.ByAge[band].Minor()
			if !fits {
				return nil, money.ErrOverflow
			}
			a.Owed[i] = minor
		}
		a.Required = a.required()
		found[aging.Currency] = a
	}
	var list []Allowance
	for _, a := range found {
		if a.Owed != [4]int64{} || a.Before != 0 {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b Allowance) int { return cmp.Compare(a.Currency, b.Currency) })
	return list, nil
}

// required returns the sum of what is owed at the rates, at most what is owed.
func (a Allowance) required() int64 {
	sum, unit := new(big.Int), big.NewInt(100_00)
	for i, owed := range a.Owed {
		sum.Add(sum, new(big.Int).Mul(big.NewInt(owed), big.NewInt(int64(a.Rates[i]))))
	}
	whole, rest := new(big.Int).QuoRem(sum, unit, new(big.Int))
	if c := rest.Lsh(rest, 1).Cmp(unit); c > 0 || c == 0 && whole.Bit(0) == 1 {
		whole.Add(whole, big.NewInt(1))
	}
	return whole.Int64()
}

// IsConsistent reports whether the allowance follows from what is owed and the rates.
func (a Allowance) IsConsistent() bool { return a.Required == a.required() }

// AllowancePostings returns the posting of the changes, without id; without entries if nothing changes.
func AllowancePostings(run Run, allowances []Allowance) []ledger.Posting {
	var changes []money.Amount
	for _, a := range allowances {
		if change := a.Change(); change != 0 {
			changes = append(changes, money.Amount{Minor: change, Currency: a.Currency})
		}
	}
	return []ledger.Posting{ledger.AllowanceChanged(ledger.Header{Platform: run.Platform, Effective: Last(run.Month),
		Memo: fmt.Sprintf("allowance for receivables of %s", run.Month)}, changes)}
}
