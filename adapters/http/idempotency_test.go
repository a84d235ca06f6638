package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/ports"
)

// countRuns makes the operation of the fixture count its runs.
func (f *fixture) countRuns() *atomic.Int64 {
	var runs atomic.Int64
	ran := f.handler
	f.handler = func(ctx context.Context, call Call, in *sendParcel) (parcel, error) {
		runs.Add(1)
		return ran(ctx, call, in)
	}
	return &runs
}

func TestIdempotency_RepeatReturnsSameResponse(t *testing.T) {
	t.Parallel()
	// The same request with the same key runs once; the repeated request gets the same
	// bytes, marked as replayed.
	f := newFixture(t)
	runs := f.countRuns()

	first := f.do("POST", "/parcels", validParcel, withKey("k1"))
	again := f.do("POST", "/parcels", validParcel, withKey("k1"))

	if first.status != 201 || again.status != 201 || first.body != again.body || runs.Load() != 1 {
		t.Errorf("first %d %s, again %d %s, %d runs", first.status, first.body, again.status, again.body, runs.Load())
	}
	if first.header.Get("Idempotent-Replayed") != "" || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("Idempotent-Replayed: first %q, again %q", first.header.Get("Idempotent-Replayed"), again.header.Get("Idempotent-Replayed"))
	}

	// Another key, or no key, is another request.
	f.do("POST", "/parcels", validParcel, withKey("k2"))
	f.do("POST", "/parcels", validParcel)
	if runs.Load() != 3 {
		t.Errorf("%d runs, want 3", runs.Load())
	}
}

func TestIdempotency_KeyBelongsToPlatform(t *testing.T) {
	t.Parallel()
	// A request that is repeated with another token of the platform gets the first response.
	// A token without the permission gets nothing, and a key of another platform is another key.
	f := newFixture(t)
	runs := f.countRuns()
	first := f.do("POST", "/parcels", validParcel, withKey("k"))

	rotated := f.do("POST", "/parcels", validParcel, withKey("k"), asClient("rotated"))
	viewer := f.do("POST", "/parcels", validParcel, withKey("k"), asClient("viewer"))
	foreign := f.do("POST", "/parcels", validParcel, withKey("k"), asClient("foreign"))

	if rotated.status != 201 || rotated.body != first.body || rotated.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("another token: %d %s", rotated.status, rotated.body)
	}
	if viewer.status != 403 || viewer.header.Get("Idempotent-Replayed") != "" {
		t.Errorf("a token without the permission: %d %s", viewer.status, viewer.body)
	}
	if foreign.status != 201 || foreign.header.Get("Idempotent-Replayed") != "" || runs.Load() != 2 {
		t.Errorf("another platform: %d %s, %d runs", foreign.status, foreign.body, runs.Load())
	}
}

