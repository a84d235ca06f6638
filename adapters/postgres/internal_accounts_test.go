package postgres_test

import (
	"context"
	"testing"

	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

func newInternal(t *testing.T, p ident.Platform, owner ident.Customer, currency money.Currency) account.Internal {
	t.Helper()
	a, err := account.NewInternal(ident.NewInternalAccount(generator.New, noon), p, owner, currency, noon)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestInternalAccountsAreOpenedOnce(t *testing.T) {
	t.Parallel()
	// There is one account per owner and currency: opening it again, in the same unit
	// of work or later, changes nothing.
	c := newTown(t)
	ana := newCustomer(c.here, "ana")
	c.createCustomers(t, ana)
	nobody := ident.Customer{}
	dollars, coins, own := newInternal(t, c.here.ID, ana.ID, "USD"), newInternal(t, c.here.ID, ana.ID, "BTC"), newInternal(t, c.here.ID, nobody, "USD")
	theirs := newInternal(t, c.there.ID, nobody, "USD")
	open := func(accounts ...account.Internal) {
		t.Helper()
		c.do(t, func(ctx context.Context, tx ports.Tx) error { return tx.OpenInternalAccounts(ctx, accounts) })
	}
	open(dollars, coins, own, theirs, newInternal(t, c.here.ID, ana.ID, "USD"))
	open(newInternal(t, c.here.ID, ana.ID, "USD"), newInternal(t, c.here.ID, nobody, "USD"))
	open()

	for name, test := range map[string]struct {
		platform ident.Platform
		owner    ident.Customer
		currency money.Currency
		want     account.Internal
	}{
		"a customer's":           {c.here.ID, ana.ID, "USD", dollars},
		"in another currency":    {c.here.ID, ana.ID, "BTC", coins},
		"the platform's own":     {c.here.ID, nobody, "USD", own},
		"another platform's":     {c.there.ID, nobody, "USD", theirs},
		"one that is not open":   {c.here.ID, ana.ID, "EUR", account.Internal{}},
		"of a foreign customer":  {c.there.ID, ana.ID, "USD", account.Internal{}},
		"own, not open there":    {c.there.ID, nobody, "BTC", account.Internal{}},
		"own, in another's coin": {c.here.ID, nobody, "BTC", account.Internal{}},
	} {
		c.do(t, func(ctx context.Context, tx ports.Tx) error {
			found, ok, err := tx.InternalAccount(ctx, test.platform, test.owner, test.currency)
			if ok != !test.want.ID.IsZero() || (ok && found != test.want) {
				t.Errorf("%s: %+v, %v\nwant %+v", name, found, ok, test.want)
			}
			return err
		})
	}
}

func TestAnInternalAccountIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	// What was opened in a unit of work is found in it, before anything is committed.
	c := newTown(t)
	own := newInternal(t, c.here.ID, ident.Customer{}, "EUR")
	c.do(t, func(ctx context.Context, tx ports.Tx) error {
		if err := tx.OpenInternalAccounts(ctx, []account.Internal{own}); err != nil {
			return err
		}
		found, ok, err := tx.InternalAccount(ctx, c.here.ID, ident.Customer{}, "EUR")
		if !ok || found != own {
			t.Errorf("found %+v, %v", found, ok)
		}
		return err
	})
}
