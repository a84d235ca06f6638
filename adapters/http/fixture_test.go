package httpapi

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"
	"github.com/sirupsen/logrus/hooks/test"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// fixture is an API with operations on parcels.
type fixture struct {
	*API
	t       *testing.T
	store   *memoryStore
	logs    *test.Hook
	handler func(ctx context.Context, call Call, in *sendParcel) (parcel, error)
}

type parcel struct {
	ID     ident.Quote
	To     ident.Customer
	Weight int64
}

type parcelBody struct {
	ID     ID[ident.Quote]    `json:"id" doc:"The parcel."`
	To     ID[ident.Customer] `json:"to" doc:"Who gets it."`
	Weight Minor              `json:"weight" doc:"In grams."`
	Note   string             `json:"note,omitempty" doc:"A note."`
}

type sendParcel struct {
	Via  string `query:"via" doc:"Where it stops."`
	Body struct {
		To       ID[ident.Customer] `json:"to" doc:"Who gets it."`
		Weight   Minor              `json:"weight" minimum:"1" doc:"In grams."`
		Note     string             `json:"note,omitempty" maxLength:"20" doc:"A note."`
		Currency Currency           `json:"currency,omitempty" doc:"What it is worth in."`
		Label    *label             `json:"label,omitempty" doc:"Label of the parcel."`
		Ready    *Time              `json:"ready,omitempty" doc:"When it can be fetched."`
		Way      Union[ways]        `json:"way,omitzero" doc:"How it travels."`
	}
}

type label struct {
	Color string   `json:"color" enum:"RED,GREEN" doc:"Its color."`
	Lines []string `json:"lines" maxItems:"3" doc:"Its text."`
}

type ways struct{}

func (ways) Union() UnionSpec {
	return UnionSpec{
		Description: "How a parcel travels.", Discriminator: "kind",
		Branches: []Branch{
			{Name: "RoadWay", Values: []string{"ROAD", "STREET"}, Fields: []Field{
				{Name: "plate", Required: true, Pattern: "^[A-Z]{2}[0-9]{3}$", PatternDescription: "a plate such as AB123"},
				{Name: "driver", Union: &UnionSpec{Discriminator: "kind", Branches: []Branch{
					{Name: "PersonDriver", Values: []string{"PERSON"}, Fields: []Field{{Name: "fullName", Required: true}}},
					{Name: "RobotDriver", Values: []string{"ROBOT"}, Fields: []Field{{Name: "model", Required: true}}},
				}}},
			}},
			{Name: "SeaWay", Values: []string{"SEA"}, Fields: []Field{
				{Name: "ship", Required: true, MaxLength: 5},
				{Name: "cabin", Fields: []Field{{Name: "number", Required: true}}},
			}},
		},
	}
}

const (
	clientID = "0123456789abcdef0123456789abcdef"
	secret   = "s3cret"
)

