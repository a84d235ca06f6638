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
	// A batch is bearable exactly when every posting of it could be applied in turn,
	// and the shortage it names is one that applying them finds.
	rapid.Check(t, func(t *rapid.T) {
		batch := rapid.SliceOfN(anyPosting(100), 1, 8).Draw(t, "batch")
		start := ledger.Balances{}
		for _, p := range batch {
			for _, a := range p.Accounts() {
				start[a] = rapid.Int64Range(0, 200).Draw(t, "balance")
			}
		}

		strains := must(ledger.BalanceDeltas(batch))

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
		var unbearable []*ledger.InsufficientBalanceError
		for _, s := range strains {
			err := s.Check(start[s.Account])
			if (err != nil) != (start[s.Account]+s.Lowest < 0) {
				t.Fatalf("%s: lowest %d on %d, yet %v", s.Account, s.Lowest, start[s.Account], err)
			}
			var short *ledger.InsufficientBalanceError
			if errors.As(err, &short) {
				unbearable = append(unbearable, short)
			}
			if refused == nil && start[s.Account]+s.Sum != oneByOne[s.Account] {
				t.Fatalf("%s: %d%+d is not %d", s.Account, start[s.Account], s.Sum, oneByOne[s.Account])
			}
		}
		if (refused != nil) != (len(unbearable) > 0) {
			t.Fatalf("one by one: %v; as a batch: %v", refused, unbearable)
		}
		if refused == nil {
			return
		}
		var first *ledger.InsufficientBalanceError
		if !errors.As(refused, &first) {
			t.Fatalf("refused: %v", refused)
		}
		for _, short := range unbearable {
			if short.Shortfalls[0] == first.Shortfalls[0] {
				return
			}
		}
		t.Fatalf("one by one finds %v, the batch %v", first, unbearable)
	})
}

func TestBalanceDelta_Overflow(t *testing.T) {
	t.Parallel()
	// Neither the batch alone nor the batch on a balance may leave int64.
	to := account(ledger.CustomerAccount(alice), money.USD)
	deposit := ledger.Deposit(header(1), ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: to.Path, Amount: usd(ledger.MaxAmount)})
	strains := must(ledger.BalanceDeltas([]ledger.Posting{deposit}))

	if err := strains[0].Check(math.MaxInt64 - ledger.MaxAmount); err != nil {
		t.Errorf("a full account was refused: %v", err)
	}
	if err := strains[0].Check(math.MaxInt64 - ledger.MaxAmount + 1); !errors.Is(err, ledger.ErrOverflow) {
		t.Errorf("got %v, want ErrOverflow", err)
	}

	many := make([]ledger.Posting, math.MaxInt64/ledger.MaxAmount+1)
	for i := range many {
		many[i] = deposit
	}
	if _, err := ledger.BalanceDeltas(many); !errors.Is(err, ledger.ErrOverflow) {
		t.Errorf("got %v, want ErrOverflow", err)
	}
}