func TestIdempotency_KeyReusedForOtherRequestIsRejected(t *testing.T) {
	t.Parallel()
	// The key of a request is refused for any other method, path, query or body, and
	// nothing runs.
	f := newFixture(t)
	runs := f.countRuns()
	f.do("POST", "/parcels", validParcel, withKey("k"))

	for name, got := range map[string]reply{
		"another body":  f.do("POST", "/parcels", strings.Replace(validParcel, "700", "701", 1), withKey("k")),
		"another space": f.do("POST", "/parcels", " "+validParcel, withKey("k")),
		"another query": f.do("POST", "/parcels?x=1", validParcel, withKey("k")),
		"another path":  f.do("POST", "/sandbox/parcels/"+parcelID.String()+"/lose", validParcel, withKey("k")),
	} {
		if got.status != 422 || got.error.Code != "IDEMPOTENCY_KEY_REUSED" {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	if runs.Load() != 1 {
		t.Errorf("%d runs", runs.Load())
	}
	if again := f.do("POST", "/parcels", validParcel, withKey("k")); again.status != 201 || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the first request again: %d %s", again.status, again.body)
	}
}

func TestIdempotency_ConcurrentRepeatIsRejectedUntilFirstCompletes(t *testing.T) {
	t.Parallel()
	// While the first request runs, the same request gets an error that says to retry, and another request
	// with the key is refused; afterwards the same request gets the response.
	f := newFixture(t)
	entered, proceed := make(chan struct{}), make(chan struct{})
	ran := f.handler
	f.handler = func(ctx context.Context, call Call, in *sendParcel) (parcel, error) {
		close(entered) // a second run would panic here
		<-proceed
		return ran(ctx, call, in)
	}
	first := make(chan reply)
	go func() { first <- f.do("POST", "/parcels", validParcel, withKey("k")) }()
	<-entered

	same := f.do("POST", "/parcels", validParcel, withKey("k"))
	other := f.do("POST", "/parcels", strings.Replace(validParcel, "700", "1", 1), withKey("k"))
	close(proceed)

	if same.status != 409 || same.error.Code != "IDEMPOTENCY_KEY_IN_USE" || same.header.Get("Retry-After") != "1" {
		t.Errorf("the same meanwhile: %d %s", same.status, same.body)
	}
	if other.status != 422 || other.error.Code != "IDEMPOTENCY_KEY_REUSED" {
		t.Errorf("another one meanwhile: %d %s", other.status, other.body)
	}
	got, later := <-first, f.do("POST", "/parcels", validParcel, withKey("k"))
	if got.status != 201 || later.status != 201 || later.body != got.body {
		t.Errorf("first %d %s, later %d %s", got.status, got.body, later.status, later.body)
	}
}

func TestIdempotency_ManyConcurrentRepeatsRunOnce(t *testing.T) {
	t.Parallel()
	// Many concurrent requests with one key run once; the others get an error that says to retry, or
	// the response.
	f := newFixture(t)
	runs := f.countRuns()
	var all sync.WaitGroup
	var refused atomic.Int64
	for range 50 {
		all.Go(func() {
			switch got := f.do("POST", "/parcels", validParcel, withKey("k")); got.status {
			case 201:
			case 409:
				refused.Add(1)
			default:
				t.Errorf("%d %s", got.status, got.body)
			}
		})
	}
	all.Wait()
	if runs.Load() != 1 || refused.Load() == 50 {
		t.Errorf("%d runs, %d of 50 refused", runs.Load(), refused.Load())
	}
}

func TestIdempotency_SavesFinalResponsesOnly(t *testing.T) {
	t.Parallel()
	// Final responses are saved, including errors; responses that depend on time,
	// credentials or the state of the service are not.
	refuse := func(err error) func(f *fixture) {
		return func(f *fixture) {
			f.handler = func(context.Context, Call, *sendParcel) (parcel, error) { return parcel{}, err }
		}
	}
	for name, c := range map[string]struct {
		prepare func(f *fixture)
		body    string
		options []requestOption
		status  int
		saved   bool
	}{
		"success":              {nil, validParcel, nil, 201, true},
		"invalid":              {nil, `{}`, nil, 400, true},
		"malformed":            {nil, `{`, nil, 400, true},
		"not found":            {refuse(fault.New(fault.UserNotFound, "no")), validParcel, nil, 404, true},
		"conflict":             {refuse(fault.New(fault.Conflict, "no")), validParcel, nil, 409, true},
		"not allowed by rules": {refuse(fault.New(fault.UserNotReady, "no")), validParcel, nil, 403, true},
		"key in use elsewhere": {refuse(fault.New(fault.IdempotencyKeyInUse, "no")), validParcel, nil, 409, false},
		"key used elsewhere":   {refuse(fault.New(fault.IdempotencyKeyReused, "no")), validParcel, nil, 422, false},
		"wrong signature":      {refuse(fault.New(fault.Unauthorized, "no")), validParcel, nil, 401, false},
		"too often":            {refuse(fault.New(fault.RateLimited, "no")), validParcel, nil, 429, false},
		"our error":            {refuse(errors.New("broken")), validParcel, nil, 500, false},
		"not available":        {refuse(fault.New(fault.ServiceUnavailable, "no")), validParcel, nil, 503, false},
		"panic":                {func(f *fixture) { f.handler = nil }, validParcel, nil, 500, false},
		"wrong content type":   {nil, validParcel, []requestOption{withHeader("Content-Type", "text/plain")}, 415, false},
		"wrong password":       {nil, validParcel, []requestOption{func(r *http.Request) { r.SetBasicAuth(clientID, "x") }}, 401, false},
		"no permission":        {nil, validParcel, []requestOption{asClient("viewer")}, 403, false},
		"too large":            {nil, strings.Repeat(" ", 1<<20+1), nil, 413, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			if c.prepare != nil {
				c.prepare(f)
			}

			got := f.do("POST", "/parcels", c.body, append(c.options, withKey("k"))...)

			stored, saved := f.store.byKey("k")
			if got.status != c.status || saved != c.saved {
				t.Fatalf("%d %s, saved %v; want %d, saved %v", got.status, got.body, saved, c.status, c.saved)
			}
			if saved && (stored.Status != got.status || string(stored.Body) != got.body) {
				t.Errorf("response %d %s, saved %d %s", got.status, got.body, stored.Status, stored.Body)
			}
			// Whatever the response, the key is available again for the same request.
			if again := f.do("POST", "/parcels", c.body, append(c.options, withKey("k"))...); again.status != c.status {
				t.Errorf("again: %d %s", again.status, again.body)
			}
		})
	}
}

