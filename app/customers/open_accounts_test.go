package customers_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"causeway/app/customers"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
)

// addCurrency lets the platform use a further currency.
func (h *env) addCurrency(t *testing.T, who platform.Principal, code money.Currency) {
	t.Helper()
	is, err := h.platforms.Settings(t.Context(), who)
	if err != nil {
		t.Fatal(err)
	}
	more := append(slices.Clone(is.Currencies), platform.Currency{Code: code, MaxAmount: 100, Directions: []string{"OUTGOING"}})
	if _, err := h.platforms.UpdateSettings(t.Context(), who, platform.Change{Currencies: &more}); err != nil {
		t.Fatal(err)
	}
}

// accountsOf are those of one owner, by currency.
func (h *env) accountsOf(t *testing.T, who platform.Principal, owner ident.Customer) map[money.Currency]account.Internal {
	t.Helper()
	of, err := h.store.InternalAccountsOf(t.Context(), who.Platform, []ident.Customer{owner})
	if err != nil {
		t.Fatal(err)
	}
	accounts := map[money.Currency]account.Internal{}
	for _, a := range of[owner] {
		accounts[a.Currency] = a
	}
	return accounts
}

func TestOpenDue_OpensNewCurrencyForEveryCustomer(t *testing.T) {
	t.Parallel()
	// However many customers there are, each gets an account in a currency that the
	// platform adds; those it had stay as they were, and nobody gets one twice.
	h := newEnv(t)
	who := h.createPlatform(t, platform.Sandbox, false)
	first, err := h.Create(t.Context(), who, nil, customer.Request{Type: "INDIVIDUAL", FullName: "Ana Silva"})
	if err != nil {
		t.Fatal(err)
	}
	on, err := h.platforms.Settings(t.Context(), who)
	if err != nil {
		t.Fatal(err)
	}
	owners := []ident.Customer{first.ID}
	if err := h.store.Do(t.Context(), func(ctx context.Context, tx ports.Tx) error {
		for n := range 2 * customers.BatchSize { // of older days: they have no account at all
			id := ident.NewCustomer(h.IDs.New, noon)
			made, err := customer.Create(customer.Request{Type: "INDIVIDUAL", PlatformCustomerID: fmt.Sprint("n", n)}, on, id, id.UUID(), noon)
			if err != nil {
				return err
			}
			if err := tx.CreateCustomer(ctx, made); err != nil {
				return err
			}
			owners = append(owners, id)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	before := h.accountsOf(t, who, first.ID)

	h.addCurrency(t, who, "EUR")
	if err := h.OpenDue(t.Context()); err != nil {
		t.Fatal(err)
	}

	of, err := h.store.InternalAccountsOf(t.Context(), who.Platform, owners)
	if err != nil {
		t.Fatal(err)
	}
	for _, owner := range owners {
		if has := len(of[owner]); has != len(before)+1 {
			t.Errorf("%s has %d accounts, want %d", owner, has, len(before)+1)
		}
	}
	after := h.accountsOf(t, who, first.ID)
	for code, was := range before {
		if is := after[code]; is.ID != was.ID || is.Reference != was.Reference || !is.UpdatedAt.Equal(was.UpdatedAt) {
			t.Errorf("the account in %s was %+v and is %+v", code, was, is)
		}
	}
	if euro := after["EUR"]; len(euro.Instructions) != 1 || euro.Instructions[0].Info["accountHolderName"] != "Causeway Client Money FBO Ana Silva" {
		t.Errorf("the account in EUR: %+v", euro)
	}
	if own := h.accountsOf(t, who, ident.Customer{})["EUR"]; len(own.Instructions) != 1 || !own.Instructions[0].PlatformAccount {
		t.Errorf("the platform's own account in EUR: %+v", own)
	}
	if err := h.OpenDue(t.Context()); err != nil {
		t.Error(err)
	}
	if left, err := h.store.TakeJobs(t.Context(), ports.StepOpenAccounts, noon.Add(time.Hour), 1, 10); err != nil || len(left) > 0 {
		t.Errorf("left to do: %v, %v", left, err)
	}
}

func TestOpenDue_ConcurrentCreateGetsNewCurrency(t *testing.T) {
	t.Parallel()
	// Customers that are being made while a currency is added have it in the end,
	// whichever came first.
	h := newEnv(t)
	who := h.createPlatform(t, platform.Sandbox, false)
	var all sync.WaitGroup
	made := make([]customer.Customer, 12)
	for i := range made {
		all.Go(func() {
			var err error
			if made[i], err = h.Create(t.Context(), who, nil, customer.Request{Type: "INDIVIDUAL"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Go(func() {
		h.addCurrency(t, who, "EUR")
		if err := h.OpenDue(t.Context()); err != nil {
			t.Error(err)
		}
	})
	all.Wait()

	for _, c := range made {
		if _, has := h.accountsOf(t, who, c.ID)["EUR"]; !has {
			t.Errorf("%s has no account in EUR", c.ID)
		}
	}
}

func TestOpenDue_AddsInstructionsOnceRailIsConnected(t *testing.T) {
	t.Parallel()
	// Accounts that were opened while no rail was connected are told how they are paid
	// into once one is, the next time the currencies are set; their reference stays.
	h := newEnv(t)
	who := h.createPlatform(t, platform.Production, true)
	ana, err := h.Create(t.Context(), who, nil, customer.Request{Type: "INDIVIDUAL"})
	if err != nil {
		t.Fatal(err)
	}
	before := h.accountsOf(t, who, ana.ID)["USD"]
	if before.Instructions != nil {
		t.Fatalf("paid into without a rail: %+v", before)
	}

	h.Rails[platform.Production] = h.Rails[platform.Sandbox] // both use cases share it
	h.addCurrency(t, who, "EUR")
	if err := h.OpenDue(t.Context()); err != nil {
		t.Fatal(err)
	}

	after := h.accountsOf(t, who, ana.ID)["USD"]
	if len(after.Instructions) != 1 || after.ID != before.ID || after.Instructions[0].Info["reference"] != before.Reference {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
	if own := h.accountsOf(t, who, ident.Customer{})["USD"]; len(own.Instructions) != 1 {
		t.Errorf("the platform's own: %+v", own)
	}
}
