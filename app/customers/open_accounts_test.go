package customers_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/customers"
	"causeway/app/internal/apptest"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
)

// addCurrency adds a currency to the settings of a platform.
func (e *env) addCurrency(t *testing.T, admin platform.Principal, code money.Currency) {
	t.Helper()
	settings, err := e.platforms.Settings(t.Context(), admin.Platform)
	if err != nil {
		t.Fatal(err)
	}
	currencies := append(slices.Clone(settings.Currencies), platform.Currency{Code: code, MaxAmount: 100, Directions: []string{"OUTGOING"}})
	if _, err := e.platforms.UpdateSettings(t.Context(), admin.Platform, platform.Service,
		platform.Change{Currencies: &currencies}); err != nil {
		t.Fatal(err)
	}
}

// accountsOf returns the internal accounts of one owner by currency.
func (e *env) accountsOf(t *testing.T, admin platform.Principal, owner ident.Customer) map[money.Currency]account.Internal {
	t.Helper()
	byOwner, err := e.Store.InternalAccountsOf(t.Context(), admin.Platform, []ident.Customer{owner})
	if err != nil {
		t.Fatal(err)
	}
	accounts := map[money.Currency]account.Internal{}
	for _, a := range byOwner[owner] {
		accounts[a.Currency] = a
	}
	return accounts
}