func TestIdempotency_UseCaseSavesExactResponse(t *testing.T) {
	t.Parallel()
	// The response that a use case renders for its commit is exactly what the caller gets,
	// for results and errors, and is not saved again.
	for name, outcome := range map[string]error{"result": nil, "refusal": fault.New(fault.QuoteExpired, "Too late.")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			var status int
			var body []byte
			f.handler = func(_ context.Context, call Call, in *sendParcel) (parcel, error) {
				result := parcel{ID: parcelID, To: in.Body.To.Value, Weight: 1}
				call.IdempotentRequest.Render(parcel{Weight: 99}, nil) // an attempt that was rolled back
				status, body = call.IdempotentRequest.Render(result, outcome)
				return result, outcome
			}

			got := f.do("POST", "/parcels", validParcel, withKey("k"))

			if got.status != status || got.body != string(body) {
				t.Errorf("sent %d %s, saved %d %s", got.status, got.body, status, body)
			}
			if _, besides := f.store.byKey("k"); besides {
				t.Error("the response was saved twice")
			}
		})
	}
}

func TestIdempotentRequest_PassedToUseCase(t *testing.T) {
	t.Parallel()
	// A use case gets the key, its owner and the fingerprint; without a key it gets nil.
	f := newFixture(t)
	var claims []*ports.IdempotentRequest
	ran := f.handler
	f.handler = func(ctx context.Context, call Call, in *sendParcel) (parcel, error) {
		claims = append(claims, call.IdempotentRequest)
		return ran(ctx, call, in)
	}

	f.do("POST", "/parcels", validParcel, withKey("k"))
	f.do("POST", "/parcels", validParcel)

	c := claims[0]
	if c == nil || c.Key != "k" || c.Platform != platformID || c.Token.IsZero() || c.Fingerprint == [32]byte{} || claims[1] != nil {
		t.Errorf("claims %+v and %+v", c, claims[1])
	}
}

func TestIdempotency_ReplayDetectedAtCommit(t *testing.T) {
	t.Parallel()
	// If another process was faster, its response is returned as a replay and not saved
	// again.
	f := newFixture(t)
	f.handler = func(context.Context, Call, *sendParcel) (parcel, error) {
		return parcel{}, fmt.Errorf("commit: %w", &ports.Replay{Status: 201, Body: []byte(`{"by":"another"}`)})
	}

	got := f.do("POST", "/parcels", validParcel, withKey("k"))

	if got.status != 201 || got.body != `{"by":"another"}` || got.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("got %d %v %s", got.status, got.header, got.body)
	}
	if _, besides := f.store.byKey("k"); besides {
		t.Error("the response was saved again")
	}
}

