package customers_test

import (
	"crypto/sha256"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/adapters/rails/sandbox"
	"causeway/app/customers"
	"causeway/app/platforms"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/ports"
	"causeway/ports/portstest"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// env is the use cases on the real database.
type env struct {
	*customers.Service
	platforms *platforms.Service
	store     *postgres.DB
	url       string
}

func newEnv(t *testing.T) *env {
	t.Helper()
	url, made := pgtest.New(t), ids.New()
	store, err := postgres.Open(t.Context(), postgres.Options{URL: url, MaxConnections: 4, Clock: portstest.NewFakeClock(noon), IDs: made})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	rails := ports.RailsByEnvironment{platform.Sandbox: sandbox.New(portstest.NewFakeClock(noon), 1)}
	return &env{
		Service:   customers.New(customers.Config{Store: store, Clock: portstest.NewFakeClock(noon), IDs: made, Rails: rails, Jobs: store}),
		platforms: platforms.New(platforms.Config{Store: store, Clock: portstest.NewFakeClock(noon), IDs: made, Rails: rails}),
		store:     store, url: url,
	}
}

// createPlatform makes a platform and says who holds its first token.
func (h *env) createPlatform(t *testing.T, environment platform.Environment, regulated bool) platform.Principal {
	t.Helper()
	f, err := h.platforms.Create(t.Context(), platforms.CreateRequest{Name: "Acme", Environment: environment, Regulated: regulated})
	if err != nil {
		t.Fatal(err)
	}
	return platform.Principal{Platform: f.Platform.ID, Environment: environment, Token: f.Token.ID, Permissions: f.Token.Permissions}
}

func TestService_CreateOpensAccounts(t *testing.T) {
	t.Parallel()
	// A customer is read back as it was made, with an account for each currency of the
	// platform, that says how it is paid into.
	h := newEnv(t)
	who := h.createPlatform(t, platform.Sandbox, false)

	made, err := h.Create(t.Context(), who, nil, customer.Request{Type: "INDIVIDUAL", FullName: "Ana Silva", Region: "US"})
	if err != nil {
		t.Fatal(err)
	}

	if read, err := h.Get(t.Context(), who, made.ID); err != nil || !reflect.DeepEqual(read, made) {
		t.Errorf("read %+v, %v\nmade %+v", read, err, made)
	}
	if made.PlatformCustomerID == "" || made.UMAAddress == "" {
		t.Errorf("made without names of its own: %+v", made)
	}
	conn, err := pgx.Connect(t.Context(), h.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), `SELECT currency || ' ' || account_type FROM internal_accounts WHERE customer_id = $1 ORDER BY 1`, made.ID.UUID())
	if err != nil {
		t.Fatal(err)
	}
	accounts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if want := []string{"BTC INTERNAL_CRYPTO", "USD INTERNAL_FIAT", "USDB EMBEDDED_WALLET", "USDC INTERNAL_CRYPTO"}; err != nil || !slices.Equal(accounts, want) {
		t.Errorf("accounts %q, %v; want %q", accounts, err, want)
	}
}

func TestService_InitialStatusDependsOnPlatform(t *testing.T) {
	t.Parallel()
	// Regulated platforms vouch for their customers, the sandbox for people; everybody
	// else waits for a verification.
	h := newEnv(t)
	for name, c := range map[string]struct {
		environment platform.Environment
		regulated   bool
		request     customer.Request
		want        customer.Status
	}{
		"a person in the sandbox":     {platform.Sandbox, false, customer.Request{Type: "INDIVIDUAL"}, customer.Approved},
		"a business in the sandbox":   {platform.Sandbox, false, customer.Request{Type: "BUSINESS", Business: &customer.BusinessInfo{LegalName: "Acme"}}, customer.Pending},
		"a person in production":      {platform.Production, false, customer.Request{Type: "INDIVIDUAL"}, customer.Pending},
		"a regulated bank's customer": {platform.Production, true, customer.Request{Type: "INDIVIDUAL"}, customer.Approved},
	} {
		made, err := h.Create(t.Context(), h.createPlatform(t, c.environment, c.regulated), nil, c.request)
		if err != nil || made.Status != c.want {
			t.Errorf("%s: %s, %v; want %s", name, made.Status, err, c.want)
		}
	}
}

