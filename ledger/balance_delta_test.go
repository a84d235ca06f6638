package ledger_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/money"
	"causeway/ledger"
)

func TestBalanceDelta_CheckMatchesApply(t *testing.T) {
	t.Parallel()
	// A batch passes the check exactly if every posting of it can be applied in turn, and
	// the shortfall that the check names is one that applying them finds.
	rapid.Check(t, func(t *rapid.T) {
		batch := rapid.SliceOfN(anyPosting(100), 1, 8).Draw(t, "batch")
		start := ledger.Balances{}
		for _, p := range batch {
			for _, a := range p.Accounts() {
				start[a] = rapid.Int64Range(0, 200).Draw(t, "balance")
			}
		}

		deltas := must(ledger.BalanceDeltas(batch))

		oneByOne := ledger.Balances{}
		for a, b := range start {
			oneByOne[a] = b
		}
		var refused error
		for _, p := range batch {
			if refused = oneByOne.Apply(p); refused != nil {
				break
			}
		}
		var failures []*ledger.InsufficientBalanceError
		for _, d := range deltas {
			err := d.Check(start[d.Account])
			if (err != nil) != (start[d.Account]+d.Lowest < 0) {
				t.Fatalf("%s: lowest %d on %d, but %v", d.Account, d.Lowest, start[d.Account], err)
			}
			var insufficient *ledger.InsufficientBalanceError
			if errors.As(err, &insufficient) {
				failures = append(failures, insufficient)
			}
			if refused == nil && start[d.Account]+d.Sum != oneByOne[d.Account] {
				t.Fatalf("%s: %d%+d is not %d", d.Account, start[d.Account], d.Sum, oneByOne[d.Account])
			}
		}
		if (refused != nil) != (len(failures) > 0) {
			t.Fatalf("one by one: %v; as a batch: %v", refused, failures)
		}
		if refused == nil {
			return
		}
		var first *ledger.InsufficientBalanceError
		if !errors.As(refused, &first) {
			t.Fatalf("refused: %v", refused)
		}
		for _, failure := range failures {
			if failure.Shortfalls[0] == first.Shortfalls[0] {
				return
			}
		}
		t.Fatalf("one by one finds %v, the batch %v", first, failures)
	})
}

func TestBalanceDelta_Overflow(t *testing.T) {
	t.Parallel()
	// Neither the sum of a batch nor a balance after it may exceed an int64.
	to := account(ledger.CustomerAccount(alice), money.USD)
	deposit := ledger.Deposit(header(1), ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: to.Path, Amount: usd(ledger.MaxAmount)})
	deltas := must(ledger.BalanceDeltas([]ledger.Posting{deposit}))

	if err := deltas[0].Check(math.MaxInt64 - ledger.MaxAmount); err != nil {
		t.Errorf("the largest balance was refused: %v", err)
	}
	if err := deltas[0].Check(math.MaxInt64 - ledger.MaxAmount + 1); !errors.Is(err, ledger.ErrOverflow) {
		t.Errorf("got %v, want ErrOverflow", err)
	}

	postings := make([]ledger.Posting, math.MaxInt64/ledger.MaxAmount+1)
	for i := range postings {
		postings[i] = deposit
	}
	if _, err := ledger.BalanceDeltas(postings); !errors.Is(err, ledger.ErrOverflow) {
		t.Errorf("got %v, want ErrOverflow", err)
	}
}
