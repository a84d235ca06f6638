package customers_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"

	"causeway/adapters/postgres"
	"causeway/app/customers"
	"causeway/app/internal/apptest"
	"causeway/core/account"
	"causeway/core/agent"
	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/core/wallet"
	"causeway/ledger"
)

func TestUpdate_ChangesAndReads(t *testing.T) {
	t.Parallel()
	// A changed customer is read as it was returned. An approved one whose identity changes starts a new
	// verification, with an event; a change of anything else emits none.
	env := newEnv(t)
	admin := env.createPlatform(t, platform.Production, false)
	ana, err := env.customers.Create(t.Context(), admin.Platform, nil, customer.Request{Type: "INDIVIDUAL", FullName: "Ana Silva"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := env.customers.SetStatus(t.Context(), approval(ana)); err != nil {
		t.Fatal(err)
	}

	for _, change := range []customer.Change{{Type: "INDIVIDUAL", Email: new("ana@example.com")},
		{Type: "INDIVIDUAL", FullName: new("Ana Souza")}} {
		changed, _, err := env.customers.Update(t.Context(), admin.Platform, platform.Service, wallet.Call{}, ana.ID, change)
		if err != nil {
			t.Fatal(err)
		}
		if read, err := env.customers.Get(t.Context(), admin.Platform, ana.ID); err != nil || !reflect.DeepEqual(read, changed) {
			t.Errorf("read %+v, %v\nchanged %+v", read, err, changed)
		}
	}

	env.Events.Want(ana.ID.UUID(), event.CustomerKYCApproved, event.CustomerKYCPending)
	env.WantChanges(platform.UpdatedCustomer, "(service): email changed", "(service): fullName changed; status APPROVED → PENDING")
}

func TestUpdate_SandboxNameDecidesAgain(t *testing.T) {
	t.Parallel()
	// An individual of the sandbox with another name is what a new one with that name is.
	env := newEnv(t)
	admin := env.createPlatform(t, platform.Sandbox, false)
	ana, err := env.customers.Create(t.Context(), admin.Platform, nil, customer.Request{Type: "INDIVIDUAL", FullName: "Ana Silva"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		want customer.Status
	}{{"Ana Souza", customer.Approved}, {"Ana Souza002", customer.Rejected}} {
		changed, _, err := env.customers.Update(t.Context(), admin.Platform, platform.Service, wallet.Call{}, ana.ID,
			customer.Change{Type: "INDIVIDUAL", FullName: new(c.name)})
		if err != nil || changed.Status != c.want {
			t.Errorf("%s: %s, %v; want %s", c.name, changed.Status, err, c.want)
		}
	}

	env.Events.Want(ana.ID.UUID(), event.CustomerKYCRejected)
}

func TestUpdate_RefusedChangesNothing(t *testing.T) {
	t.Parallel()
	// An unknown customer, one of another platform, an invalid field and an address in use are refused.
	env := newEnv(t)
	admin := env.createPlatform(t, platform.Sandbox, false)
	create := func(name string) customer.Customer {
		created, err := env.customers.Create(t.Context(), admin.Platform, nil, customer.Request{Type: "INDIVIDUAL", PlatformCustomerID: name,
			UMAAddress: "$" + name + "@uma.acme.test"})
		if err != nil {
			t.Fatal(err)
		}
		return created
	}
	ana, bo := create("ana"), create("bo")
	for name, c := range map[string]struct {
		id     ident.Customer
		change customer.Change
		want   fault.Code
		fields []string
	}{
		"of another platform": {env.Customer.ID, customer.Change{Type: "INDIVIDUAL"}, fault.UserNotFound, nil},
		"invalid": {ana.ID, customer.Change{Type: "INDIVIDUAL", Email: new("ana"), Region: new("US")}, fault.InvalidInput,
			[]string{"region", "email"}},
		"in use": {ana.ID, customer.Change{Type: "INDIVIDUAL", UMAAddress: new("$BO@uma.acme.test"), Email: new("a@example.com")},
			fault.UMAAddressExists, nil},
	} {
		_, _, err := env.customers.Update(t.Context(), admin.Platform, platform.Service, wallet.Call{}, c.id, c.change)
		apptest.WantFault(t, name, err, c.want, c.fields...)
	}
	for _, c := range []customer.Customer{ana, bo} {
		if read, err := env.customers.Get(t.Context(), admin.Platform, c.ID); err != nil || !reflect.DeepEqual(read, c) {
			t.Errorf("changed to %+v, %v", read, err)
		}
	}
}

func TestUpdate_ConcurrentChangesAreAllKept(t *testing.T) {
	t.Parallel()
	// Changes of different fields at the same time are all in the customer afterwards.
	env := newEnv(t)
	acme := env.NewCustomer("acme", func(c *customer.Customer) {
		c.Type, c.Business = customer.Business, &customer.BusinessInfo{LegalName: "Acme"}
	})
	changes := []customer.Change{
		{Email: new("a@example.com")}, {Currencies: &[]string{"EUR"}},
		{Business: new(&customer.BusinessChange{TaxID: new("12")})}, {Business: new(&customer.BusinessChange{SourceOfFunds: new("sales")})},
		{Business: new(&customer.BusinessChange{EntityType: new("LLC")})}, {Business: new(&customer.BusinessChange{Country: new("DE")})},
	}
	var requests sync.WaitGroup
	for _, change := range changes {
		change.Type = "BUSINESS"
		requests.Go(func() {
			if _, _, err := env.customers.Update(t.Context(), env.Platform.ID, platform.Service, wallet.Call{}, acme.ID, change); err != nil {
				t.Error(err)
			}
		})
	}
	requests.Wait()

	got, err := env.customers.Get(t.Context(), env.Platform.ID, acme.ID)
	want := customer.BusinessInfo{LegalName: "Acme", TaxID: "12", SourceOfFunds: "sales", EntityType: "LLC", Country: "DE"}
	if err != nil || got.Email != "a@example.com" || !slices.Equal(got.Currencies, []money.Currency{"EUR"}) ||
		!reflect.DeepEqual(*got.Business, want) {
		t.Errorf("%+v with %+v, %v", got, got.Business, err)
	}
}

func TestUpdate_CurrenciesOpenMissingAccounts(t *testing.T) {
	t.Parallel()
	// A change of the currencies opens the accounts that the customer does not have yet in the
	// platform's currencies. The account of a currency that is removed stays, with its money.
	env := newEnv(t)
	dollars := env.NewInternalAccount(env.Customer.ID, "USD", 5_00)

	for _, currencies := range [][]string{{"USD", "BTC"}, {"BTC"}} {
		if _, _, err := env.customers.Update(t.Context(), env.Platform.ID, platform.Service, wallet.Call{}, env.Customer.ID,
			customer.Change{Type: "INDIVIDUAL", Currencies: &currencies}); err != nil {
			t.Fatal(err)
		}
	}

	accounts := env.QueryStrings(`SELECT currency FROM internal_accounts WHERE customer_id = $1 ORDER BY 1`, env.Customer.ID.UUID())
	if want := []string{"BTC", "USD", "USDB", "USDC"}; !slices.Equal(accounts, want) {
		t.Errorf("accounts %q, want %q", accounts, want)
	}
	env.WantBalances(map[string]int64{"rails/ACH USD": 5_00, dollars.LedgerPath() + " USD": -5_00})
}

func TestUpdate_NameInFundingInstructions(t *testing.T) {
	t.Parallel()
	// The funding instructions name the customer as it is called now, without a name by the platform's
	// id. The references, and instructions without a name, stay.
	env := newEnv(t)
	admin := env.createPlatform(t, platform.Sandbox, false)
	ana, err := env.customers.Create(t.Context(), admin.Platform, nil, customer.Request{Type: "INDIVIDUAL", FullName: "Ana Silva"})
	if err != nil {
		t.Fatal(err)
	}
	before := env.accountsOf(t, admin, ana.ID)
	for _, c := range []struct {
		change customer.Change
		want   string
	}{
		{customer.Change{FullName: new("Ana Souza")}, "Causeway Client Money FBO Ana Souza"},
		{customer.Change{Email: new("ana@example.com")}, "Causeway Client Money FBO Ana Souza"},
		{customer.Change{FullName: new("")}, "Causeway Client Money FBO " + ana.PlatformCustomerID},
	} {
		c.change.Type = "INDIVIDUAL"
		if _, _, err := env.customers.Update(t.Context(), admin.Platform, platform.Service, wallet.Call{}, ana.ID, c.change); err != nil {
			t.Fatal(err)
		}
		after := env.accountsOf(t, admin, ana.ID)
		dollars := after["USD"].Instructions
		if len(dollars) != 2 || dollars[0].Info["accountHolderName"] != c.want || dollars[0].Info["reference"] != before["USD"].Reference {
			t.Errorf("%+v: %+v, want %s", c.change, dollars, c.want)
		}
		if len(after) != len(before) || !reflect.DeepEqual(after["USDC"].Instructions, before["USDC"].Instructions) {
			t.Errorf("%+v: other accounts %+v", c.change, after)
		}
	}
	const updated = "INTERNAL_ACCOUNT.FUNDING_INSTRUCTIONS_UPDATED"
	env.Events.Want(before["USD"].ID.UUID(), updated, updated) // not for the e-mail address
	env.Events.Want(before["USDC"].ID.UUID())
}

func TestUpdate_NameInAccountsOpenedMeanwhile(t *testing.T) {
	t.Parallel()
	// An account that is opened with the former name while the change waits for the customer gets the
	// present one.
	env := newEnv(t)
	admin := env.createPlatform(t, platform.Sandbox, false)
	ana, err := env.customers.Create(t.Context(), admin.Platform, nil, customer.Request{Type: "INDIVIDUAL", FullName: "Ana Silva"})
	if err != nil {
		t.Fatal(err)
	}
	opened := env.accountsOf(t, admin, ana.ID)["USD"]
	opened.ID, opened.Currency, opened.Reference = ident.NewInternalAccount(env.IDs.New, env.Clock.Now()), "EUR", "FUND-OTHER"
	changed := make(chan error, 1)

	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		if _, err := tx.LockCustomer(ctx, admin.Platform, ana.ID); err != nil {
			return err
		}
		go func() {
			_, _, err := env.customers.Update(t.Context(), admin.Platform, platform.Service, wallet.Call{}, ana.ID,
				customer.Change{Type: "INDIVIDUAL", FullName: new("Ana Souza")})
			changed <- err
		}()
		env.AwaitLockWait()
		return tx.OpenInternalAccounts(ctx, []account.Internal{opened})
	})

	if err := <-changed; err != nil {
		t.Fatal(err)
	}
	for currency, a := range env.accountsOf(t, admin, ana.ID) {
		for _, i := range a.Instructions {
			if name, named := i.Info["accountHolderName"]; named && name != "Causeway Client Money FBO Ana Souza" {
				t.Errorf("%s: %v", currency, name)
			}
		}
	}
}

func approval(c customer.Customer) customers.StatusChange {
	return customers.StatusChange{Platform: c.Platform, Customer: c.ID, Decision: customer.Decision{To: customer.Approved}}
}

func TestDelete_MarksCustomerAndAccounts(t *testing.T) {
	t.Parallel()
	// A deleted customer is returned and read as deleted, and so are its external accounts; the ids are
	// free again. Its agents are deleted with it, those of others are not. A second delete is refused, and so
	// are changes.
	env := newEnv(t)
	bank := env.NewBankAccount("123456789")
	ofDeleted := agent.Agent{ID: ident.NewAgent(env.IDs.New, apptest.Noon), Platform: env.Platform.ID, Customer: env.Customer.ID,
		CreatedAt: apptest.Noon, UpdatedAt: apptest.Noon}
	ofOther := ofDeleted
	ofOther.ID, ofOther.Customer = ident.NewAgent(env.IDs.New, apptest.Noon), env.NewCustomer("other").ID
	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return errors.Join(tx.CreateAgent(ctx, ofDeleted), tx.CreateAgent(ctx, ofOther))
	})

	deleted, err := env.customers.Delete(t.Context(), env.Platform.ID, platform.Service, env.Customer.ID)
	if err != nil || !deleted.Deleted() {
		t.Fatalf("deleted %+v, %v", deleted, err)
	}

	if read, err := env.customers.Get(t.Context(), env.Platform.ID, env.Customer.ID); err != nil || !reflect.DeepEqual(read, deleted) {
		t.Errorf("read %+v, %v\ndeleted %+v", read, err, deleted)
	}
	if _, err := env.Store.ExternalAccount(t.Context(), env.Platform.ID, bank.ID); !fault.Is(err, fault.ExternalAccountNotFound) {
		t.Errorf("its external account: %v", err)
	}
	_, agentErr := env.Store.Agent(t.Context(), env.Platform.ID, ofDeleted.ID)
	apptest.WantFault(t, "its agent", agentErr, fault.AgentNotFound)
	if _, err := env.Store.Agent(t.Context(), env.Platform.ID, ofOther.ID); err != nil {
		t.Errorf("the agent of another customer: %v", err)
	}
	env.WantChanges(platform.DeletedCustomer, "(service): ")
	_, again := env.customers.Delete(t.Context(), env.Platform.ID, platform.Service, env.Customer.ID)
	apptest.WantFault(t, "deleted again", again, fault.CustomerDeleted)
	_, _, update := env.customers.Update(t.Context(), env.Platform.ID, platform.Service, wallet.Call{}, env.Customer.ID,
		customer.Change{Type: "INDIVIDUAL"})
	apptest.WantFault(t, "changed", update, fault.CustomerDeleted)
	_, unknown := env.customers.Delete(t.Context(), env.NewPlatform().ID, platform.Service, env.Customer.ID)
	apptest.WantFault(t, "of another platform", unknown, fault.UserNotFound)
	if successor := env.NewCustomer(env.Customer.PlatformCustomerID); successor.UMAAddress != env.Customer.UMAAddress {
		t.Errorf("the successor has %s, want %s", successor.UMAAddress, env.Customer.UMAAddress)
	}
}

