package httpapi

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/requestlog"
)

// memoryLog keeps entries in memory, with all bodies unless without.
type memoryLog struct {
	mu      sync.Mutex
	entries []requestlog.Entry
	without bool
}

func (m *memoryLog) Record(e requestlog.Entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries = append(m.entries, e)
}

func (m *memoryLog) KeepsBodies(platform.Environment, int) bool { return !m.without }

// last returns the only entry since the last call.
func (m *memoryLog) last(t *testing.T) requestlog.Entry {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.entries) != 1 {
		t.Fatalf("%d entries, want 1", len(m.entries))
	}
	e := m.entries[0]
	m.entries = nil
	return e
}

func newLoggedFixture(t *testing.T) (*fixture, *memoryLog) {
	t.Helper()
	log := new(memoryLog)
	f := newUnbuiltFixture(t, func(c *Config) { c.RequestLog = log })
	Get(f.API, Operation{ID: "readLog", Path: "/log", Summary: "Read the log", Tag: "Parcels", Permission: platform.View, Unlogged: true},
		func(context.Context, Call, *struct{}) (parcel, error) { return parcel{}, nil }, renderParcel)
	Post(f.API, Operation{ID: "sendPhoto", Path: "/photos", Summary: "Send a photo", Tag: "Parcels", Permission: platform.Transact,
		Upload: &Upload{Types: []string{"image/png"}, Description: "A photo."}},
		func(_ context.Context, call Call, _ *struct{}) (parcel, error) {
			return parcel{}, fault.New(fault.InvalidInput, "Ana is not on it.")
		}, renderParcel)
	f.MaskWhole("label")
	if err := f.Build(); err != nil {
		t.Fatal(err)
	}
	return f, log
}

func TestRequestLog_EntryOfARequest(t *testing.T) {
	t.Parallel()
	// The entry of a request has what was sent and answered; of the bodies what the description gives a form, and nothing in a form
	// that the rule does not show.
	f, log := newLoggedFixture(t)
	id := "11111111-2222-4333-8444-555555555555"
	body := `{"to":"` + receiverID.String() + `","weight":5,"note":"Ana Lima","label":{"color":"RED","lines":["Ana"]},"currency":"USD","x@y":1}`
	f.do("POST", "/parcels?via=Ana", body, withKey("order-7"), withHeader("Request-Id", id))

	e := log.last(t)
	if e.Platform != platformID || e.Token.IsZero() || !e.Agent.IsZero() || e.Method != "POST" || e.Operation != "sendParcel" ||
		e.Route != BasePath+"/parcels" || e.Path != BasePath+"/parcels" || e.Query != "via=***" || e.Status != 201 || e.Code != "" ||
		e.RequestID.String() != id || e.IdempotencyKey != "order-7" || e.Replayed || e.Duration <= 0 || e.ArrivedAt.IsZero() ||
		e.Subject != parcelID.UUID() {
		t.Errorf("%+v", e)
	}
	want := `{"to":"` + receiverID.String() + `","weight":5,"note":"***","label":"***","currency":"USD","***":"***"}`
	if e.Request != (requestlog.Content{Type: "application/json", Size: int64(len(body)), Body: want}) {
		t.Errorf("request %+v, want %s", e.Request, want)
	}
	if want := `{"id":"` + parcelID.String() + `","to":"` + receiverID.String() + `","weight":5}`; e.Response.Body != want ||
		e.Response.Type != "application/json" || e.Response.Size != int64(len(want)) {
		t.Errorf("response %+v, want %s", e.Response, want)
	}

	f.do("POST", "/parcels?via=Ana", body, withKey("order-7"))
	if e := log.last(t); !e.Replayed || e.Status != 201 || e.Subject != parcelID.UUID() {
		t.Errorf("the repeated request: %+v", e)
	}

	f.do("GET", "/parcels/"+parcelID.String(), "")
	if e := log.last(t); e.Subject != uuid.Nil {
		t.Errorf("a request that reads is about %s", e.Subject)
	}

	log.without = true
	f.do("POST", "/parcels", body)
	if e := log.last(t); e.Request.Body != "" || e.Response.Body != "" || e.Request.Size == 0 || e.Response.Size == 0 {
		t.Errorf("without bodies: %+v", e)
	}
}

