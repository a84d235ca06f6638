package monthend_test

import (
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/books"
	"causeway/core/money"
	"causeway/core/monthend"
	"causeway/core/receivable"
	"causeway/ledger"
)

func TestAllowances_PercentagesOfWhatIsOwedByAge(t *testing.T) {
	t.Parallel()
	// The allowance is the sum of what is owed at the percentages of its age, rounded half to even, and never more than what is owed. The
	// posting is the difference to what there is, so that afterwards there is that; what is owed no more has none. A currency without both is
	// left out.
	rapid.Check(t, func(t *rapid.T) {
		var rates books.AllowanceRates
		for i := range rates {
			rates[i] = rapid.IntRange(0, 100_00).Draw(t, "rate")
		}
		now := november.Start()
		owed, before, want := receivable.AgingOf{}, map[money.Currency]int64{}, map[money.Currency]*big.Rat{}
		sums := map[money.Currency]int64{}
		for range rapid.IntRange(0, 8).Draw(t, "receivables") {
			currency := rapid.SampledFrom([]money.Currency{"EUR", "USD"}).Draw(t, "currency")
			amount := rapid.Int64Range(1, 1_000_000).Draw(t, "amount")
			days := rapid.SampledFrom([]int{0, 30, 31, 60, 61, 90, 91, 400}).Draw(t, "days")
			owed.Add(currency, amount, now.Add(-time.Duration(days)*24*time.Hour), now)
			band := map[int]int{0: 0, 30: 0, 31: 1, 60: 1, 61: 2, 90: 2, 91: 3, 400: 3}[days]
			if want[currency] == nil {
				want[currency] = new(big.Rat)
			}
			want[currency].Add(want[currency], big.NewRat(amount*int64(rates[band]), 100_00))
			sums[currency] += amount
		}
		for _, currency := range []money.Currency{"EUR", "GBP"} {
			before[currency] = rapid.Int64Range(0, 1_000_000).Draw(t, "before")
		}

		found, err := monthend.Allowances(owed.Sorted(), rates, before)
		if err != nil {
			t.Fatal(err)
		}

		balances := map[money.Currency]int64{}
		for currency, amount := range before {
			balances[currency] = amount
		}
		for _, p := range monthend.AllowancePostings(newRun(1), found) {
			for _, e := range p.Entries {
				if e.Credit == ledger.AllowanceReceivables && e.Debit == ledger.ExpenseWriteOffs {
					balances[e.Currency] += e.Amount
				} else {
					balances[e.Currency] -= e.Amount
				}
			}
		}
		for _, currency := range []money.Currency{"EUR", "GBP", "USD"} {
			exact := want[currency]
			if exact == nil {
				exact = new(big.Rat)
			}
			difference := new(big.Rat).Sub(exact, new(big.Rat).SetInt64(balances[currency]))
			if difference.Abs(difference).Cmp(big.NewRat(1, 2)) > 0 || balances[currency] > sums[currency] {
				t.Errorf("the allowance is %d %s, and %s of %d are expected to be lost", balances[currency], currency, exact.FloatString(4),
					sums[currency])
			}
		}
		for _, a := range found {
			if !a.IsConsistent() || a.Owed == [4]int64{} && a.Before == 0 {
				t.Errorf("%+v", a)
			}
			a.Required++
			if a.IsConsistent() {
				t.Errorf("%+v is consistent", a)
			}
		}
	})
}
