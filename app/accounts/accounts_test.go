package accounts_test

import (
	"errors"
	"reflect"
	"testing"

	"causeway/adapters/beneficiaries/sandbox"
	"causeway/adapters/beneficiaries/unsupported"
	"causeway/app/accounts"
	"causeway/app/internal/apptest"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// env is the environment of a test with the use cases on it.
type env struct {
	*apptest.Env
	accounts *accounts.Service
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := apptest.New(t)
	return &env{Env: e, accounts: accounts.New(accounts.Config{
		Store: e.Store, Ledger: e.Store.LedgerReader(), Clock: e.Clock, IDs: e.IDs,
		Beneficiaries: ports.BeneficiariesByEnvironment{platform.Sandbox: sandbox.Beneficiaries{},
			platform.Production: unsupported.Beneficiaries{}},
	})}
}

// newOtherAdmin returns the holder of a token of another platform.
func (e *env) newOtherAdmin(edits ...func(*platform.Platform)) platform.Principal {
	return e.NewPrincipal(e.NewPlatform(edits...))
}

// bankRequest returns a request for an account in the United States.
func bankRequest(owner ident.Customer, number string) accounts.Request {
	return accounts.Request{Customer: owner, Currency: "USD", Info: map[string]any{
		"accountType": "USD_ACCOUNT", "accountNumber": number, "routingNumber": "021000021",
		"beneficiary": map[string]any{"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Silva"},
	}}
}

func walletRequest(owner ident.Customer, address string) accounts.Request {
	return accounts.Request{Customer: owner, Currency: "BTC", Info: map[string]any{"accountType": "LAYER2_WALLET", "address": address}}
}

func TestService_CreateAndGet(t *testing.T) {
	t.Parallel()
	// An account is read as it was created: ACTIVE, with the result of the beneficiary check.
	env := newEnv(t)
	for name, c := range map[string]struct {
		owner   accounts.Owner
		request accounts.Request
		want    account.VerificationStatus
	}{
		"a bank account of a customer": {accounts.OwnedByCustomers, bankRequest(env.Customer.ID, "123456789"), account.Matched},
		"a bank account, similar name": {accounts.OwnedByCustomers, bankRequest(env.Customer.ID, "123456103"), account.PartialMatch},
		"a wallet of a customer":       {accounts.OwnedByCustomers, walletRequest(env.Customer.ID, "spark1ana"), account.NotVerified},
		"a wallet of the platform":     {accounts.OwnedByPlatform, walletRequest(ident.Customer{}, "spark1ana"), account.NotVerified},
	} {
		created, err := env.accounts.Create(t.Context(), env.Admin, nil, c.request)
		if err != nil || created.Status != account.Active || created.Verification != c.want {
			t.Errorf("%s: %+v, %v", name, created, err)
			continue
		}
		if read, err := env.accounts.Get(t.Context(), env.Admin.Platform, c.owner, created.ID); err != nil || !reflect.DeepEqual(read, created) {
			t.Errorf("%s: read %+v, %v\ncreated %+v", name, read, err, created)
		}
		// It is not found among the accounts of the other kind of owner.
		if _, err := env.accounts.Get(t.Context(), env.Admin.Platform, !c.owner, created.ID); !fault.Is(err, fault.ExternalAccountNotFound) {
			t.Errorf("%s: read as the other kind of owner: %v", name, err)
		}
		if err := env.accounts.Delete(t.Context(), env.Admin.Platform, !c.owner, created.ID); !fault.Is(err, fault.ExternalAccountNotFound) {
			t.Errorf("%s: deleted as the other kind of owner: %v", name, err)
		}
	}
}

func TestService_CheckDigitsOnlyInProduction(t *testing.T) {
	t.Parallel()
	// An account number whose check digits are wrong can be registered in the sandbox and not in
	// production.
	env := newEnv(t)
	live := env.newOtherAdmin(func(p *platform.Platform) { p.Environment = platform.Production })
	for want, principal := range map[fault.Code]platform.Principal{"": env.Admin, fault.InvalidInput: live} {
		r := bankRequest(ident.Customer{}, "123456789")
		r.Info["routingNumber"] = "123456789"
		if _, err := env.accounts.Create(t.Context(), principal, nil, r); want == "" && err != nil || want != "" && !fault.Is(err, want) {
			t.Errorf("%s: %v, want %q", principal.Environment, err, want)
		}
	}
}

func TestService_CreateRejections(t *testing.T) {
	t.Parallel()
	// Each rejection has its code and stores no account.
	env := newEnv(t)
	theirs := env.NewCustomer("theirs", func(c *customer.Customer) { c.Platform = env.NewPlatform().ID })
	deleted := env.NewCustomer("deleted", func(c *customer.Customer) { c.DeletedAt = apptest.Noon })
	if _, err := env.accounts.Create(t.Context(), env.Admin, nil, walletRequest(env.Customer.ID, "spark1ana")); err != nil {
		t.Fatal(err)
	}
	badRouting := bankRequest(env.Customer.ID, "123456789")
	badRouting.Info["routingNumber"] = "02100002"

	for name, c := range map[string]struct {
		request accounts.Request
		want    fault.Code
	}{
		"unknown to the bank":          {bankRequest(env.Customer.ID, "123456105"), fault.InvalidBankAccount},
		"not a wallet address":         {walletRequest(env.Customer.ID, "spark1x105"), fault.InvalidBankAccount},
		"wrong format":                 {badRouting, fault.InvalidInput},
		"no account info":              {accounts.Request{Customer: env.Customer.ID, Currency: "USD"}, fault.InvalidInput},
		"registered already":           {walletRequest(env.Customer.ID, "spark1ana"), fault.Conflict},
		"customer of another platform": {walletRequest(theirs.ID, "spark1new"), fault.UserNotFound},
		"deleted customer":             {walletRequest(deleted.ID, "spark1new"), fault.CustomerDeleted},
	} {
		if _, err := env.accounts.Create(t.Context(), env.Admin, nil, c.request); !fault.Is(err, c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}

	page, err := env.accounts.List(t.Context(), env.Admin.Platform, accounts.OwnedByCustomers,
		ports.ExternalAccountFilter{Paging: ports.Paging{Limit: 10}})
	if err != nil || page.Total != 1 {
		t.Errorf("%d accounts, %v; want 1", page.Total, err)
	}
}

func TestService_EnvironmentSelectsBeneficiaryCheck(t *testing.T) {
	t.Parallel()
	// A test value has its meaning in the sandbox only. In production it has none, and its
	// check digits are verified.
	env := newEnv(t)
	production := env.newOtherAdmin(func(p *platform.Platform) { p.Environment, p.Regulated = platform.Production, false })
	testValue := bankRequest(ident.Customer{}, "123456105")
	wrongDigits := bankRequest(ident.Customer{}, "123456789")
	wrongDigits.Info["routingNumber"] = "021000103"

	created, err := env.accounts.Create(t.Context(), production, nil, testValue)
	if err != nil || created.Verification != account.Unsupported {
		t.Errorf("production: %+v, %v; want UNSUPPORTED", created, err)
	}
	if _, err := env.accounts.Create(t.Context(), production, nil, wrongDigits); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("wrong check digits in production: %v", err)
	}
	if _, err := env.accounts.Create(t.Context(), env.Admin, nil, wrongDigits); err != nil {
		t.Errorf("wrong check digits of a test value in the sandbox: %v", err)
	}
	unknown := env.Admin
	unknown.Environment = "ELSEWHERE"
	if _, err := env.accounts.Create(t.Context(), unknown, nil, walletRequest(ident.Customer{}, "spark1")); !fault.Is(err,
		fault.NotImplemented) {
		t.Errorf("unknown environment: %v", err)
	}
}

func TestService_DeleteAllowsReRegistration(t *testing.T) {
	t.Parallel()
	// A deleted account is in no list and can be registered again.
	env := newEnv(t)
	created, err := env.accounts.Create(t.Context(), env.Admin, nil, walletRequest(env.Customer.ID, "spark1ana"))
	if err != nil {
		t.Fatal(err)
	}

	if err := env.accounts.Delete(t.Context(), env.Admin.Platform, accounts.OwnedByCustomers, created.ID); err != nil {
		t.Fatal(err)
	}

	if err := env.accounts.Delete(t.Context(), env.Admin.Platform, accounts.OwnedByCustomers, created.ID); !fault.Is(err,
		fault.ExternalAccountNotFound) {
		t.Errorf("deleted again: %v", err)
	}
	page, err := env.accounts.List(t.Context(), env.Admin.Platform, accounts.OwnedByCustomers,
		ports.ExternalAccountFilter{Paging: ports.Paging{Limit: 10}, Customer: env.Customer.ID})
	if err != nil || page.Total != 0 {
		t.Errorf("listed: %+v, %v", page, err)
	}
	if again, err := env.accounts.Create(t.Context(), env.Admin, nil, walletRequest(env.Customer.ID, "spark1ana")); err != nil ||
		again.ID == created.ID {
		t.Errorf("registered again: %+v, %v", again, err)
	}
}

func TestService_CreateIsIdempotent(t *testing.T) {
	t.Parallel()
	// A repeated request gets the first response, not a conflict with the account that the
	// first request created.
	env := newEnv(t)
	create := func() error {
		_, err := env.accounts.Create(t.Context(), env.Admin, apptest.IdempotentRequest(env.Admin, "key",
			func(result any) string { return result.(account.External).ID.String() }), walletRequest(env.Customer.ID, "spark1ana"))
		return err
	}
	if err := create(); err != nil {
		t.Fatal(err)
	}

	var replay *ports.Replay
	if err := create(); !errors.As(err, &replay) || replay.Status != 201 {
		t.Errorf("got %v, want the first response", err)
	}
}

func TestService_AccountsOfOtherPlatformAreNotFound(t *testing.T) {
	t.Parallel()
	// Another platform can neither read nor delete an account.
	env := newEnv(t)
	otherAdmin := env.newOtherAdmin()
	created, err := env.accounts.Create(t.Context(), env.Admin, nil, walletRequest(env.Customer.ID, "spark1ana"))
	if err != nil {
		t.Fatal(err)
	}

	if _, err := env.accounts.Get(t.Context(), otherAdmin.Platform, accounts.OwnedByCustomers, created.ID); !fault.Is(err,
		fault.ExternalAccountNotFound) {
		t.Errorf("another platform reads: %v", err)
	}
	if err := env.accounts.Delete(t.Context(), otherAdmin.Platform, accounts.OwnedByCustomers, created.ID); !fault.Is(err,
		fault.ExternalAccountNotFound) {
		t.Errorf("another platform deletes: %v", err)
	}
}
