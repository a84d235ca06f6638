package customers_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"causeway/adapters/identity/manual"
	"causeway/adapters/identity/sandbox"
	"causeway/app/customers"
	"causeway/app/internal/apptest"
	"causeway/app/internal/mails"
	"causeway/app/platforms"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/ports"
)

// env is the environment of a test with the use cases on it.
type env struct {
	*apptest.Env
	customers *customers.Service
	platforms *platforms.Service
	rails     ports.RailsByEnvironment
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := apptest.New(t)
	rails := ports.RailsByEnvironment{platform.Sandbox: e.Rail}
	return &env{
		Env: e, rails: rails,
		customers: customers.New(customers.Config{
			Store: e.Store, Clock: e.Clock, IDs: e.IDs, Rails: rails, Jobs: e.Store,
			Identity:     ports.IdentityByEnvironment{platform.Sandbox: sandbox.Identity{}, platform.Production: manual.Identity{}},
			WalletProofs: ports.WalletProofsByEnvironment{platform.Production: signatures{}},
			Mails: mails.New(mails.Config{IDs: e.IDs, Mailers: ports.MailersByEnvironment{platform.Production: mailer{}},
				SMS: ports.SMSSendersByEnvironment{platform.Production: smsSender{}}, From: "wallets@example.com", MaxPerHour: 1})}),
		platforms: platforms.New(platforms.Config{Store: e.Store, Clock: e.Clock, IDs: e.IDs, Rails: rails}),
	}
}

// mailer stands for one: mails stay in the queue.
type mailer struct{ ports.Mailer }

// createPlatform creates a platform as an operator does, with its own accounts, and returns
// the holder of its first token.
func (e *env) createPlatform(t *testing.T, environment platform.Environment, regulated bool) platform.Principal {
	t.Helper()
	created, err := e.platforms.Create(t.Context(), platforms.CreateRequest{Name: "Acme", Environment: environment, Regulated: regulated})
	if err != nil {
		t.Fatal(err)
	}
	return platform.Principal{Platform: created.Platform.ID, Environment: environment, Token: created.Token.ID,
		Permissions: created.Token.Permissions}
}

func TestService_CreateOpensAccounts(t *testing.T) {
	t.Parallel()
	// A customer is read as it was created, and has an account in each currency of the
	// platform.
	env := newEnv(t)
	admin := env.createPlatform(t, platform.Sandbox, false)

	created, err := env.customers.Create(t.Context(), admin.Platform, nil,
		customer.Request{Type: "INDIVIDUAL", FullName: "Ana Silva", Region: "US"})
	if err != nil {
		t.Fatal(err)
	}

	if read, err := env.customers.Get(t.Context(), admin.Platform, created.ID); err != nil || !reflect.DeepEqual(read, created) {
		t.Errorf("read %+v, %v\ncreated %+v", read, err, created)
	}
	if created.PlatformCustomerID == "" || created.UMAAddress == "" {
		t.Errorf("no generated platformCustomerId or UMA address: %+v", created)
	}
	accounts := env.QueryStrings(`SELECT currency || ' ' || account_type FROM internal_accounts WHERE customer_id = $1 ORDER BY 1`,
		created.ID.UUID())
	if want := []string{"BTC INTERNAL_CRYPTO", "USD INTERNAL_FIAT", "USDB EMBEDDED_WALLET", "USDC INTERNAL_CRYPTO"}; !slices.Equal(accounts,
		want) {
		t.Errorf("accounts %q, want %q", accounts, want)
	}
}

