package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus/hooks/test"

	"causeway/adapters/beneficiaries/sandbox"
	"causeway/adapters/beneficiaries/unsupported"
	localcustody "causeway/adapters/custody/local"
	httpapi "causeway/adapters/http"
	"causeway/adapters/http/api"
	sandboxidentity "causeway/adapters/identity/sandbox"
	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	sandboxrail "causeway/adapters/rails/sandbox"
	realproofs "causeway/adapters/walletproofs/real"
	sandboxproofs "causeway/adapters/walletproofs/sandbox"
	"causeway/app/accounts"
	"causeway/app/agents"
	"causeway/app/customers"
	"causeway/app/exports"
	"causeway/app/platforms"
	"causeway/app/wallets"
	"causeway/app/webhooks"
	"causeway/core/event"
	"causeway/core/platform"
	"causeway/ports"
	"causeway/ports/portstest"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

var idGenerator = ids.New()

// testServer is one process that serves the interface on a real database.
type testServer struct {
	http.Handler
	platforms *platforms.Service
	webhooks  *fakeWebhooks
	url       string
}

// client sends requests with the credentials of one token.
type client struct {
	*testServer
	t        *testing.T
	tenant   platforms.Created
	user     string
	password string
	key      string
	headers  map[string]string // further headers
}

