package accounts_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"reflect"
	"testing"
	"time"

	"causeway/adapters/beneficiaries/sandbox"
	"causeway/adapters/beneficiaries/unsupported"
	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/app/accounts"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
	"causeway/ports/portstest"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// env is the use cases on the real database, with one sandbox platform and a customer.
type env struct {
	*accounts.Service
	store *postgres.DB
	admin platform.Principal
	ana   customer.Customer
}

func newEnv(t *testing.T) *env {
	t.Helper()
	made := ids.New()
	store, err := postgres.Open(t.Context(), postgres.Options{URL: pgtest.New(t), MaxConnections: 4, Clock: portstest.NewFakeClock(noon), IDs: made})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	h := &env{store: store, Service: accounts.New(accounts.Config{
		Store: store, Clock: portstest.NewFakeClock(noon), IDs: made,
		Beneficiaries: ports.BeneficiariesByEnvironment{platform.Sandbox: sandbox.Beneficiaries{}, platform.Production: unsupported.Beneficiaries{}},
	})}
	h.admin = h.createPlatform(t, platform.Sandbox)
	h.ana = h.createCustomer(t, h.admin, "ana")
	return h
}

func (h *env) createPlatform(t *testing.T, environment platform.Environment) platform.Principal {
	t.Helper()
	p, err := platform.New(ident.NewPlatform(h.IDs.New, noon), "Acme", environment, false, noon)
	if err != nil {
		t.Fatal(err)
	}
	h.do(t, func(ctx context.Context, tx ports.Tx) error { return tx.CreatePlatform(ctx, p) })
	return platform.Principal{Platform: p.ID, Environment: environment, Token: ident.NewToken(h.IDs.New, noon), Permissions: platform.Permissions}
}

func (h *env) createCustomer(t *testing.T, at platform.Principal, name string) customer.Customer {
	t.Helper()
	c := customer.Customer{ID: ident.NewCustomer(h.IDs.New, noon), Platform: at.Platform, PlatformCustomerID: name, Type: customer.Individual,
		UMAAddress: name, Status: customer.Approved, CreatedAt: noon, UpdatedAt: noon}
	if name == "gone" {
		c.DeletedAt = noon
	}
	h.do(t, func(ctx context.Context, tx ports.Tx) error { return tx.CreateCustomer(ctx, c) })
	return c
}

