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
	// After any postings, debits equal credits in every currency, no account that may not
	// be overdrawn is below zero, every balance is the sum of its entries, and a refused
	// posting has changed nothing.
	rapid.Check(t, func(t *rapid.T) {
		balances := ledger.Balances{}
		exact := map[ledger.Account]*big.Int{} // debits minus credits, by plain sums

		for _, p := range rapid.SliceOfN(anyPosting(1000), 1, 40).Draw(t, "postings") {
			before := maps.Clone(balances)
			if err := balances.Apply(p); err != nil {
				var insufficient *ledger.InsufficientBalanceError
				if !errors.As(err, &insufficient) {
					t.Fatalf("refused for another reason: %v", err)
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
				t.Fatalf("%s is overdrawn: %d", a, balance)
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
	// A balance that would not fit is an error on either side, and nothing is changed.
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
	// The error names the account, the posting, and the balance before and after it.
	from := account(ledger.CustomerAccount(alice), money.USD)
	balances := ledger.Balances{from: 100}
	p := ledger.TransferOut(header(7), ledger.OutgoingFunds{From: from.Path, Amount: usd(100), Fees: 1})

	var insufficient *ledger.InsufficientBalanceError
	if err := balances.Apply(p); !errors.As(err, &insufficient) {
		t.Fatalf("got %v, want an InsufficientBalanceError", err)
	}

	want := ledger.Shortfall{Account: from, Posting: p.ID, Balance: 100, After: -1}
	if len(insufficient.Shortfalls) != 1 || insufficient.Shortfalls[0] != want {
		t.Errorf("got %+v, want %+v", insufficient.Shortfalls, want)
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

func TestNetChanges_SumsEntriesByAccount(t *testing.T) {
	t.Parallel()
	// Over any postings there is one change for each account, in account order, and it is
	// the plain sum of the account's entries.
	rapid.Check(t, func(t *rapid.T) {
		postings := rapid.SliceOfN(anyPosting(1_000_000), 0, 12).Draw(t, "postings")
		want := map[ledger.Account]int64{}
		for _, p := range postings {
			for _, e := range p.Entries {
				debit, credit := account(e.Debit, e.Currency), account(e.Credit, e.Currency)
				want[debit] += signedAmount(debit, e.Amount)
				want[credit] += signedAmount(credit, -e.Amount)
			}
		}

		changes := must(ledger.NetChanges(postings...))

		if len(changes) != len(want) {
			t.Fatalf("%d changes of %d accounts", len(changes), len(want))
		}
		for i, c := range changes {
			if want[c.Account] != c.Amount || i > 0 && changes[i-1].Account.Compare(c.Account) >= 0 {
				t.Fatalf("%+v, want %d", c, want[c.Account])
			}
			if _, found := c.Account.InternalAccount(); found != c.NoOverdraft {
				t.Fatalf("%s: internal account %t, may not be overdrawn %t", c.Account, found, c.NoOverdraft)
			}
		}
	})
}

// signedAmount gives an amount of debits the sign of the account's class.
func signedAmount(a ledger.Account, debits int64) int64 {
	if must(ledger.FindChartLine(a.Path)).Class.IsDebitNormal() {
		return debits
	}
	return -debits
}

func TestAccount_InternalAccount(t *testing.T) {
	t.Parallel()
	// Only the path of an internal account's balance contains its id.
	for _, path := range []string{ledger.FundingJIT, ledger.Rail("RTP"), "customers/", "customers", ""} {
		if id, found := (ledger.Account{Path: path}).InternalAccount(); found {
			t.Errorf("%q contains the internal account %s", path, id)
		}
	}
}