// newTestServer serves a database; several servers can serve the same. A change can
// replace use cases.
func newTestServer(t *testing.T, url string, changes ...func(*api.Deps, *postgres.DB)) *testServer {
	t.Helper()
	store, err := postgres.Open(t.Context(), postgres.Options{URL: pgtest.SimulateClock(t, url), AllPlatforms: true, MaxConnections: 6,
		Clock: portstest.NewFakeClock(noon), IDs: idGenerator, TxOf: func(u *postgres.Unit) any { return tx{u} }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	log, _ := test.NewNullLogger()
	agentService := agents.New(agents.Config{Store: store, Clock: portstest.NewFakeClock(noon), IDs: idGenerator})
	a := httpapi.New(httpapi.Config{
		Authenticator: platforms.NewAuthenticator(store), AgentAuthenticator: agentService,
		IdempotencyStore: platforms.NewIdempotencyStore(store),
		Log:              log, Metrics: prometheus.NewRegistry(), Rate: httpapi.Unlimited,
	})
	rails := ports.RailsByEnvironment{platform.Sandbox: sandboxrail.New(portstest.NewFakeClock(noon), 1)}
	d := &testServer{Handler: a, url: url, webhooks: newFakeWebhooks(),
		platforms: platforms.New(platforms.Config{
			Store: store, Clock: portstest.NewFakeClock(noon), IDs: idGenerator, Rails: rails, AllowPrivateWebhooks: true})}
	accountService := accounts.New(accounts.Config{
		Store: store, Ledger: store.LedgerReader(), Clock: portstest.NewFakeClock(noon),
		IDs: idGenerator,
		Beneficiaries: ports.BeneficiariesByEnvironment{platform.Sandbox: sandbox.Beneficiaries{},
			platform.Production: unsupported.Beneficiaries{}}})
	deps := api.Deps{
		Platforms: d.platforms,
		Customers: customers.New(customers.Config{
			Store: store, Clock: portstest.NewFakeClock(noon), IDs: idGenerator, Rails: rails,
			Identity: ports.IdentityByEnvironment{platform.Sandbox: sandboxidentity.Identity{}}}),
		KYCLinks: customers.NewKYCLinks(customers.KYCLinksConfig{
			Store: store, Clock: portstest.NewFakeClock(noon), IDs: idGenerator}),
		ExternalAccounts: accountService, InternalAccounts: accountService,
		Wallets: wallets.New(wallets.Config{
			Store: store, Ledger: store.LedgerReader(), Custody: localcustody.New(store),
			Proofs: ports.WalletProofsByEnvironment{platform.Sandbox: sandboxproofs.New(nil, realproofs.New(realproofs.Options{}))},
			Clock:  portstest.NewFakeClock(noon),
			IDs:    idGenerator}),
		Agents:   agentService,
		Webhooks: d.webhooks,
		WebhookSecrets: webhooks.New(webhooks.Config{
			Store: store, Keys: fakeSecretTexts{}, Clock: portstest.NewFakeClock(noon),
			IDs: idGenerator}),
		Exports: exports.New(exports.Config{Views: store.LedgerViews(), Store: store, Clock: portstest.NewFakeClock(noon)}),
	}
	for _, change := range changes {
		change(&deps, store)
	}
	verifications := customers.NewVerifications(customers.VerificationsConfig{
		Store: store, Clock: portstest.NewFakeClock(noon),
		IDs: idGenerator, Jobs: store,
		Identity: ports.IdentityByEnvironment{platform.Sandbox: sandboxidentity.Identity{}}})
	deps.BeneficialOwners, deps.Verifications, deps.VerificationURL = verifications, verifications, "https://pay.test/verify/"
	api.Register(a, deps)
	if err := a.Build(); err != nil {
		t.Fatal(err)
	}
	return d
}

// tx is the unit of work of the use cases.
type tx struct{ *postgres.Unit }

// Emit implements platforms.Tx.
func (t tx) Emit(ctx context.Context, events []event.Event) error {
	rendered, err := api.Events.RenderAll(events)
	return errors.Join(err, t.StoreEvents(ctx, rendered))
}

// newClient returns a client with all permissions on a new sandbox platform, on its own
// database.
func newClient(t *testing.T) *client {
	t.Helper()
	return newTestServer(t, pgtest.New(t)).createPlatform(t, platform.Sandbox)
}

func (d *testServer) createPlatform(t *testing.T, environment platform.Environment) *client {
	t.Helper()
	f, err := d.platforms.Create(t.Context(), platforms.CreateRequest{Name: "Acme", Environment: environment})
	if err != nil {
		t.Fatal(err)
	}
	return &client{testServer: d, t: t, tenant: f, user: f.Token.ClientID, password: f.Secret}
}

// withKey returns the client with an idempotency key.
func (c *client) withKey(key string) *client {
	copied := *c
	copied.key = key
	return &copied
}

// withHeader returns the client with a further header, which replaces its credentials if it is
// Authorization.
func (c *client) withHeader(name, value string) *client {
	copied := *c
	copied.headers = map[string]string{name: value}
	return &copied
}

// withPermissions returns a client of the same platform with the permissions.
func (c *client) withPermissions(permissions ...platform.Permission) *client {
	c.t.Helper()
	admin := platform.Principal{Platform: c.tenant.Platform.ID, Permissions: platform.Permissions}
	issued, err := c.platforms.CreateToken(c.t.Context(), admin.Platform, platform.Author{Token: c.tenant.Token.ID}, nil, "some", permissions)
	if err != nil {
		c.t.Fatal(err)
	}
	return &client{testServer: c.testServer, t: c.t, tenant: c.tenant, user: issued.Token.ClientID, password: issued.Secret}
}

// reply is a response.
type reply struct {
	status  int
	header  http.Header
	body    map[string]any
	rawBody string
}

// send makes a request; path is below BasePath, body is JSON or empty.
func (c *client) send(method, path, body string) reply {
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r := httptest.NewRequestWithContext(c.t.Context(), method, httpapi.BasePath+path, reader)
	r.SetBasicAuth(c.user, c.password)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		r.Header.Set("Idempotency-Key", c.key)
	}
	for name, value := range c.headers {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	a := reply{status: w.Code, header: w.Header(), rawBody: w.Body.String()}
	if w.Body.Len() > 0 && !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		decoder := json.NewDecoder(bytes.NewReader(w.Body.Bytes()))
		decoder.UseNumber()
		if err := decoder.Decode(&a.body); err != nil {
			c.t.Errorf("%s %s: the body is not JSON: %v: %s", method, path, err, a.rawBody)
		}
	}
	return a
}

// must calls send and fails the test if the status differs.
func (c *client) must(status int, method, path, body string) reply {
	c.t.Helper()
	a := c.send(method, path, body)
	if a.status != status {
		c.t.Fatalf("%s %s: %d, want %d: %s", method, path, a.status, status, a.rawBody)
	}
	return a
}

// stringAt returns a value of the body as text, by its dotted path.
func (a reply) stringAt(path string) string {
	var value any = a.body
	for part := range strings.SplitSeq(path, ".") {
		object, ok := value.(map[string]any)
		if !ok {
			return ""
		}
		value = object[part]
	}
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// dataStrings returns one field of each item of a list.
func (a reply) dataStrings(field string) []string {
	items, _ := a.body["data"].([]any)
	values := make([]string, len(items))
	for i, item := range items {
		values[i] = reply{body: item.(map[string]any)}.stringAt(field)
	}
	return values
}

// invalidFields returns the fields of an INVALID_INPUT response, sorted.
func (a reply) invalidFields() []string {
	details, _ := a.body["details"].(map[string]any)
	list, _ := details["errors"].([]any)
	var fields []string
	for _, item := range list {
		fields = append(fields, reply{body: item.(map[string]any)}.stringAt("field"))
	}
	slices.Sort(fields)
	return fields
}

// assertBody compares a body with JSON, field by field; "*" matches any value.
func (a reply) assertBody(t *testing.T, want string) {
	t.Helper()
	var expected map[string]any
	decoder := json.NewDecoder(strings.NewReader(want))
	decoder.UseNumber()
	if err := decoder.Decode(&expected); err != nil {
		t.Fatalf("the expectation is not JSON: %v: %s", err, want)
	}
	if !matchesJSON(expected, a.body) {
		t.Errorf("got  %s\nwant %s", a.rawBody, want)
	}
}

func matchesJSON(want, got any) bool {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok || len(object) != len(want) {
			return false
		}
		for name, value := range want {
			if other, ok := object[name]; !ok || !matchesJSON(value, other) {
				return false
			}
		}
		return true
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return false
		}
		for i := range want {
			if !matchesJSON(want[i], list[i]) {
				return false
			}
		}
		return true
	}
	return want == "*" && got != nil || want == got
}