func TestOpenDue_OpensNewCurrencyForEveryCustomer(t *testing.T) {
	t.Parallel()
	// Every customer gets one account in a currency that the platform adds, also when there
	// are more customers than fit in one batch. Existing accounts do not change.
	env := newEnv(t)
	admin := env.createPlatform(t, platform.Sandbox, false)
	first, err := env.customers.Create(t.Context(), admin.Platform, nil, customer.Request{Type: "INDIVIDUAL", FullName: "Ana Silva"})
	if err != nil {
		t.Fatal(err)
	}
	settings, err := env.platforms.Settings(t.Context(), admin.Platform)
	if err != nil {
		t.Fatal(err)
	}
	owners := []ident.Customer{first.ID}
	if err := env.Store.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		for n := range 2 * customers.BatchSize { // created before accounts were opened at once: they have none
			id := ident.NewCustomer(env.IDs.New, apptest.Noon)
			created, err := customer.Create(customer.Request{Type: "INDIVIDUAL", PlatformCustomerID: fmt.Sprint("n", n)}, settings, id,
				id.UUID(), apptest.Noon)
			if err != nil {
				return err
			}
			if err := tx.CreateCustomer(ctx, created); err != nil {
				return err
			}
			owners = append(owners, id)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	before := env.accountsOf(t, admin, first.ID)

	env.addCurrency(t, admin, "EUR")
	if err := env.customers.OpenDue(t.Context()); err != nil {
		t.Fatal(err)
	}

	byOwner, err := env.Store.InternalAccountsOf(t.Context(), admin.Platform, owners)
	if err != nil {
		t.Fatal(err)
	}
	for _, owner := range owners {
		if n := len(byOwner[owner]); n != len(before)+1 {
			t.Errorf("%s has %d accounts, want %d", owner, n, len(before)+1)
		}
	}
	after := env.accountsOf(t, admin, first.ID)
	for currency, a := range before {
		if b := after[currency]; b.ID != a.ID || b.Reference != a.Reference || !b.UpdatedAt.Equal(a.UpdatedAt) {
			t.Errorf("the account in %s changed from %+v to %+v", currency, a, b)
		}
	}
	if euros := after["EUR"]; len(euros.Instructions) != 2 || euros.Instructions[0].Info["accountHolderName"] != "Causeway Client Money FBO "+
		"Ana Silva" {
		t.Errorf("the account in EUR: %+v", euros)
	}
	if own := env.accountsOf(t, admin, ident.Customer{})["EUR"]; len(own.Instructions) != 2 || !own.Instructions[0].PlatformAccount {
		t.Errorf("the platform's own account in EUR: %+v", own)
	}
	if err := env.customers.OpenDue(t.Context()); err != nil {
		t.Error(err)
	}
	if left, err := env.Store.TakeJobs(t.Context(), ports.StepOpenAccounts, apptest.Noon.Add(time.Hour), 1, 10); err != nil || len(left) > 0 {
		t.Errorf("jobs left: %v, %v", left, err)
	}
}

func TestOpenDue_ConcurrentCreateGetsNewCurrency(t *testing.T) {
	t.Parallel()
	// Customers that are created while a currency is added have an account in it in the end.
	env := newEnv(t)
	admin := env.createPlatform(t, platform.Sandbox, false)
	var requests sync.WaitGroup
	created := make([]customer.Customer, 12)
	for i := range created {
		requests.Go(func() {
			var err error
			if created[i], err = env.customers.Create(t.Context(), admin.Platform, nil, customer.Request{Type: "INDIVIDUAL"}); err != nil {
				t.Error(err)
			}
		})
	}
	requests.Go(func() {
		env.addCurrency(t, admin, "EUR")
		if err := env.customers.OpenDue(t.Context()); err != nil {
			t.Error(err)
		}
	})
	requests.Wait()

	for _, c := range created {
		if _, has := env.accountsOf(t, admin, c.ID)["EUR"]; !has {
			t.Errorf("%s has no account in EUR", c.ID)
		}
	}
}

func TestOpenDue_AddsInstructionsOnceRailIsConnected(t *testing.T) {
	t.Parallel()
	// Accounts that were opened while no rail was connected get their funding instructions
	// once one is, the next time the currencies are set; their reference does not change.
	env := newEnv(t)
	admin := env.createPlatform(t, platform.Production, true)
	ana, err := env.customers.Create(t.Context(), admin.Platform, nil, customer.Request{Type: "INDIVIDUAL"})
	if err != nil {
		t.Fatal(err)
	}
	before := env.accountsOf(t, admin, ana.ID)["USD"]
	if before.Instructions != nil {
		t.Fatalf("instructions without a rail: %+v", before)
	}

	env.rails[platform.Production] = env.Rail
	env.addCurrency(t, admin, "EUR")
	if err := env.customers.OpenDue(t.Context()); err != nil {
		t.Fatal(err)
	}

	after := env.accountsOf(t, admin, ana.ID)["USD"]
	if len(after.Instructions) != 2 || after.ID != before.ID || after.Instructions[0].Info["reference"] != before.Reference {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
	if own := env.accountsOf(t, admin, ident.Customer{})["USD"]; len(own.Instructions) != 2 {
		t.Errorf("the platform's own account: %+v", own)
	}
}

func TestOpenDue_AddsInstructionsOverANewConnection(t *testing.T) {
	t.Parallel()
	// The job that follows the setting of a connection adds the instructions of the accounts of a platform and of its
	// customers that have none; those that have some stay.
	env := newEnv(t)
	env.rails[platform.Production] = unconnected{env.Rail}
	admin := env.createPlatform(t, platform.Production, true)
	ana, err := env.customers.Create(t.Context(), admin.Platform, nil, customer.Request{Type: "INDIVIDUAL"})
	if err != nil {
		t.Fatal(err)
	}
	before := env.accountsOf(t, admin, ana.ID)["USD"]
	if before.Instructions != nil {
		t.Fatalf("instructions without a connection: %+v", before)
	}
	env.rails[platform.Production] = env.Rail
	run := func() {
		env.Do(func(ctx context.Context, tx *postgres.Unit) error {
			return tx.AddJobs(ctx, []ports.Job{{ID: env.IDs.New(apptest.Noon), Platform: admin.Platform, Step: ports.StepOpenAccounts,
				Due: env.Clock.Now()}})
		})
		if err := env.customers.OpenDue(t.Context()); err != nil {
			t.Fatal(err)
		}
	}

	run()

	own, customers := env.accountsOf(t, admin, ident.Customer{})["USD"], env.accountsOf(t, admin, ana.ID)["USD"]
	if len(own.Instructions) != 2 || !own.Instructions[0].PlatformAccount || len(customers.Instructions) != 2 ||
		customers.Reference != before.Reference {
		t.Errorf("the platform's %+v\nthe customer's %+v", own, customers)
	}
	env.Clock.Advance(time.Hour)
	run()
	if again := env.accountsOf(t, admin, ident.Customer{})["USD"]; !again.UpdatedAt.Equal(own.UpdatedAt) {
		t.Errorf("changed again: %+v", again)
	}
}

// unconnected is a rail over which nothing can be received.
type unconnected struct{ ports.Rail }

func (unconnected) Funding(ident.Platform, string, string, money.Currency) ([]account.Instruction, error) {
	return nil, nil
}