func (h *env) do(t *testing.T, fn func(context.Context, ports.Tx) error) {
	t.Helper()
	if err := h.store.Do(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// bankRequest is a request for an account in the United States.
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
	// It is read back as it was made, ACTIVE, and with what the receiving side said.
	h := newEnv(t)
	for name, c := range map[string]struct {
		of      accounts.Owner
		request accounts.Request
		want    account.VerificationStatus
	}{
		"a bank account of a customer": {accounts.OwnedByCustomers, bankRequest(h.ana.ID, "123456789"), account.Matched},
		"one whose name is nearly it":  {accounts.OwnedByCustomers, bankRequest(h.ana.ID, "123456103"), account.PartialMatch},
		"a wallet of a customer":       {accounts.OwnedByCustomers, walletRequest(h.ana.ID, "spark1ana"), account.NotVerified},
		"a wallet of the platform":     {accounts.OwnedByPlatform, walletRequest(ident.Customer{}, "spark1ana"), account.NotVerified},
	} {
		made, err := h.Create(t.Context(), h.admin, nil, c.request)
		if err != nil || made.Status != account.Active || made.Verification != c.want {
			t.Errorf("%s: %+v, %v", name, made, err)
			continue
		}
		if read, err := h.Get(t.Context(), h.admin, c.of, made.ID); err != nil || !reflect.DeepEqual(read, made) {
			t.Errorf("%s: read %+v, %v\nmade %+v", name, read, err, made)
		}
		// The other owner's path does not lead to it.
		if _, err := h.Get(t.Context(), h.admin, !c.of, made.ID); !fault.Is(err, fault.ExternalAccountNotFound) {
			t.Errorf("%s: the other owner gets %v", name, err)
		}
		if err := h.Delete(t.Context(), h.admin, !c.of, made.ID); !fault.Is(err, fault.ExternalAccountNotFound) {
			t.Errorf("%s: the other owner deletes it: %v", name, err)
		}
	}
}

func TestService_CreateRejections(t *testing.T) {
	t.Parallel()
	// Each refusal has its code, and leaves no account behind.
	h := newEnv(t)
	stranger := h.createPlatform(t, platform.Sandbox)
	theirs, gone := h.createCustomer(t, stranger, "theirs"), h.createCustomer(t, h.admin, "gone")
	if _, err := h.Create(t.Context(), h.admin, nil, walletRequest(h.ana.ID, "spark1ana")); err != nil {
		t.Fatal(err)
	}
	badRouting := bankRequest(h.ana.ID, "123456789")
	badRouting.Info["routingNumber"] = "021000022"

	for name, c := range map[string]struct {
		request accounts.Request
		want    fault.Code
	}{
		"that the bank does not know": {bankRequest(h.ana.ID, "123456105"), fault.InvalidBankAccount},
		"a wallet that is no wallet":  {walletRequest(h.ana.ID, "spark1x105"), fault.InvalidBankAccount},
		"with wrong check digits":     {badRouting, fault.InvalidInput},
		"with nothing in it":          {accounts.Request{Customer: h.ana.ID, Currency: "USD"}, fault.InvalidInput},
		"registered already":          {walletRequest(h.ana.ID, "spark1ana"), fault.Conflict},
		"of another's customer":       {walletRequest(theirs.ID, "spark1new"), fault.UserNotFound},
		"of a customer who is gone":   {walletRequest(gone.ID, "spark1new"), fault.CustomerDeleted},
	} {
		if _, err := h.Create(t.Context(), h.admin, nil, c.request); !fault.Is(err, c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}

	page, err := h.List(t.Context(), h.admin, accounts.OwnedByCustomers, ports.ExternalAccountFilter{Paging: ports.Paging{Limit: 10}})
	if err != nil || page.Total != 1 {
		t.Errorf("%d accounts, %v; want the one", page.Total, err)
	}
}

func TestService_EnvironmentSelectsBeneficiaryCheck(t *testing.T) {
	t.Parallel()
	// A number that means something in the sandbox means nothing in production, and its
	// check digits count there.
	h := newEnv(t)
	production := h.createPlatform(t, platform.Production)
	scripted := bankRequest(ident.Customer{}, "123456105")
	waived := bankRequest(ident.Customer{}, "123456789")
	waived.Info["routingNumber"] = "021000103" // wrong check digit

	made, err := h.Create(t.Context(), production, nil, scripted)
	if err != nil || made.Verification != account.Unsupported {
		t.Errorf("production: %+v, %v; want UNSUPPORTED", made, err)
	}
	if _, err := h.Create(t.Context(), production, nil, waived); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("wrong check digits in production: %v", err)
	}
	if _, err := h.Create(t.Context(), h.admin, nil, waived); err != nil {
		t.Errorf("check digits of a scripted number in the sandbox: %v", err)
	}
	nowhere := h.admin
	nowhere.Environment = "ELSEWHERE"
	if _, err := h.Create(t.Context(), nowhere, nil, walletRequest(ident.Customer{}, "spark1")); !fault.Is(err, fault.NotImplemented) {
		t.Errorf("an environment that nobody serves: %v", err)
	}
}

func TestService_DeleteAllowsReRegistration(t *testing.T) {
	t.Parallel()
	// A deleted account is gone from every list, and can be registered again.
	h := newEnv(t)
	made, err := h.Create(t.Context(), h.admin, nil, walletRequest(h.ana.ID, "spark1ana"))
	if err != nil {
		t.Fatal(err)
	}

	if err := h.Delete(t.Context(), h.admin, accounts.OwnedByCustomers, made.ID); err != nil {
		t.Fatal(err)
	}

	if err := h.Delete(t.Context(), h.admin, accounts.OwnedByCustomers, made.ID); !fault.Is(err, fault.ExternalAccountNotFound) {
		t.Errorf("deleted again: %v", err)
	}
	page, err := h.List(t.Context(), h.admin, accounts.OwnedByCustomers, ports.ExternalAccountFilter{Paging: ports.Paging{Limit: 10}, Customer: h.ana.ID})
	if err != nil || page.Total != 0 {
		t.Errorf("listed: %+v, %v", page, err)
	}
	if again, err := h.Create(t.Context(), h.admin, nil, walletRequest(h.ana.ID, "spark1ana")); err != nil || again.ID == made.ID {
		t.Errorf("registered again: %+v, %v", again, err)
	}
}

func TestService_CreateIsIdempotent(t *testing.T) {
	t.Parallel()
	// Under the same key the second request finds the first answer, and not a conflict
	// with the account that the first one made.
	h := newEnv(t)
	create := func() error {
		_, err := h.Create(t.Context(), h.admin, &ports.IdempotentRequest{
			Platform: h.admin.Platform, Token: h.admin.Token, Key: "key", Fingerprint: sha256.Sum256(nil),
			Render: func(result any, _ error) (int, []byte) { return 201, []byte(result.(account.External).ID.String()) },
		}, walletRequest(h.ana.ID, "spark1ana"))
		return err
	}
	if err := create(); err != nil {
		t.Fatal(err)
	}

	var replay *ports.Replay
	if err := create(); !errors.As(err, &replay) || replay.Status != 201 {
		t.Errorf("answered %v, want the first answer", err)
	}
}

func TestService_RequiresPermission(t *testing.T) {
	t.Parallel()
	// Registering and deleting need MANAGE, reading VIEW; and another platform finds none.
	h := newEnv(t)
	stranger := h.createPlatform(t, platform.Sandbox)
	made, err := h.Create(t.Context(), h.admin, nil, walletRequest(h.ana.ID, "spark1ana"))
	if err != nil {
		t.Fatal(err)
	}

	for _, permission := range platform.Permissions {
		p := h.admin
		p.Permissions = []platform.Permission{permission}
		_, created := h.Create(t.Context(), p, nil, walletRequest(h.ana.ID, "spark1"+string(permission)))
		_, read := h.Get(t.Context(), p, accounts.OwnedByCustomers, made.ID)
		_, listed := h.List(t.Context(), p, accounts.OwnedByCustomers, ports.ExternalAccountFilter{Paging: ports.Paging{Limit: 1}})
		views, manages := permission == platform.View, permission == platform.Manage
		if (created == nil) != manages || (read == nil) != views || (listed == nil) != views {
			t.Errorf("with %s: create %v, read %v, list %v", permission, created, read, listed)
		}
		if !manages {
			if err := h.Delete(t.Context(), p, accounts.OwnedByCustomers, made.ID); !fault.Is(err, fault.Forbidden) {
				t.Errorf("with %s: delete %v", permission, err)
			}
		}
	}
	if _, err := h.Get(t.Context(), stranger, accounts.OwnedByCustomers, made.ID); !fault.Is(err, fault.ExternalAccountNotFound) {
		t.Errorf("another platform reads: %v", err)
	}
	if err := h.Delete(t.Context(), stranger, accounts.OwnedByCustomers, made.ID); !fault.Is(err, fault.ExternalAccountNotFound) {
		t.Errorf("another platform deletes: %v", err)
	}
}
