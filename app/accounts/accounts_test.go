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

// house is the use cases on the real database, with one sandbox platform and a customer.
type house struct {
	*accounts.Accounts
	store *postgres.DB
	boss  platform.Principal
	ana   customer.Customer
}

func newHouse(t *testing.T) *house {
	t.Helper()
	made := ids.New()
	store, err := postgres.Open(t.Context(), postgres.Options{URL: pgtest.New(t), MaxConnections: 4, Clock: portstest.NewFakeClock(noon), IDs: made})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	h := &house{store: store, Accounts: accounts.New(accounts.Config{
		Store: store, Clock: portstest.NewFakeClock(noon), IDs: made,
		Beneficiaries: ports.BeneficiariesByEnvironment{platform.Sandbox: sandbox.Beneficiaries{}, platform.Production: unsupported.Beneficiaries{}},
	})}
	h.boss = h.found(t, platform.Sandbox)
	h.ana = h.welcome(t, h.boss, "ana")
	return h
}

func (h *house) found(t *testing.T, environment platform.Environment) platform.Principal {
	t.Helper()
	p, err := platform.New(ident.NewPlatform(h.IDs.New, noon), "Acme", environment, false, noon)
	if err != nil {
		t.Fatal(err)
	}
	h.do(t, func(ctx context.Context, tx ports.Tx) error { return tx.CreatePlatform(ctx, p) })
	return platform.Principal{Platform: p.ID, Environment: environment, Token: ident.NewToken(h.IDs.New, noon), Permissions: platform.Permissions}
}

func (h *house) welcome(t *testing.T, at platform.Principal, name string) customer.Customer {
	t.Helper()
	c := customer.Customer{ID: ident.NewCustomer(h.IDs.New, noon), Platform: at.Platform, PlatformCustomerID: name, Type: customer.Individual,
		UMAAddress: name, Status: customer.Approved, CreatedAt: noon, UpdatedAt: noon}
	if name == "gone" {
		c.DeletedAt = noon
	}
	h.do(t, func(ctx context.Context, tx ports.Tx) error { return tx.CreateCustomer(ctx, c) })
	return c
}

