package account_test

import (
	"testing"
	"time"

	"causeway/core/account"
	"causeway/core/corridor"
)

func TestPullRail(t *testing.T) {
	t.Parallel()
	// Money is collected from American bank accounts alone, and only while they are
	// in use.
	for name, test := range map[string]struct {
		account account.External
		want    corridor.Rail
	}{
		"a bank account in the US": {account.External{Type: account.USAccount, Status: account.Active}, corridor.ACH},
		"one that is not active":   {account.External{Type: account.USAccount, Status: account.UnderReview}, ""},
		"one that was deleted":     {account.External{Type: account.USAccount, Status: account.Active, DeletedAt: time.Unix(1, 0)}, ""},
		"an account in Europe":     {account.External{Type: "EUR_ACCOUNT", Status: account.Active}, ""},
		"a wallet":                 {account.External{Type: account.Layer2Wallet, Status: account.Active}, ""},
	} {
		rail, can := test.account.PullRail()
		if can != (test.want != "") || can && rail != test.want {
			t.Errorf("%s: %q, %v; want %q", name, rail, can, test.want)
		}
	}
}