var (
	parcelID   = must(ident.ParseQuote("Quote:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"))
	receiverID = must(ident.ParseCustomer("Customer:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6c"))
	platformID = must(ident.ParsePlatform("PlatformConfig:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6d"))

	otherPlatformID = must(ident.ParsePlatform("PlatformConfig:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6e"))
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// fakeAuthenticator knows one token for each set of permissions.
type fakeAuthenticator struct {
	mu     sync.Mutex
	tokens map[string]platform.Principal
}

func (g *fakeAuthenticator) Authenticate(_ context.Context, id, given string) (platform.Principal, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p, ok := g.tokens[id]
	refused := &fault.Error{Code: fault.Unauthorized, Message: "No token has these credentials.", Reason: "Invalid credentials"}
	switch {
	case !ok:
		return platform.Principal{}, refused
	case given != secret:
		return platform.Principal{}, &platform.RefusedError{Err: refused, Principal: platform.Principal{Platform: p.Platform, Token: p.Token}}
	}
	return p, nil
}

func newFakeAuthenticator() *fakeAuthenticator {
	principal := func(environment platform.Environment, permissions ...platform.Permission) platform.Principal {
		return platform.Principal{Platform: platformID, Environment: environment, Permissions: permissions}
	}
	g := &fakeAuthenticator{tokens: map[string]platform.Principal{
		clientID:     principal(platform.Sandbox, platform.Permissions...),
		"viewer":     principal(platform.Sandbox, platform.View),
		"production": principal(platform.Production, platform.Permissions...),
		"rotated":    principal(platform.Sandbox, platform.Permissions...),
		"foreign":    principal(platform.Sandbox, platform.Permissions...),
	}}
	for id, p := range g.tokens {
		if id == "foreign" {
			p.Platform = otherPlatformID
		}
		p.Token = must(ident.ParseToken("Token:" + uuid.NewSHA1(uuid.NameSpaceOID, []byte(id)).String()))
		g.tokens[id] = p
	}
	return g
}

// memoryStore stores responses in a map.
type memoryStore struct {
	mu        sync.Mutex
	responses map[ports.IdempotencyKey]ports.StoredResponse
	lookups   int
	getError  func() error // nil: works
}

func (m *memoryStore) Get(_ context.Context, claim ports.IdempotentRequest) (ports.StoredResponse, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lookups++
	if m.getError != nil {
		if err := m.getError(); err != nil {
			return ports.StoredResponse{}, false, err
		}
	}
	stored, ok := m.responses[claim.IdempotencyKey()]
	return stored, ok, nil
}

func (m *memoryStore) Save(_ context.Context, claim ports.IdempotentRequest, stored ports.StoredResponse) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.responses[claim.IdempotencyKey()]; !ok {
		m.responses[claim.IdempotencyKey()] = stored
	}
	return nil
}

func (m *memoryStore) byKey(key string) (ports.StoredResponse, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, stored := range m.responses {
		if id.Key == key {
			return stored, true
		}
	}
	return ports.StoredResponse{}, false
}

// newFixture returns an API with the operations of the tests; configure can change its
// settings and add operations.
func newFixture(t *testing.T, configure ...func(*Config)) *fixture {
	f := newUnbuiltFixture(t, configure...)
	if err := f.Build(); err != nil {
		t.Fatal(err)
	}
	return f
}