func TestRenderResponse_FailureBecomesInternalError(t *testing.T) {
	t.Parallel()
	// A result of the wrong type, or a panic while rendering, becomes a saved internal
	// error and does not crash the goroutine of the use case.
	f := newFixture(t)
	var status int
	f.handler = func(_ context.Context, call Call, _ *sendParcel) (parcel, error) {
		status, _ = call.IdempotentRequest.Render("no parcel", nil)
		return parcel{}, errors.New("rolled back")
	}

	if got := f.do("POST", "/parcels", validParcel, withKey("k")); got.status != 500 || status != 500 {
		t.Errorf("sent %d, rendered %d", got.status, status)
	}

	f = newUnbuiltFixture(t)
	Post(f.API, Operation{ID: "breakParcel", Path: "/break", Summary: "Break", Tag: "Parcels", Permission: platform.Transact},
		func(_ context.Context, call Call, _ *struct{}) (int, error) {
			status, _ = call.IdempotentRequest.Render(1, nil)
			return 0, errors.New("rolled back")
		}, func(int) Page[int] { panic("cannot be shown") })
	if err := f.Build(); err != nil {
		t.Fatal(err)
	}
	if got := f.do("POST", "/break", "", withKey("k")); got.status != 500 || status != 500 {
		t.Errorf("sent %d, rendered %d", got.status, status)
	}
}

func TestIdempotencyKey_InvalidIsRejected(t *testing.T) {
	t.Parallel()
	// A key has 1 to 255 printable characters; any other key is refused before the
	// operation runs.
	f := newFixture(t)
	runs := f.countRuns()
	for _, k := range []string{"", strings.Repeat("x", 256), "tab\there", "ümlaut", "nul\x00"} {
		got := f.do("POST", "/parcels", validParcel, withKey(k))
		if got.status != 400 || got.fields["Idempotency-Key"] == "" {
			t.Errorf("%q: %d %s", k, got.status, got.body)
		}
	}
	twice := func(r *http.Request) { r.Header["Idempotency-Key"] = []string{"a", "b"} }
	if got := f.do("POST", "/parcels", validParcel, twice); got.status != 400 {
		t.Errorf("two keys: %d %s", got.status, got.body)
	}
	if runs.Load() != 0 {
		t.Errorf("%d runs", runs.Load())
	}
	for _, k := range []string{"x", strings.Repeat("x", 255), "a key with spaces, \"quotes\" and ~"} {
		if got := f.do("POST", "/parcels", validParcel, withKey(k)); got.status != 201 {
			t.Errorf("%q: %d %s", k, got.status, got.body)
		}
	}
}

func TestIdempotency_EveryPOSTUsesStore(t *testing.T) {
	t.Parallel()
	// Every registered POST looks up its idempotency key, and no other method does.
	f := newFixture(t)
	posts := 0
	for pattern, item := range f.router.items {
		for method, rt := range item.methods {
			if rt.op == nil {
				continue
			}
			before := f.store.lookups
			f.request(method, strings.ReplaceAll(pattern, "{parcelId}", parcelID.String()), validParcel, withKey("for "+pattern))
			if looked := f.store.lookups > before; looked != (method == http.MethodPost) {
				t.Errorf("%s %s: looked up the key: %v", method, pattern, looked)
			}
			if method == http.MethodPost {
				posts++
			}
		}
	}
	if posts < 2 {
		t.Errorf("only %d POST operations were tried", posts)
	}
}

