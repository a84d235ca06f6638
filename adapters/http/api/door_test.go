package api_test

import (
	"bytes"
	"encoding/json"
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
	httpapi "causeway/adapters/http"
	"causeway/adapters/http/api"
	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	sandboxrail "causeway/adapters/rails/sandbox"
	"causeway/app/accounts"
	"causeway/app/exports"
	"causeway/app/onboarding"
	"causeway/app/platforms"
	"causeway/core/platform"
	"causeway/ports"
	"causeway/ports/portstest"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

var generator = ids.New()

// door is one process that serves the interface on the real database.
type door struct {
	http.Handler
	platforms *platforms.Platforms
	post      *post
	url       string
}

// caller sends requests with the credentials of one token.
type caller struct {
	*door
	t        *testing.T
	founded  platforms.Founded
	user     string
	password string
	key      string
}

// openDoor serves a database; several may serve the same. A change may put other use
// cases behind the operations.
func openDoor(t *testing.T, url string, changes ...func(*api.Deps, *postgres.DB)) *door {
	t.Helper()
	store, err := postgres.Open(t.Context(), postgres.Options{URL: url, MaxConnections: 6, Clock: portstest.NewHands(noon), IDs: generator, Render: api.Event})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	log, _ := test.NewNullLogger()
	a := httpapi.New(httpapi.Config{
		Authenticator: platforms.NewAuthenticator(store), Memory: platforms.NewMemory(store, portstest.NewHands(noon)),
		Log: log, Metrics: prometheus.NewRegistry(), Rate: httpapi.Unlimited,
	})
	rails := ports.RailsBy{platform.Sandbox: sandboxrail.New(portstest.NewHands(noon), 1)}
	d := &door{Handler: a, url: url, post: newPost(), platforms: platforms.New(platforms.Config{Store: store, Clock: portstest.NewHands(noon), IDs: generator, Rails: rails})}
	deps := api.Deps{
		Platforms:  d.platforms,
		Onboarding: onboarding.New(onboarding.Config{Store: store, Clock: portstest.NewHands(noon), IDs: generator, Rails: rails}),
		Accounts: accounts.New(accounts.Config{Store: store, Clock: portstest.NewHands(noon), IDs: generator,
			Beneficiaries: ports.BeneficiariesBy{platform.Sandbox: sandbox.Beneficiaries{}, platform.Production: unsupported.Beneficiaries{}}}),
		Internal: accounts.New(accounts.Config{Store: store, Books: store.BookReader()}),
		Webhooks: d.post,
		Exports:  exports.New(exports.Config{Views: store.BookViews(), Store: store, Clock: portstest.NewHands(noon)}),
	}
	for _, change := range changes {
		change(&deps, store)
	}
	api.Register(a, deps)
	if err := a.Build(); err != nil {
		t.Fatal(err)
	}
	return d
}

// newCaller is the boss of a new sandbox platform on a database of its own.
func newCaller(t *testing.T) *caller {
	t.Helper()
	return openDoor(t, pgtest.New(t)).found(t, platform.Sandbox)
}

func (d *door) found(t *testing.T, environment platform.Environment) *caller {
	t.Helper()
	f, err := d.platforms.Create(t.Context(), platforms.Founding{Name: "Acme", Environment: environment})
	if err != nil {
		t.Fatal(err)
	}
	return &caller{door: d, t: t, founded: f, user: f.Token.ClientID, password: f.Secret}
}

// with is the same caller, sending an idempotency key.
func (c *caller) with(key string) *caller {
	copied := *c
	copied.key = key
	return &copied
}

// allowed is a caller of the same platform with some permissions.
func (c *caller) allowed(permissions ...platform.Permission) *caller {
	c.t.Helper()
	boss := platform.Principal{Platform: c.founded.Platform.ID, Permissions: platform.Permissions}
	issued, err := c.platforms.CreateToken(c.t.Context(), boss, nil, "some", permissions)
	if err != nil {
		c.t.Fatal(err)
	}
	return &caller{door: c.door, t: c.t, founded: c.founded, user: issued.Token.ClientID, password: issued.Secret}
}

// answer is what a request got.
type answer struct {
	status int
	header http.Header
	body   map[string]any
	raw    string
}

// send makes a request; path is below the version, body is JSON or empty.
func (c *caller) send(method, path, body string) answer {
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
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	a := answer{status: w.Code, header: w.Header(), raw: w.Body.String()}
	if w.Body.Len() > 0 && !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		decoder := json.NewDecoder(bytes.NewReader(w.Body.Bytes()))
		decoder.UseNumber()
		if err := decoder.Decode(&a.body); err != nil {
			c.t.Errorf("%s %s: the body is not JSON: %v: %s", method, path, err, a.raw)
		}
	}
	return a
}

// must is send that fails the test unless the status is the one wanted.
func (c *caller) must(status int, method, path, body string) answer {
	c.t.Helper()
	a := c.send(method, path, body)
	if a.status != status {
		c.t.Fatalf("%s %s: %d, want %d: %s", method, path, a.status, status, a.raw)
	}
	return a
}

// text is a text in the body, by its dotted path.
func (a answer) text(path string) string {
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

// list is data of a list, one field of each item.
func (a answer) list(field string) []string {
	items, _ := a.body["data"].([]any)
	values := make([]string, len(items))
	for i, item := range items {
		values[i] = answer{body: item.(map[string]any)}.text(field)
	}
	return values
}

// badFields are the fields that an INVALID_INPUT names, sorted.
func (a answer) badFields() []string {
	details, _ := a.body["details"].(map[string]any)
	list, _ := details["errors"].([]any)
	var fields []string
	for _, item := range list {
		fields = append(fields, answer{body: item.(map[string]any)}.text("field"))
	}
	slices.Sort(fields)
	return fields
}

// same compares a body with JSON, field by field; "*" stands for anything.
func (a answer) same(t *testing.T, want string) {
	t.Helper()
	var expected map[string]any
	decoder := json.NewDecoder(strings.NewReader(want))
	decoder.UseNumber()
	if err := decoder.Decode(&expected); err != nil {
		t.Fatalf("the expectation is not JSON: %v: %s", err, want)
	}
	if !matches(expected, a.body) {
		t.Errorf("got  %s\nwant %s", a.raw, want)
	}
}

func matches(want, got any) bool {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok || len(object) != len(want) {
			return false
		}
		for name, value := range want {
			if other, ok := object[name]; !ok || !matches(value, other) {
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
			if !matches(want[i], list[i]) {
				return false
			}
		}
		return true
	}
	return want == "*" && got != nil || want == got
}