func TestDelete_RefusedWhileThereIsMoney(t *testing.T) {
	t.Parallel()
	// A customer with a balance or with a payment in transit is not deleted, and neither are its accounts.
	env := newEnv(t)
	bank := env.NewBankAccount("123456789")
	rich, paying, expecting, refunded, done := env.NewCustomer("rich"), env.NewCustomer("paying"), env.NewCustomer("expecting"),
		env.NewCustomer("refunded"), env.NewCustomer("done")
	env.NewInternalAccount(rich.ID, "USD", 1)
	env.NewInternalAccount(done.ID, "USD", 0)
	env.newTransaction(paying, transaction.Outgoing, transaction.State{Status: transaction.Processing, Stage: transaction.Converted})
	env.newTransaction(expecting, transaction.Incoming, transaction.Initial)
	env.newTransaction(refunded, transaction.Outgoing, transaction.State{Status: transaction.Failed, Refund: transaction.RefundPending,
		Stage: transaction.Received})
	env.newTransaction(done, transaction.Outgoing, transaction.State{Status: transaction.Completed, Stage: transaction.Delivered})
	env.newTransaction(done, transaction.Outgoing, transaction.Initial) // an open quote

	for name, c := range map[string]customer.Customer{"a balance": rich, "a payment": paying, "an incoming payment": expecting,
		"a refund": refunded} {
		_, err := env.customers.Delete(t.Context(), env.Platform.ID, platform.Service, c.ID)
		apptest.WantFault(t, name, err, fault.Conflict)
		if read, err := env.customers.Get(t.Context(), env.Platform.ID, c.ID); err != nil || read.Deleted() {
			t.Errorf("%s: deleted %t, %v", name, read.Deleted(), err)
		}
	}
	if _, err := env.customers.Delete(t.Context(), env.Platform.ID, platform.Service, done.ID); err != nil {
		t.Errorf("settled payments and an open quote: %v", err)
	}
	if _, err := env.Store.ExternalAccount(t.Context(), env.Platform.ID, bank.ID); err != nil {
		t.Errorf("the account of another customer: %v", err)
	}
}