func TestRequestLog_ErrorsRepeatNoMaskedValue(t *testing.T) {
	t.Parallel()
	// The message of an error, also in the body, has *** in place of values of the request that are masked; the rest helps to
	// correct it. Of an upload, whose values are not known, no message is kept.
	f, log := newLoggedFixture(t)
	f.handler = func(_ context.Context, _ Call, in *sendParcel) (parcel, error) {
		return parcel{}, &fault.Error{Code: fault.QuoteExpired, Message: "The parcel " + strings.ToUpper(in.Body.Note) + " via " + in.Via +
			" is late.", Details: map[string]any{"note": in.Body.Note, "weight": 5}}
	}
	f.do("POST", "/parcels?via=Lisbon", `{"to":"`+receiverID.String()+`","weight":5,"note":"Ana"}`)
	e := log.last(t)
	if e.Code != "QUOTE_EXPIRED" || e.Message != "The parcel *** via *** is late." ||
		!strings.Contains(e.Response.Body, `"message":"The parcel *** via *** is late."`) || !strings.Contains(e.Response.Body, `"note":"***"`) ||
		strings.Contains(e.Response.Body, "Ana") || strings.Contains(e.Response.Body, "Lisbon") {
		t.Errorf("%+v", e)
	}

	f.do("POST", "/parcels", `{"to":"Ana Lima","weight":0,"wieght":1}`)
	e = log.last(t)
	if e.Status != 400 || e.Code != "INVALID_INPUT" || !strings.Contains(e.Response.Body, `{"field":"weight",`) ||
		!strings.Contains(e.Response.Body, `did you mean weight?`) || strings.Contains(e.Message+e.Response.Body+e.Request.Body, "Ana") {
		t.Errorf("%+v", e)
	}

	f.do("POST", "/parcels", `{"to":"Ana`)
	if e := log.last(t); e.Request.Body != "" || e.Request.Size != 10 || !strings.Contains(e.Message, "line 1, column 11") {
		t.Errorf("not JSON: %+v", e)
	}

	f.do("POST", "/photos", "Ana", withHeader("Content-Type", "image/png"))
	if e := log.last(t); e.Message != "***" || strings.Contains(e.Response.Body, "Ana") || e.Request.Body != "" ||
		e.Request.Type != "image/png" || e.Request.Size != 3 {
		t.Errorf("upload: %+v", e)
	}
}

func TestRequestLog_PathsAndQueries(t *testing.T) {
	t.Parallel()
	// Ids, numbers, times and words of the API are shown in paths and queries; everything else is masked.
	f, log := newLoggedFixture(t)
	for target, want := range map[string]string{
		"/parcels/" + parcelID.String(): "/parcels/" + parcelID.String() + "?",
		"/parcels/Ana":                  "/parcels/***?",
		"/parcels/Ana%20Lima/":          "/parcels/***/?",
		"/parcels?limit=3&since=2026-01-01T00:00:00Z&color=RED&color=Ana": "/parcels?limit=3&since=2026-01-01T00:00:00Z&color=RED&color=***",
		"/parcels?limit=Ana&to=" + receiverID.String() + "&secret=Ana":    "/parcels?limit=***&to=" + receiverID.String() + "&***=***",
		"/parcels?Ana": "/parcels?***",
		"/parcel":      "/parcel?",
		"/customers/+351912345678/" + receiverID.String(): "/***/***/" + receiverID.String() + "?",
	} {
		f.do("GET", target, "")
		e := log.last(t)
		if got := strings.TrimPrefix(e.Path, BasePath) + "?" + e.Query; got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
		if strings.Contains(e.Message+e.Response.Body, "Ana") {
			t.Errorf("%s: %s", target, e.Response.Body)
		}
	}
}

func TestRequestLog_RefusedRequests(t *testing.T) {
	t.Parallel()
	// Requests that are refused before or at their authentication are logged if their token is known: for an unknown path, a wrong
	// method, a wrong secret, a missing permission. Too many wrong secrets do not fill the log.
	f, log := newLoggedFixture(t)
	token := func(client string) ident.Token {
		return f.config.Authenticator.(*fakeAuthenticator).tokens[client].Token
	}
	wrong := func(r *http.Request) { r.SetBasicAuth("viewer", "wrong") }
	for name, c := range map[string]struct {
		method, path string
		option       requestOption
		client       string
		status       int
	}{
		"unknown path":       {"GET", "/nothing", asClient("viewer"), "viewer", 404},
		"wrong method":       {"PUT", "/parcels", asClient("viewer"), "viewer", 405},
		"wrong secret":       {"GET", "/parcels", wrong, "viewer", 401},
		"wrong secret, path": {"GET", "/nothing", wrong, "viewer", 404},
		"permission":         {"POST", "/parcels", asClient("viewer"), "viewer", 403},
		"production":         {"POST", "/sandbox/parcels/" + parcelID.String() + "/lose", asClient("production"), "production", 403},
	} {
		f.do(c.method, c.path, "", c.option)
		if e := log.last(t); e.Status != c.status || e.Token != token(c.client) || e.Platform != platformID {
			t.Errorf("%s: %+v", name, e)
		}
	}

	for range 100 {
		f.do("GET", "/parcels", "", wrong)
	}
	if len(log.entries) == 0 || len(log.entries) > 20 {
		t.Errorf("%d of 100 wrong secrets are logged", len(log.entries))
	}
}

func TestRequestLog_NotLogged(t *testing.T) {
	t.Parallel()
	// Pages, health checks, public operations, the log itself and requests of nobody who is known are not logged.
	f, log := newLoggedFixture(t)
	f.do("GET", "/log", "")
	f.do("GET", "/news", "")
	f.do("GET", "/docs", "")
	f.do("GET", "/parcels", "", func(r *http.Request) { r.SetBasicAuth("unknown", secret) })
	f.do("GET", "/nothing", "", func(r *http.Request) { r.Header.Del("Authorization") })
	f.do("GET", "/nothing", "", func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") })
	f.do("GET", "/parcels", "", func(r *http.Request) { r.Header.Del("Authorization") })
	f.request("GET", "/healthz", "")
	if len(log.entries) > 0 {
		t.Errorf("%+v", log.entries)
	}
}

func TestRequestLog_NothingWithoutALog(t *testing.T) {
	t.Parallel()
	// Without a log, requests are answered as before, also those whose token would have to be looked up.
	f := newFixture(t)
	if r := f.do("GET", "/nothing", ""); r.status != 404 {
		t.Errorf("%+v", r)
	}
}
