package ledger_test

import (
	"errors"
	"maps"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/money"
	"causeway/ledger"
)

func TestBalances_Invariants(t *testing.T) {
	t.Parallel()
	// Whatever is posted: debits equal credits in every currency, no guarded account
	// is below zero, every balance is the sum of its entries, and what is refused
	// leaves no trace.
	rapid.Check(t, func(t *rapid.T) {
		balances := ledger.Balances{}
		exact := map[ledger.Account]*big.Int{} // debits minus credits, by plain sums

		for _, p := range rapid.SliceOfN(anyPosting(1000), 1, 40).Draw(t, "postings") {
			before := maps.Clone(balances)
			if err := balances.Apply(p); err != nil {
				var short *ledger.InsufficientBalanceError
				if !errors.As(err, &short) {
					t.Fatalf("refused for another reason than a shortage: %v", err)
				}
				if !maps.Equal(before, balances) {
					t.Fatalf("a refused posting changed balances")
				}
				continue
			}
			for _, e := range p.Entries {
				add(exact, account(e.Debit, e.Currency), e.Amount)
				add(exact, account(e.Credit, e.Currency), -e.Amount)
			}
		}

		total := map[money.Currency]*big.Int{money.USD: {}, money.BTC: {}}
		for a, balance := range balances {
			line := must(ledger.FindChartLine(a.Path))
			if line.NoOverdraft && balance < 0 {
				t.Fatalf("guarded %s is at %d", a, balance)
			}
			if !line.Class.IsDebitNormal() {
				balance = -balance
			}
			if exact[a].Cmp(big.NewInt(balance)) != 0 {
				t.Fatalf("%s: debits minus credits %d, entries say %s", a, balance, exact[a])
			}
			total[a.Currency].Add(total[a.Currency], exact[a])
		}
		for currency, sum := range total {
			if sum.Sign() != 0 {
				t.Fatalf("%s: debits minus credits is %s", currency, sum)
			}
		}
	})
}

func add(sums map[ledger.Account]*big.Int, a ledger.Account, amount int64) {
	if sums[a] == nil {
		sums[a] = new(big.Int)
	}
	sums[a].Add(sums[a], big.NewInt(amount))
}

func TestBalances_Overflow(t *testing.T) {
	t.Parallel()
	// A balance that would not fit is an error on either side, and nothing changes.
	for _, c := range []struct {
		account string
		balance int64
		posting ledger.Posting
	}{
		{ledger.Rail("RTP"), math.MaxInt64 - 5, ledger.JITReceived(header(1), ledger.Rail("RTP"), usd(6))},
		{ledger.FundingJIT, math.MaxInt64 - 5, ledger.JITReceived(header(1), ledger.Rail("RTP"), usd(6))},
		{ledger.Rail("RTP"), math.MinInt64 + 5, ledger.Delivered(header(1), ledger.Rail("RTP"), usd(6))},
	} {
		balances := ledger.Balances{account(c.account, money.USD): c.balance}

		err := balances.Apply(c.posting)

		if !errors.Is(err, ledger.ErrOverflow) {
			t.Errorf("%s at %d: got %v, want ErrOverflow", c.account, c.balance, err)
		}
		wantBalances(t, balances, map[string]int64{c.account + " USD": c.balance})
	}
}

func TestBalances_InsufficientBalanceError(t *testing.T) {
	t.Parallel()
	// A shortage names account, posting, what was there and what would be left.
	from := account(ledger.CustomerAccount(alice), money.USD)
	balances := ledger.Balances{from: 100}
	p := ledger.TransferOut(header(7), ledger.OutgoingFunds{From: from.Path, Amount: usd(100), Fees: 1})

	var short *ledger.InsufficientBalanceError
	if err := balances.Apply(p); !errors.As(err, &short) {
		t.Fatalf("got %v, want a ShortError", err)
	}

	want := ledger.Shortfall{Account: from, Posting: p.ID, Balance: 100, After: -1}
	if len(short.Shortfalls) != 1 || short.Shortfalls[0] != want {
		t.Errorf("got %+v, want %+v", short.Shortfalls, want)
	}
}

func TestBalances_EntriesOfOnePostingAreNetted(t *testing.T) {
	t.Parallel()
	// Within one posting money may pass through an account that has none.
	through := ledger.CustomerAccount(alice)
	p := ledger.Posting{ID: postingID(1), Platform: platform, Kind: ledger.KindTransferIn, Effective: noon, Entries: []ledger.Entry{
		{Debit: through, Credit: ledger.CustomerAccount(bob), Currency: money.USD, Amount: 5},
		{Debit: ledger.Rail("ACH"), Credit: through, Currency: money.USD, Amount: 5},
	}}
	balances := ledger.Balances{}

	apply(t, balances, p)

	wantBalances(t, balances, map[string]int64{"rails/ACH USD": 5, ledger.CustomerAccount(bob) + " USD": 5})
}
