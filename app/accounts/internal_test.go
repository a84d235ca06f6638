package accounts_test

import (
	"testing"

	"causeway/app/accounts"
	"causeway/app/internal/apptest"
	"causeway/core/ident"
	"causeway/ports"
)

func TestService_ListInternalReturnsBalances(t *testing.T) {
	t.Parallel()
	// A customer's accounts are listed with what they hold, newest first. Accounts of the
	// platform itself are not listed.
	env := apptest.New(t)
	service := accounts.New(accounts.Config{Store: env.Store, Ledger: env.Store.LedgerReader()})
	dollars := env.NewInternalAccount(env.Customer.ID, "USD", 25_00)
	bitcoin := env.NewInternalAccount(env.Customer.ID, "BTC", 0)
	env.NewInternalAccount(ident.Customer{}, "USD", 7_00)

	page, err := service.ListInternal(t.Context(), env.Platform.ID, accounts.OwnedByCustomers,
		ports.InternalAccountFilter{Paging: ports.Paging{Limit: 10}})
	if err != nil {
		t.Fatal(err)
	}

	if len(page.Items) != 2 || page.Items[0].ID != bitcoin.ID || page.Items[1].ID != dollars.ID {
		t.Fatalf("listed %+v", page.Items)
	}
	if page.Items[0].Balance != 0 || page.Items[1].Balance != 25_00 {
		t.Errorf("balances %d and %d, want 0 and 2500", page.Items[0].Balance, page.Items[1].Balance)
	}
}