func newUnbuiltFixture(t *testing.T, configure ...func(*Config)) *fixture {
	log, logs := test.NewNullLogger()
	log.SetLevel(logrus.DebugLevel)
	f := &fixture{t: t, store: &memoryStore{responses: map[ports.IdempotencyKey]ports.StoredResponse{}}, logs: logs}
	f.handler = func(_ context.Context, _ Call, in *sendParcel) (parcel, error) {
		return parcel{ID: parcelID, To: in.Body.To.Value, Weight: int64(in.Body.Weight)}, nil
	}
	config := Config{Authenticator: newFakeAuthenticator(), IdempotencyStore: f.store, Log: log, Metrics: prometheus.NewRegistry(),
		Rate: Unlimited}
	for _, change := range configure {
		change(&config)
	}
	f.API = New(config)
	f.Tags(Tag{"Parcels", "Send parcels."})

	Post(f.API, Operation{
		ID: "sendParcel", Path: "/parcels", Summary: "Send a parcel", Tag: "Parcels", Permission: platform.Transact, Status: http.StatusCreated,
		Errors: []fault.Code{fault.QuoteExpired},
	}, func(ctx context.Context, call Call, in *sendParcel) (parcel, error) { return f.handler(ctx, call, in) }, renderParcel)
	Get(f.API, Operation{ID: "getParcel", Path: "/parcels/{parcelId}", Summary: "Get a parcel", Tag: "Parcels", Permission: platform.View},
		func(_ context.Context, _ Call, in *struct {
			ParcelID ID[ident.Quote] `path:"parcelId" doc:"Which one."`
		}) (parcel, error) {
			if in.ParcelID.Value != parcelID {
				return parcel{}, fault.New(fault.QuoteNotFound, "There is no parcel with this id.")
			}
			return parcel{ID: in.ParcelID.Value, To: receiverID, Weight: 5}, nil
		}, renderParcel)
	Get(f.API, Operation{ID: "listParcels", Path: "/parcels", Summary: "List parcels", Tag: "Parcels", Permission: platform.View},
		func(_ context.Context, _ Call, in *struct {
			Paging
			Sorting
			To    ID[ident.Customer] `query:"to" doc:"Only those for this customer."`
			Since Time               `query:"since" doc:"Only later ones."`
			Color []string           `query:"color" doc:"Only those with one of these colors."`
		}) ([]parcel, error) {
			if _, err := CursorID[ident.Quote](in.Cursor); err != nil {
				return nil, err
			}
			return make([]parcel, min(in.Limit, 2)), nil
		}, func(parcels []parcel) Page[parcelBody] {
			items := make([]parcelBody, len(parcels))
			for i := range parcels {
				items[i] = renderParcel(parcels[i])
			}
			return NewPage(items, true, Cursor{ID: parcelID.String()}, 7, false)
		})
	Delete(f.API, Operation{ID: "dropParcel", Path: "/parcels/{parcelId}", Summary: "Drop a parcel", Tag: "Parcels",
		Permission: platform.Manage},
		func(context.Context, Call, *struct {
			ParcelID ID[ident.Quote] `path:"parcelId" doc:"Which one."`
		}) (struct{}, error) {
			return struct{}{}, nil
		}, func(struct{}) NoBody { return NoBody{} })
	Post(f.API, Operation{ID: "loseParcel", Path: "/sandbox/parcels/{parcelId}/lose", Summary: "Lose a parcel", Tag: "Parcels",
		Permission: platform.Transact, SandboxOnly: true},
		func(context.Context, Call, *struct {
			ParcelID ID[ident.Quote] `path:"parcelId" doc:"Which one."`
		}) (parcel, error) {
			return parcel{ID: parcelID, To: receiverID, Weight: 1}, nil
		}, renderParcel)
	Get(f.API, Operation{ID: "getNews", Path: "/news", Summary: "Read the news", Tag: "Parcels", Public: true},
		func(context.Context, Call, *struct{}) (parcel, error) { panic("the press is broken") }, renderParcel)
	return f
}

func renderParcel(p parcel) parcelBody {
	return parcelBody{ID: NewID(p.ID), To: NewID(p.To), Weight: Minor(p.Weight)}
}

// reply is a response with its decoded body.
type reply struct {
	status int
	header http.Header
	body   string
	error  Error
	fields map[string]string // details.errors, message by field
}

type requestOption func(*http.Request)

func withHeader(name, value string) requestOption {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func asClient(client string) requestOption {
	return func(r *http.Request) { r.SetBasicAuth(client, secret) }
}

func withKey(k string) requestOption { return withHeader("Idempotency-Key", k) }

// do sends a request below BasePath with the credentials of a token that has all
// permissions.
func (f *fixture) do(method, path, body string, options ...requestOption) reply {
	f.t.Helper()
	return f.request(method, BasePath+path, body, options...)
}

func (f *fixture) request(method, path, body string, options ...requestOption) reply {
	f.t.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, path, content)
	r.SetBasicAuth(clientID, secret)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, change := range options {
		change(r)
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return f.decodeReply(w.Result())
}

func (f *fixture) decodeReply(response *http.Response) reply {
	f.t.Helper()
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	got := reply{status: response.StatusCode, header: response.Header, body: string(text), fields: map[string]string{}}
	if response.StatusCode >= 400 {
		if err := json.Unmarshal(text, &got.error); err != nil {
			f.t.Fatalf("status %d with a body that is no error: %q", got.status, text)
		}
		if list, ok := got.error.Details["errors"].([]any); ok {
			for _, item := range list {
				entry := item.(map[string]any)
				got.fields[entry["field"].(string)] = entry["message"].(string)
			}
		}
		if got.error.Status != got.status || got.error.Message == "" || got.header.Get("Content-Type") != "application/json" {
			f.t.Errorf("incomplete error: %d %v %s", got.status, got.header, text)
		}
	}
	return got
}

const validParcel = `{"to":"Customer:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6c","weight":700}`

func newRequest(method string) *http.Request {
	return httptest.NewRequest(method, BasePath+"/parcels", nil)
}
