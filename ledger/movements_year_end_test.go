package ledger_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/money"
	"causeway/ledger"
)

func TestYearEnd_Example(t *testing.T) {
	t.Parallel()
	// Income of 120.00 and rail costs of 20.00 US dollars leave retained earnings with 100.00; an account at zero has
	// no entry, and income below zero is debited to retained earnings.
	p := ledger.YearEnd(ledger.Header{}, []ledger.NetBalance{
		{Path: ledger.ExpenseRails, Currency: money.USD, Net: money.TotalOf(2000)},
		{Path: ledger.IncomeFees, Currency: money.USD, Net: money.TotalOf(-12000)},
		{Path: ledger.IncomeRounding, Currency: money.USD},
		{Path: ledger.IncomeRounding, Currency: "EUR", Net: money.TotalOf(3)},
	})

	want := []ledger.Entry{
		{Debit: ledger.EquityRetainedEarnings, Credit: ledger.ExpenseRails, Currency: money.USD, Amount: 2000},
		{Debit: ledger.IncomeFees, Credit: ledger.EquityRetainedEarnings, Currency: money.USD, Amount: 12000},
		{Debit: ledger.EquityRetainedEarnings, Credit: ledger.IncomeRounding, Currency: "EUR", Amount: 3},
	}
	if p.Kind != ledger.KindYearEnd || !slices.Equal(p.Entries, want) {
		t.Errorf("%v", p)
	}
}

func TestYearEnd_AnyBalances(t *testing.T) {
	t.Parallel()
	// Whatever the balances, also those larger than an entry may be, every account is at zero afterwards, and the
	// posting is valid.
	rapid.Check(t, func(t *rapid.T) {
		var balances []ledger.NetBalance
		for i, path := range []string{ledger.IncomeFees, ledger.IncomeExchangeGains, ledger.ExpenseRails, "expense/marketing"} {
			parts := rapid.SliceOfN(rapid.Int64Range(-ledger.MaxAmount, ledger.MaxAmount), 0, 3).Draw(t, path)
			b := ledger.NetBalance{Path: path, Currency: []money.Currency{money.USD, "EUR"}[i%2]}
			for _, part := range parts {
				b.Net = b.Net.Add(money.TotalOf(part))
			}
			balances = append(balances, b)
		}

		p := ledger.YearEnd(header(1), balances)

		if err := p.Validate(); err != nil && len(p.Entries) > 0 {
			t.Fatal(err)
		}
		for _, b := range balances {
			left := b.Net
			for _, e := range p.Entries {
				if e.Debit == b.Path {
					left = left.Add(money.TotalOf(e.Amount))
				}
				if e.Credit == b.Path {
					left = left.Sub(money.TotalOf(e.Amount))
				}
			}
			if left.Sign() != 0 {
				t.Errorf("%s is at %s afterwards", b.Path, left)
			}
		}
	})
}

func TestYearEnd_ManyAccounts(t *testing.T) {
	t.Parallel()
	// A closing of more accounts than other postings may have is valid, and so is its reversal.
	balance := ledger.NetBalance{Path: ledger.IncomeFees, Currency: money.USD, Net: money.TotalOf(-1)}
	p := ledger.YearEnd(header(1), slices.Repeat([]ledger.NetBalance{balance}, ledger.MaxEntries+1))

	if err := p.Validate(); err != nil {
		t.Error(err)
	}
	if err := ledger.Reverse(p, postingID(2), noon, "").Validate(); err != nil {
		t.Error(err)
	}
	adjustment := p
	if adjustment.Kind = ledger.KindAdjustment; adjustment.Validate() == nil {
		t.Error("an adjustment may have as many entries")
	}
}