func TestDelete_RefusedWhileDebiting(t *testing.T) {
	t.Parallel()
	// The money of a payment that is debiting the customer's account is found before and after its commit.
	env := newEnv(t)
	dollars := env.NewInternalAccount(env.Customer.ID, "USD", 5_00)
	deleted := func(when string) {
		_, err := env.customers.Delete(t.Context(), env.Platform.ID, platform.Service, env.Customer.ID)
		apptest.WantFault(t, when, err, fault.Conflict)
	}

	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		if _, err := tx.LockBalances(ctx, []ledger.Account{dollars.LedgerAccount()}); err != nil {
			return err
		}
		now := env.Clock.Now()
		id := ident.NewTransaction(env.IDs.New, now)
		if err := tx.CreateTransactions(ctx, []transaction.Transaction{env.transaction(id, env.Customer, transaction.Outgoing,
			transaction.TransferInitial)}); err != nil {
			return err
		}
		deleted("before the commit")
		return tx.Post(ctx, []ledger.Posting{ledger.TransferOut(ledger.Header{ID: env.IDs.New(now), Platform: env.Platform.ID,
			Transaction: id, Effective: now},
			ledger.OutgoingFunds{From: dollars.LedgerPath(), Amount: money.Amount{Minor: 5_00, Currency: "USD"}})})
	})
	deleted("after the commit")
}