func TestIdempotency_ErrorCausedBySameRequestElsewhereIsReplayed(t *testing.T) {
	t.Parallel()
	// Another process carries the same request out after this one looked for its response. This one then finds
	// what was changed and fails; its caller gets the response of the other one. An error of a request
	// that was not carried out, or another one that was, is sent as it is.
	f := newFixture(t)
	for name, c := range map[string]struct {
		err  error
		save func(*ports.IdempotentRequest) bool
		want int
	}{
		"final error":     {fault.New(fault.Conflict, "It exists."), func(*ports.IdempotentRequest) bool { return true }, 201},
		"not final error": {fault.New(fault.Unauthorized, "It was used."), func(*ports.IdempotentRequest) bool { return true }, 201},
		"not saved":       {fault.New(fault.Unauthorized, "It is wrong."), func(*ports.IdempotentRequest) bool { return false }, 401},
		"other request": {fault.New(fault.Conflict, "It exists."), func(r *ports.IdempotentRequest) bool {
			r.Fingerprint[0]++
			return true
		}, 409},
	} {
		f.handler = func(ctx context.Context, call Call, _ *sendParcel) (parcel, error) {
			elsewhere := *call.IdempotentRequest
			if c.save(&elsewhere) {
				if err := f.store.Save(ctx, elsewhere, ports.StoredResponse{Fingerprint: elsewhere.Fingerprint, Status: 201,
					Body: []byte(`{"weight":9}`)}); err != nil {
					return parcel{}, err
				}
			}
			return parcel{}, c.err
		}

		got := f.do("POST", "/parcels", validParcel, withKey(name))

		replayed := got.header.Get("Idempotent-Replayed") == "true"
		if got.status != c.want || replayed != (c.want == 201) || replayed &&
			(got.body != `{"weight":9}` || got.header.Get("Www-Authenticate") != "") {
			t.Errorf("%s: %d %v %s", name, got.status, got.header, got.body)
		}
	}
}

func TestIdempotency_StoreFailurePreventsRun(t *testing.T) {
	t.Parallel()
	// If the store fails, the operation does not run.
	f := newFixture(t)
	runs := f.countRuns()
	f.store.getError = func() error { return errors.New("no database") }

	got := f.do("POST", "/parcels", validParcel, withKey("k"))

	if got.status != 500 || runs.Load() != 0 {
		t.Errorf("got %d %s, %d runs", got.status, got.body, runs.Load())
	}
}

func TestIdempotency_ReplaysEmptyResponse(t *testing.T) {
	t.Parallel()
	// A response with another status and an empty response are replayed unchanged.
	f := newUnbuiltFixture(t)
	runs := 0
	Post(f.API, Operation{
		ID: "maybe", Path: "/maybe", Summary: "Maybe", Tag: "Parcels", Permission: platform.Transact, Status: 201,
		Outcomes: []Outcome{{Status: 201, Body: parcelBody{}}, {Status: 202, Body: label{}, Description: "Sign first."}, {Status: 204}},
	}, func(_ context.Context, _ Call, in *struct {
		Status int `query:"status"`
	}) (int, error) {
		runs++
		return in.Status, nil
	}, func(status int) Reply {
		switch status {
		case 201:
			return Reply{201, parcelBody{Weight: 1}}
		case 202:
			return Reply{202, label{Color: "RED"}}
		}
		return Reply{Status: status}
	})
	if err := f.Build(); err != nil {
		t.Fatal(err)
	}
	for _, status := range []int{201, 202, 204} {
		path := fmt.Sprintf("/maybe?status=%d", status)
		first, again := f.do("POST", path, "", withKey(path)), f.do("POST", path, "", withKey(path))
		if first.status != status || again.status != status || first.body != again.body || (status == 204) != (first.body == "") {
			t.Errorf("%d: first %d %q, again %d %q", status, first.status, first.body, again.status, again.body)
		}
	}
	if runs != 3 {
		t.Errorf("%d runs", runs)
	}
}

func TestIdempotency_UseCaseOutlivesTimedOutRequest(t *testing.T) {
	t.Parallel()
	// An operation can time out while its batch still commits: rendering the response then
	// causes no data race, and the timeout is not saved.
	f := newFixture(t, func(c *Config) { c.RequestTimeout = time.Millisecond })
	done := make(chan struct{})
	f.handler = func(ctx context.Context, call Call, _ *sendParcel) (parcel, error) {
		<-ctx.Done()
		go func() {
			defer close(done)
			call.IdempotentRequest.Render(parcel{Weight: 1}, nil)
		}()
		return parcel{}, ctx.Err()
	}

	got := f.do("POST", "/parcels", validParcel, withKey("k"))
	<-done

	if _, saved := f.store.byKey("k"); got.status != 503 || saved {
		t.Errorf("got %d %s, saved %v", got.status, got.body, saved)
	}
}
