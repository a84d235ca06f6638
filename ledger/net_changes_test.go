package ledger_test

import (
	"testing"

	"pgregory.net/rapid"

	"causeway/ledger"
)

func TestNetChanges_MatchApply(t *testing.T) {
	t.Parallel()
	// Summed over any postings, the changes of guarded accounts are those that applying
	// them one after the other makes; what ends where it began is not among them.
	rapid.Check(t, func(t *rapid.T) {
		postings := rapid.SliceOfN(anyPosting(1_000_000), 0, 12).Draw(t, "postings")
		applied := ledger.Balances{}
		for _, p := range postings {
			changes, err := p.Changes()
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range changes {
				if c.NoOverdraft {
					applied[c.Account] += c.Amount
				}
			}
		}

		moved, err := ledger.NetChanges(postings)
		if err != nil {
			t.Fatal(err)
		}

		for i, c := range moved {
			if c.Amount == 0 || applied[c.Account] != c.Amount || i > 0 && moved[i-1].Account.Compare(c.Account) >= 0 {
				t.Fatalf("%+v, applied %d", c, applied[c.Account])
			}
			if _, owned := c.Account.InternalAccount(); !owned {
				t.Fatalf("nobody owns %s", c.Account)
			}
			delete(applied, c.Account)
		}
		for account, amount := range applied {
			if amount != 0 {
				t.Fatalf("%s moved by %d and is missing", account, amount)
			}
		}
	})
}

func TestAccount_InternalAccount(t *testing.T) {
	t.Parallel()
	// Only the path of a balance names an internal account.
	for _, path := range []string{ledger.FundingJIT, ledger.Rail("RTP"), "customers/", "customers", ""} {
		if id, owned := (ledger.Account{Path: path}).InternalAccount(); owned {
			t.Errorf("%q is owned by %s", path, id)
		}
	}
}