func TestService_InitialStatusDependsOnPlatform(t *testing.T) {
	t.Parallel()
	// Customers of regulated platforms are approved, and so are individuals in the sandbox;
	// all others start with a pending verification.
	env := newEnv(t)
	for name, c := range map[string]struct {
		environment platform.Environment
		regulated   bool
		request     customer.Request
		want        customer.Status
	}{
		"individual in the sandbox": {platform.Sandbox, false, customer.Request{Type: "INDIVIDUAL"}, customer.Approved},
		"business in the sandbox": {platform.Sandbox, false,
			customer.Request{Type: "BUSINESS", Business: &customer.BusinessInfo{LegalName: "Acme"}}, customer.Pending},
		"individual in production": {platform.Production, false, customer.Request{Type: "INDIVIDUAL", FullName: "Ana Ng002"},
			customer.Pending},
		"test value 001":               {platform.Sandbox, false, customer.Request{Type: "INDIVIDUAL", FullName: "Ana Ng001"}, customer.Pending},
		"test value 002":               {platform.Sandbox, false, customer.Request{Type: "INDIVIDUAL", FullName: "Ana Ng002"}, customer.Rejected},
		"test value 003":               {platform.Sandbox, false, customer.Request{Type: "INDIVIDUAL", FullName: "Ana Ng003"}, customer.Pending},
		"test value, regulated":        {platform.Sandbox, true, customer.Request{Type: "INDIVIDUAL", FullName: "Ana Ng002"}, customer.Approved},
		"customer of a regulated bank": {platform.Production, true, customer.Request{Type: "INDIVIDUAL"}, customer.Approved},
	} {
		created, err := env.customers.Create(t.Context(), env.createPlatform(t, c.environment, c.regulated).Platform, nil, c.request)
		if err != nil || created.Status != c.want {
			t.Errorf("%s: %s, %v; want %s", name, created.Status, err, c.want)
		}
	}
}

func TestService_RejectedCreateStoresNothing(t *testing.T) {
	t.Parallel()
	// An invalid request and a duplicate are rejected, and no customer is stored.
	env := newEnv(t)
	admin := env.createPlatform(t, platform.Sandbox, false)
	request := customer.Request{Type: "INDIVIDUAL", PlatformCustomerID: "ana", UMAAddress: "$ana@uma.acme.test"}
	if _, err := env.customers.Create(t.Context(), admin.Platform, nil, request); err != nil {
		t.Fatal(err)
	}

	sameUMA := customer.Request{Type: "INDIVIDUAL", UMAAddress: "$ANA@uma.acme.test"}
	for name, c := range map[string]struct {
		request customer.Request
		want    fault.Code
	}{
		"the same platformCustomerId":      {request, fault.Conflict},
		"the same UMA address in capitals": {sameUMA, fault.UMAAddressExists},
		"an unknown type":                  {customer.Request{Type: "ROBOT"}, fault.InvalidInput},
		"a business without a name":        {customer.Request{Type: "BUSINESS"}, fault.InvalidInput},
	} {
		if _, err := env.customers.Create(t.Context(), admin.Platform, nil, c.request); !fault.Is(err, c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}

	page, err := env.customers.List(t.Context(), admin.Platform, ports.CustomerFilter{Paging: ports.Paging{Limit: 10}, IncludeDeleted: true})
	if err != nil || page.Total != 1 {
		t.Errorf("%d customers, %v; want 1", page.Total, err)
	}
}

func TestService_CreateIsIdempotent(t *testing.T) {
	t.Parallel()
	// A repeated request gets the first response and creates no second customer.
	env := newEnv(t)
	admin := env.createPlatform(t, platform.Sandbox, false)
	create := func() error {
		_, err := env.customers.Create(t.Context(), admin.Platform, apptest.IdempotentRequest(admin, "key",
			func(result any) string { return result.(customer.Customer).ID.String() }),
			customer.Request{Type: "INDIVIDUAL", PlatformCustomerID: "ana"})
		return err
	}
	if err := create(); err != nil {
		t.Fatal(err)
	}

	err := create()

	page, listErr := env.customers.List(t.Context(), admin.Platform, ports.CustomerFilter{Paging: ports.Paging{Limit: 10}})
	if listErr != nil || page.Total != 1 {
		t.Fatalf("%d customers, %v", page.Total, listErr)
	}
	var replay *ports.Replay
	if !errors.As(err, &replay) || string(replay.Body) != page.Items[0].ID.String() {
		t.Errorf("got %v, want the first response", err)
	}
}

func TestService_CustomerOfOtherPlatformIsNotFound(t *testing.T) {
	t.Parallel()
	// Another platform cannot read a customer.
	env := newEnv(t)

	_, err := env.customers.Get(t.Context(), env.createPlatform(t, platform.Sandbox, false).Platform, env.Customer.ID)

	apptest.WantFault(t, "get", err, fault.UserNotFound)
}
