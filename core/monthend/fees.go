package monthend

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

// InTransit is a payment whose money is in transit at the end of a month: it is converted, and neither delivered
// nor undone.
type InTransit struct {
	Transaction ident.Transaction
	Currency    money.Currency
	// Amount is what is in transit in the currency, Fee what the payment paid as fees in it; either may be zero.
	Amount, Fee int64
}

// Transit follows what is in transit, by payment and currency.
type Transit map[TransitKey]int64

// TransitKey is a payment and a currency.
type TransitKey struct {
	Transaction ident.Transaction
	Currency    money.Currency
}

// Add adds what an entry moved into transit; below zero, out of it. Error: money.ErrOverflow.
func (t Transit) Add(key TransitKey, amount int64) error {
	sum, err := money.AddMinor(t[key], amount)
	if err != nil {
		return err
	}
	if t[key] = sum; sum == 0 {
		delete(t, key)
	}
	return nil
}

// Transactions returns the payments in transit, in order.
func (t Transit) Transactions() []ident.Transaction {
	ids := make(map[ident.Transaction]bool, len(t))
	for key := range t {
		ids[key.Transaction] = true
	}
	return slices.SortedFunc(maps.Keys(ids), func(a, b ident.Transaction) int { return cmp.Compare(a.String(), b.String()) })
}

// WithFees returns the payments in transit with their fees, by payment and currency.
func (t Transit) WithFees(fees map[TransitKey]int64) []InTransit {
	lines := make([]InTransit, 0, len(t)+len(fees))
	for key, amount := range t {
		lines = append(lines, InTransit{key.Transaction, key.Currency, amount, fees[key]})
	}
	for key, fee := range fees {
		if _, ok := t[key]; !ok && fee != 0 {
			lines = append(lines, InTransit{key.Transaction, key.Currency, 0, fee})
		}
	}
	slices.SortFunc(lines, func(a, b InTransit) int {
		return cmp.Or(cmp.Compare(a.Transaction.String(), b.Transaction.String()), cmp.Compare(a.Currency, b.Currency))
	})
	return lines
}

// DeferredFees returns the fees to defer, by currency. Error: money.ErrOverflow.
func DeferredFees(lines []InTransit) ([]money.Amount, error) {
	sums := map[money.Currency]int64{}
	for _, l := range lines {
		sum, err := money.AddMinor(sums[l.Currency], l.Fee)
		if err != nil {
			return nil, err
		}
		sums[l.Currency] = sum
	}
	return AmountsOf(sums), nil
}

// AmountsOf returns sums by currency as amounts in the order of currencies, without those of zero.
func AmountsOf(sums map[money.Currency]int64) []money.Amount {
	var amounts []money.Amount
	for _, currency := range slices.Sorted(maps.Keys(sums)) {
		if sums[currency] != 0 {
			amounts = append(amounts, money.Amount{Minor: sums[currency], Currency: currency})
		}
	}
	return amounts
}

// FeePostings returns the postings that defer fees over the end of a month, without ids.
func FeePostings(run Run, fees []money.Amount) []ledger.Posting {
	header := func(effective time.Time, memo string) ledger.Header {
		return ledger.Header{Platform: run.Platform, Effective: effective, Memo: fmt.Sprintf("%s of %s", memo, run.Month)}
	}
	return []ledger.Posting{
		ledger.FeesDeferred(header(Last(run.Month), "fees of payments in transit"), fees),
		ledger.FeesRecognised(header(run.Month.End(), "reversal of the deferred fees"), fees),
	}
}