func (h *house) do(t *testing.T, fn func(context.Context, ports.Tx) error) {
	t.Helper()
	if err := h.store.Do(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// bank is a request for an account in the United States.
func bank(owner ident.Customer, number string) accounts.Request {
	return accounts.Request{Customer: owner, Currency: "USD", Info: map[string]any{
		"accountType": "USD_ACCOUNT", "accountNumber": number, "routingNumber": "021000021",
		"beneficiary": map[string]any{"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Silva"},
	}}
}

func wallet(owner ident.Customer, address string) accounts.Request {
	return accounts.Request{Customer: owner, Currency: "BTC", Info: map[string]any{"accountType": "LAYER2_WALLET", "address": address}}
}

func TestAnAccountIsRegistered(t *testing.T) {
	t.Parallel()
	// It is read back as it was made, ACTIVE, and with what the receiving side said.
	h := newHouse(t)
	for name, c := range map[string]struct {
		of      accounts.Owner
		request accounts.Request
		want    account.VerificationStatus
	}{
		"a bank account of a customer": {accounts.OfCustomers, bank(h.ana.ID, "123456789"), account.Matched},
		"one whose name is nearly it":  {accounts.OfCustomers, bank(h.ana.ID, "123456103"), account.PartialMatch},
		"a wallet of a customer":       {accounts.OfCustomers, wallet(h.ana.ID, "spark1ana"), account.NotVerified},
		"a wallet of the platform":     {accounts.OfPlatform, wallet(ident.Customer{}, "spark1ana"), account.NotVerified},
	} {
		made, err := h.Create(t.Context(), h.boss, nil, c.request)
		if err != nil || made.Status != account.Active || made.Verification != c.want {
			t.Errorf("%s: %+v, %v", name, made, err)
			continue
		}
		if read, err := h.Get(t.Context(), h.boss, c.of, made.ID); err != nil || !reflect.DeepEqual(read, made) {
			t.Errorf("%s: read %+v, %v\nmade %+v", name, read, err, made)
		}
		// The other owner's path does not lead to it.
		if _, err := h.Get(t.Context(), h.boss, !c.of, made.ID); !fault.Is(err, fault.ExternalAccountNotFound) {
			t.Errorf("%s: the other owner gets %v", name, err)
		}
		if err := h.Delete(t.Context(), h.boss, !c.of, made.ID); !fault.Is(err, fault.ExternalAccountNotFound) {
			t.Errorf("%s: the other owner deletes it: %v", name, err)
		}
	}
}

func TestAccountsThatAreRefused(t *testing.T) {
	t.Parallel()
	// Each refusal has its code, and leaves no account behind.
	h := newHouse(t)
	stranger := h.found(t, platform.Sandbox)
	theirs, gone := h.welcome(t, stranger, "theirs"), h.welcome(t, h.boss, "gone")
	if _, err := h.Create(t.Context(), h.boss, nil, wallet(h.ana.ID, "spark1ana")); err != nil {
		t.Fatal(err)
	}
	badRouting := bank(h.ana.ID, "123456789")
	badRouting.Info["routingNumber"] = "021000022"

	for name, c := range map[string]struct {
		request accounts.Request
		want    fault.Code
	}{
		"that the bank does not know": {bank(h.ana.ID, "123456105"), fault.InvalidBankAccount},
		"a wallet that is no wallet":  {wallet(h.ana.ID, "spark1x105"), fault.InvalidBankAccount},
		"with wrong check digits":     {badRouting, fault.InvalidInput},
		"with nothing in it":          {accounts.Request{Customer: h.ana.ID, Currency: "USD"}, fault.InvalidInput},
		"registered already":          {wallet(h.ana.ID, "spark1ana"), fault.Conflict},
		"of another's customer":       {wallet(theirs.ID, "spark1new"), fault.UserNotFound},
		"of a customer who is gone":   {wallet(gone.ID, "spark1new"), fault.CustomerDeleted},
	} {
		if _, err := h.Create(t.Context(), h.boss, nil, c.request); !fault.Is(err, c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}

	page, err := h.List(t.Context(), h.boss, accounts.OfCustomers, ports.ExternalAccountFilter{Paging: ports.Paging{Limit: 10}})
	if err != nil || page.Total != 1 {
		t.Errorf("%d accounts, %v; want the one", page.Total, err)
	}
}

func TestTheEnvironmentChoosesWhoIsAsked(t *testing.T) {
	t.Parallel()
	// A number that means something in the sandbox means nothing in production, and its
	// check digits count there.
	h := newHouse(t)
	production := h.found(t, platform.Production)
	scripted := bank(ident.Customer{}, "123456105")
	waived := bank(ident.Customer{}, "123456789")
	waived.Info["routingNumber"] = "021000103" // wrong check digit

	made, err := h.Create(t.Context(), production, nil, scripted)
	if err != nil || made.Verification != account.Unsupported {
		t.Errorf("production: %+v, %v; want UNSUPPORTED", made, err)
	}
	if _, err := h.Create(t.Context(), production, nil, waived); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("wrong check digits in production: %v", err)
	}
	if _, err := h.Create(t.Context(), h.boss, nil, waived); err != nil {
		t.Errorf("check digits of a scripted number in the sandbox: %v", err)
	}
	nowhere := h.boss
	nowhere.Environment = "ELSEWHERE"
	if _, err := h.Create(t.Context(), nowhere, nil, wallet(ident.Customer{}, "spark1")); !fault.Is(err, fault.NotImplemented) {
		t.Errorf("an environment that nobody serves: %v", err)
	}
}

func TestAnAccountIsDeleted(t *testing.T) {
	t.Parallel()
	// A deleted account is gone from every list, and can be registered again.
	h := newHouse(t)
	made, err := h.Create(t.Context(), h.boss, nil, wallet(h.ana.ID, "spark1ana"))
	if err != nil {
		t.Fatal(err)
	}

	if err := h.Delete(t.Context(), h.boss, accounts.OfCustomers, made.ID); err != nil {
		t.Fatal(err)
	}

	if err := h.Delete(t.Context(), h.boss, accounts.OfCustomers, made.ID); !fault.Is(err, fault.ExternalAccountNotFound) {
		t.Errorf("deleted again: %v", err)
	}
	page, err := h.List(t.Context(), h.boss, accounts.OfCustomers, ports.ExternalAccountFilter{Paging: ports.Paging{Limit: 10}, Customer: h.ana.ID})
	if err != nil || page.Total != 0 {
		t.Errorf("listed: %+v, %v", page, err)
	}
	if again, err := h.Create(t.Context(), h.boss, nil, wallet(h.ana.ID, "spark1ana")); err != nil || again.ID == made.ID {
		t.Errorf("registered again: %+v, %v", again, err)
	}
}

func TestARepeatedRequestRegistersOnce(t *testing.T) {
	t.Parallel()
	// Under the same key the second request finds the first answer, and not a conflict
	// with the account that the first one made.
	h := newHouse(t)
	create := func() error {
		_, err := h.Create(t.Context(), h.boss, &ports.IdempotentRequest{
			Platform: h.boss.Platform, Token: h.boss.Token, Key: "key", Fingerprint: sha256.Sum256(nil),
			Render: func(result any, _ error) (int, []byte) { return 201, []byte(result.(account.External).ID.String()) },
		}, wallet(h.ana.ID, "spark1ana"))
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

func TestAccountsAskForPermission(t *testing.T) {
	t.Parallel()
	// Registering and deleting need MANAGE, reading VIEW; and another platform finds none.
	h := newHouse(t)
	stranger := h.found(t, platform.Sandbox)
	made, err := h.Create(t.Context(), h.boss, nil, wallet(h.ana.ID, "spark1ana"))
	if err != nil {
		t.Fatal(err)
	}

	for _, permission := range platform.Permissions {
		p := h.boss
		p.Permissions = []platform.Permission{permission}
		_, created := h.Create(t.Context(), p, nil, wallet(h.ana.ID, "spark1"+string(permission)))
		_, read := h.Get(t.Context(), p, accounts.OfCustomers, made.ID)
		_, listed := h.List(t.Context(), p, accounts.OfCustomers, ports.ExternalAccountFilter{Paging: ports.Paging{Limit: 1}})
		views, manages := permission == platform.View, permission == platform.Manage
		if (created == nil) != manages || (read == nil) != views || (listed == nil) != views {
			t.Errorf("with %s: create %v, read %v, list %v", permission, created, read, listed)
		}
		if !manages {
			if err := h.Delete(t.Context(), p, accounts.OfCustomers, made.ID); !fault.Is(err, fault.Forbidden) {
				t.Errorf("with %s: delete %v", permission, err)
			}
		}
	}
	if _, err := h.Get(t.Context(), stranger, accounts.OfCustomers, made.ID); !fault.Is(err, fault.ExternalAccountNotFound) {
		t.Errorf("another platform reads: %v", err)
	}
	if err := h.Delete(t.Context(), stranger, accounts.OfCustomers, made.ID); !fault.Is(err, fault.ExternalAccountNotFound) {
		t.Errorf("another platform deletes: %v", err)
	}
}