func TestDelete_WaitsForDeposit(t *testing.T) {
	t.Parallel()
	// A deposit that is not committed when the customer is deleted is found: the customer stays.
	env := newEnv(t)
	dollars := env.NewInternalAccount(env.Customer.ID, "USD", 0)
	deleted := make(chan error, 1)

	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		if _, err := tx.LockBalances(ctx, []ledger.Account{dollars.LedgerAccount()}); err != nil {
			return err
		}
		go func() {
			_, err := env.customers.Delete(t.Context(), env.Platform.ID, platform.Service, env.Customer.ID)
			deleted <- err
		}()
		env.AwaitLockWait()
		now := env.Clock.Now()
		return tx.Post(ctx, []ledger.Posting{ledger.Deposit(ledger.Header{ID: env.IDs.New(now), Platform: env.Platform.ID, Effective: now},
			ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: dollars.LedgerPath(), Amount: money.Amount{Minor: 5_00, Currency: "USD"}})})
	})

	apptest.WantFault(t, "deleted", <-deleted, fault.Conflict)
	if read, err := env.customers.Get(t.Context(), env.Platform.ID, env.Customer.ID); err != nil || read.Deleted() {
		t.Errorf("deleted %t, %v", read.Deleted(), err)
	}
}

func TestDelete_WaitsForPaymentOfAgent(t *testing.T) {
	t.Parallel()
	// A payment that an agent is starting when its customer is deleted is found: the customer and the agent stay.
	// The deletion waits for it without a lock that other payments need.
	env := newEnv(t)
	dollars := env.NewInternalAccount(env.Customer.ID, "USD", 0).LedgerAccount()
	spender := agent.Agent{ID: ident.NewAgent(env.IDs.New, apptest.Noon), Platform: env.Platform.ID, Customer: env.Customer.ID,
		CreatedAt: apptest.Noon, UpdatedAt: apptest.Noon}
	env.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateAgent(ctx, spender) })
	deleted := make(chan error, 1)

	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		if _, err := tx.LockAgents(ctx, env.Platform.ID, []ident.Agent{spender.ID}, "2026-03"); err != nil {
			return err
		}
		go func() {
			_, err := env.customers.Delete(t.Context(), env.Platform.ID, platform.Service, env.Customer.ID)
			deleted <- err
		}()
		env.AwaitLockWait()
		env.Do(func(ctx context.Context, tx *postgres.Unit) error {
			_, err := tx.LockBalances(ctx, []ledger.Account{dollars})
			return err
		})
		id := ident.NewTransaction(env.IDs.New, env.Clock.Now())
		return tx.CreateTransactions(ctx, []transaction.Transaction{env.transaction(id, env.Customer, transaction.Incoming, transaction.Initial)})
	})

	apptest.WantFault(t, "deleted", <-deleted, fault.Conflict)
	if _, err := env.Store.Agent(t.Context(), env.Platform.ID, spender.ID); err != nil {
		t.Errorf("the agent: %v", err)
	}
}

// newTransaction stores a payment of 1 USD of a customer in a state.
func (e *env) newTransaction(c customer.Customer, kind transaction.Type, state transaction.State) {
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.CreateTransactions(ctx, []transaction.Transaction{e.transaction(ident.NewTransaction(e.IDs.New, e.Clock.Now()),
			c, kind, state)})
	})
}

func (e *env) transaction(id ident.Transaction, c customer.Customer, kind transaction.Type,
	state transaction.State) transaction.Transaction {
	now, amount := e.Clock.Now(), money.Amount{Minor: 1_00, Currency: money.USD}
	return transaction.Transaction{
		ID: id, Platform: c.Platform, Customer: c.ID, PlatformCustomerID: c.PlatformCustomerID, Type: kind, State: state,
		Source: transaction.Endpoint{Customer: c.ID, Currency: money.USD}, Destination: transaction.Endpoint{Customer: c.ID, Currency: money.USD},
		SourceRail: "ACH", SourceAccount: ledger.Rail("ACH"), DestinationAccount: ledger.Rail("ACH"),
		Pricing: transaction.AtPar(amount), CreatedAt: now, UpdatedAt: now,
	}
}