func TestService_RejectedCreateStoresNothing(t *testing.T) {
	t.Parallel()
	// Whether the request is wrong or the name is taken, there is no customer more than before.
	h := newEnv(t)
	who := h.createPlatform(t, platform.Sandbox, false)
	request := customer.Request{Type: "INDIVIDUAL", PlatformCustomerID: "ana", UMAAddress: "$ana@uma.test"}
	if _, err := h.Create(t.Context(), who, nil, request); err != nil {
		t.Fatal(err)
	}

	sameUMA := customer.Request{Type: "INDIVIDUAL", UMAAddress: "$ANA@uma.test"}
	for name, c := range map[string]struct {
		request customer.Request
		want    fault.Code
	}{
		"the same platformCustomerId":           {request, fault.Conflict},
		"the same UMA address, written larger":  {sameUMA, fault.UMAAddressExists},
		"a type that does not exist":            {customer.Request{Type: "ROBOT"}, fault.InvalidInput},
		"a business that does not say its name": {customer.Request{Type: "BUSINESS"}, fault.InvalidInput},
	} {
		if _, err := h.Create(t.Context(), who, nil, c.request); !fault.Is(err, c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}

	page, err := h.List(t.Context(), who, ports.CustomerFilter{Paging: ports.Paging{Limit: 10}, IncludeDeleted: true})
	if err != nil || page.Total != 1 {
		t.Errorf("%d customers, %v; want one", page.Total, err)
	}
}

func TestService_CreateIsIdempotent(t *testing.T) {
	t.Parallel()
	// The same request under the same key is answered as the first time.
	h := newEnv(t)
	who := h.createPlatform(t, platform.Sandbox, false)
	create := func() error {
		_, err := h.Create(t.Context(), who, &ports.IdempotentRequest{
			Platform: who.Platform, Token: who.Token, Key: "key", Fingerprint: sha256.Sum256(nil),
			Render: func(result any, _ error) (int, []byte) { return 201, []byte(result.(customer.Customer).ID.String()) },
		}, customer.Request{Type: "INDIVIDUAL", PlatformCustomerID: "ana"})
		return err
	}
	if err := create(); err != nil {
		t.Fatal(err)
	}

	err := create()

	page, listed := h.List(t.Context(), who, ports.CustomerFilter{Paging: ports.Paging{Limit: 10}})
	if listed != nil || page.Total != 1 {
		t.Fatalf("%d customers, %v", page.Total, listed)
	}
	var replay *ports.Replay
	if !errors.As(err, &replay) || string(replay.Body) != page.Items[0].ID.String() {
		t.Errorf("answered %v, want the first answer", err)
	}
}

func TestService_RequiresPermission(t *testing.T) {
	t.Parallel()
	// Creating needs MANAGE, reading VIEW; and another platform finds nobody.
	h := newEnv(t)
	who, stranger := h.createPlatform(t, platform.Sandbox, false), h.createPlatform(t, platform.Sandbox, false)
	made, err := h.Create(t.Context(), who, nil, customer.Request{Type: "INDIVIDUAL"})
	if err != nil {
		t.Fatal(err)
	}

	for _, permission := range platform.Permissions {
		p := who
		p.Permissions = []platform.Permission{permission}
		_, created := h.Create(t.Context(), p, nil, customer.Request{Type: "INDIVIDUAL"})
		_, read := h.Get(t.Context(), p, made.ID)
		_, listed := h.List(t.Context(), p, ports.CustomerFilter{Paging: ports.Paging{Limit: 1}})
		if views := permission == platform.View; (created == nil) != (permission == platform.Manage) || (read == nil) != views || (listed == nil) != views {
			t.Errorf("with %s: create %v, read %v, list %v", permission, created, read, listed)
		}
	}
	if _, err := h.Get(t.Context(), stranger, made.ID); !fault.Is(err, fault.UserNotFound) {
		t.Errorf("another platform: %v", err)
	}
}
