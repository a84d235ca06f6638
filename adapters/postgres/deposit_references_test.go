package postgres_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/money"
)

func TestDepositReferences(t *testing.T) {
	t.Parallel()
	// Accounts and quotes of platforms in production are listed in the order of their ids, by currency and platform,
	// piece by piece. Those of the sandbox are not: no money is paid to them.
	c := newRetentionEnv(t)
	owner := c.owner
	exec(t, owner, `UPDATE platforms SET environment = 'PRODUCTION' WHERE id = $1`, c.platform.ID.UUID())
	account := func(p ident.Platform, at time.Time, currency string) uuid.UUID {
		id := newIDAt(at)
		exec(
			t, owner, `INSERT INTO internal_accounts (platform_id, id, currency, account_type, status, created_at, updated_at, reference, instructions)
			VALUES ($1, $2, $3, 'INTERNAL_FIAT', 'ACTIVE', $4, $4, $5, '')`, p.UUID(), id, currency, at, id.String())
		return id
	}
	first := account(c.platform.ID, noon, "BTC")
	account(c.platform.ID, noon, "EUR")
	account(c.otherPlatform.ID, noon, "BTC")
	second, _ := c.insertQuote(t, noon.Add(time.Minute), "sent_currency = 'BTC'")
	c.insertQuote(t, noon.Add(time.Minute), "")
	third := account(c.platform.ID, noon.Add(time.Hour), "USDC")

	list := func(after uuid.UUID, limit int, currencies ...money.Currency) (ids []uuid.UUID) {
		t.Helper()
		found, err := c.DepositReferences(t.Context(), nil, currencies, after, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range found {
			if r.Platform != c.platform.ID || r.Reference != r.ID.String() || r.CreatedAt.Before(noon) || r.CreatedAt.After(noon.Add(time.Hour)) {
				t.Errorf("listed %+v", r)
			}
			ids = append(ids, r.ID)
		}
		return ids
	}

	for name, test := range map[string]struct{ got, want []uuid.UUID }{
		"of one currency":       {list(uuid.Nil, 10, "BTC"), []uuid.UUID{first, second}},
		"of two":                {list(uuid.Nil, 10, "BTC", "USDC"), []uuid.UUID{first, second, third}},
		"the first":             {list(uuid.Nil, 1, "BTC", "USDC"), []uuid.UUID{first}},
		"those after the first": {list(first, 10, "BTC", "USDC"), []uuid.UUID{second, third}},
	} {
		if len(test.got) != len(test.want) {
			t.Fatalf("%s: %v, want %v", name, test.got, test.want)
		}
		for i := range test.got {
			if test.got[i] != test.want[i] {
				t.Errorf("%s: %v, want %v", name, test.got, test.want)
			}
		}
	}
	none, err := c.DepositReferences(t.Context(), []ident.Platform{c.otherPlatform.ID}, []money.Currency{"BTC"}, uuid.Nil, 10)
	if err != nil || len(none) > 0 {
		t.Errorf("of the other platform: %v, %v", none, err)
	}
}
