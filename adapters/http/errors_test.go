package httpapi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/sirupsen/logrus"

	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/ports"
)

func TestValidation_ListsAllInvalidFields(t *testing.T) {
	t.Parallel()
	// All invalid fields are listed by dotted path with what they must be, and no value is
	// echoed.
	const (
		required = "is required"
		integer  = "must be an integer, without quotes, decimal point or exponent"
	)
	for name, c := range map[string]struct {
		method, path, body string
		want               map[string]string
	}{
		"missing fields": {"POST", "/parcels", `{}`, map[string]string{"to": required, "weight": required}},
		"null fields":    {"POST", "/parcels", `{"to":null,"weight":null}`, map[string]string{"to": "must be a string", "weight": integer}},
		"missing and of the wrong type": {"POST", "/parcels", `{"weight":"100","note":5,"label":{"lines":"x"}}`,
			map[string]string{"to": required, "weight": integer, "note": "must be a string", "label.color": "is required; one of RED, GREEN",
				"label.lines": "must be a list"}},
		"no id": {"POST", "/parcels", `{"to":"Customer:1","weight":1}`, map[string]string{"to": "must be an id of the form " +
			"Customer:<uuid>, not Customer:1"}},
		"an id without its type": {"POST", "/parcels", `{"to":"0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6c","weight":1}`,
			map[string]string{"to": "must be an id of the form Customer:<uuid>, not 0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6c"}},
		"a secret as an id": {"POST", "/parcels", `{"to":"5f0e6a7c8d9b4a3c2d1e0f9a8b7c6d5e4f3a","weight":1}`,
			map[string]string{"to": "must be an id of the form Customer:<uuid>, not a text of 36 characters"}},
		"a secret after a type": {"POST", "/parcels", `{"to":"Bearer:agt_5f0e6a7c8d9b4a3c2d1e0f9a","weight":1}`,
			map[string]string{"to": "must be an id of the form Customer:<uuid>, not a text of 35 characters"}},
		"no text as an id": {"POST", "/parcels", `{"to":"","weight":1}`,
			map[string]string{"to": "must be an id of the form Customer:<uuid>, and is empty"}},
		"another type's id": {"POST", "/parcels", `{"to":"Quote:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6c","weight":1}`,
			map[string]string{"to": "must be an id of the form Customer:<uuid>, not Quote:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6c"}},
		"zero amount": {"POST", "/parcels", strings.Replace(validParcel, "700", "0", 1),
			map[string]string{"weight": "must be 1 or more"}},
		"negative amount": {"POST", "/parcels", strings.Replace(validParcel, "700", "-1", 1),
			map[string]string{"weight": "must be 1 or more"}},
		"amount too large": {"POST", "/parcels", strings.Replace(validParcel, "700", "9000000000000001", 1),
			map[string]string{"weight": "must be 9000000000000000 or less"}},
		"amount far too large": {"POST", "/parcels", strings.Replace(validParcel, "700", "99999999999999999999999", 1),
			map[string]string{"weight": "must be 9000000000000000 or less"}},
		"fraction":      {"POST", "/parcels", strings.Replace(validParcel, "700", "1.5", 1), map[string]string{"weight": integer}},
		"point":         {"POST", "/parcels", strings.Replace(validParcel, "700", "100.0", 1), map[string]string{"weight": integer}},
		"exponent":      {"POST", "/parcels", strings.Replace(validParcel, "700", "1e3", 1), map[string]string{"weight": integer}},
		"quoted amount": {"POST", "/parcels", strings.Replace(validParcel, "700", `"700"`, 1), map[string]string{"weight": integer}},
		"lower-case currency": {"POST", "/parcels", `{"to":"Customer:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6c","weight":1,"currency":"usd"}`,
			map[string]string{"currency": "must be a currency code in upper case, such as USD or BTC"}},
		"inside of objects and lists": {"POST", "/parcels",
			`{"to":"Customer:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6c","weight":1,"label":{"color":"BLUE","lines":["a",2,"c","d"]}}`,
			map[string]string{"label.color": "must be one of RED, GREEN", "label.lines": "must have at most 3 items",
				"label.lines[1]": "must be a string"}},
		"too long": {"POST", "/parcels", `{"to":"Customer:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6c","weight":1,"note":"` +
			strings.Repeat("ä", 21) + `"}`,
			map[string]string{"note": "must have at most 20 characters"}},
		"no moment, and what comes after it": {"POST", "/parcels", `{"to":"x","weight":1,"ready":"soon","way":{"kind":"SEA"}}`,
			map[string]string{"to": "must be an id of the form Customer:<uuid>, not x", "ready": "must be an RFC 3339 timestamp, such as " +
				"2025-10-13T09:30:00Z", "way.ship": required}},
		"a parameter in the path": {"GET", "/parcels/1", "", map[string]string{"parcelId": "must be an id of the form Quote:<uuid>, not 1"}},
		"parameters in the query": {"GET", "/parcels?limit=0&sortOrder=up&to=1&since=now&cursor=!", "", map[string]string{
			"limit": "must be 1 or more", "sortOrder": "must be one of asc, desc", "to": "must be an id of the form Customer:<uuid>, not 1",
			"since": "must be an RFC 3339 timestamp, such as 2025-10-13T09:30:00Z", "cursor": errCursor.Error()}},
		"limit too high":     {"GET", "/parcels?limit=101", "", map[string]string{"limit": "must be 100 or less"}},
		"limit is no number": {"GET", "/parcels?limit=many", "", map[string]string{"limit": integer}},
		"another list's cursor": {"GET", "/parcels?cursor=" + Cursor{ID: "Customer:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6c"}.String(), "",
			map[string]string{"cursor": errCursor.Error()}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)

			got := f.do(c.method, c.path, c.body)

			if got.status != 400 || got.error.Code != "INVALID_INPUT" || !maps.Equal(got.fields, c.want) {
				t.Errorf("got %s\nwant fields %v", got.body, c.want)
			}
			for _, field := range slices.Collect(maps.Keys(c.want)) {
				if !strings.Contains(got.error.Message, field) {
					t.Errorf("the message %q does not name %s", got.error.Message, field)
				}
			}
		})
	}
}

func TestValidation_ReportsConstraint(t *testing.T) {
	t.Parallel()
	// The constraint contains the violated rule and its value as JSON.
	f := newFixture(t)

	got := f.do("POST", "/parcels", `{"to":"Customer:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6c","weight":9000000000000001,"note":"`+
		strings.Repeat("x", 21)+`","label":{"color":"BLUE","lines":[]}}`)

	for _, want := range []string{`"constraint":{"maximum":9000000000000000}`, `"constraint":{"maxLength":20}`,
		`"constraint":{"enum":["RED","GREEN"]}`} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %s in %s", want, got.body)
		}
	}
}

func TestServeHTTP_InvalidRequestReturnsError(t *testing.T) {
	t.Parallel()
	// Unreadable requests, unknown paths and unsupported methods return the right status
	// and a helpful message.
	for name, c := range map[string]struct {
		method, path, body string
		options            []requestOption
		status             int
		code, says         string
	}{
		"malformed JSON": {"POST", "/parcels", "{\n  \"to\": }", nil, 400, "INVALID_INPUT", "line 2, column 9: a value is expected"},
		"cut off JSON": {"POST", "/parcels", `{"to":"Cus`, nil, 400, "INVALID_INPUT",
			"line 1, column 11: unexpected end of the body in a string"},
		"two values":         {"POST", "/parcels", validParcel + validParcel, nil, 400, "INVALID_INPUT", "unexpected data after the value"},
		"a field twice":      {"POST", "/parcels", `{"weight":1,"Weight":-5}`, nil, 400, "INVALID_INPUT", `the field "Weight" is duplicated`},
		"the zero character": {"POST", "/parcels", `{"note":"a\u0000b"}`, nil, 400, "INVALID_INPUT", "the NUL character is not allowed"},
		"broken UTF-8":       {"POST", "/parcels", "{\"note\":\"\xff\"}", nil, 400, "INVALID_INPUT", "the string is not valid UTF-8"},
		"endless nesting":    {"POST", "/parcels", strings.Repeat("[", 100_000), nil, 400, "INVALID_INPUT", "nesting is too deep"},
		"no object":          {"POST", "/parcels", `[]`, nil, 400, "INVALID_INPUT", "The body must be a JSON object."},
		"no body":            {"POST", "/parcels", "", nil, 400, "INVALID_INPUT", "requires a body"},
		"the nil UUID": {"POST", "/parcels", `{"to":"Customer:00000000-0000-0000-0000-000000000000","weight":1}`, nil, 400,
			"INVALID_INPUT", "Customer:<uuid>"},
		"another content type": {"POST", "/parcels", validParcel,
			[]requestOption{withHeader("Content-Type", "application/x-www-form-urlencoded")}, 415, "UNSUPPORTED_MEDIA_TYPE", "application/json"},
		"unknown path":          {"GET", "/parcel", "", nil, 404, "NOT_FOUND", BasePath + "/docs"},
		"zero in the path":      {"GET", "/parcels/%00", "", nil, 400, "INVALID_INPUT", "invalid text"},
		"zero in the query":     {"GET", "/parcels?since=%00", "", nil, 400, "INVALID_INPUT", "invalid text"},
		"no UTF-8 in the query": {"GET", "/parcels?since=%ff", "", nil, 400, "INVALID_INPUT", "invalid text"},
		"broken query":          {"GET", "/parcels?to=%zz", "", nil, 400, "INVALID_INPUT", "invalid text"},
		"wrong method":          {"PATCH", "/parcels", "{}", nil, 405, "METHOD_NOT_ALLOWED", "GET, HEAD, OPTIONS, POST"},
		"no such thing":         {"GET", "/parcels/Quote:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5aff", "", nil, 404, "QUOTE_NOT_FOUND", "no parcel"},
		"too large":             {"POST", "/parcels", `{"note":"` + strings.Repeat("x", 1<<20) + `"}`, nil, 413, "PAYLOAD_TOO_LARGE", "1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)

			got := f.do(c.method, c.path, c.body, c.options...)

			if got.status != c.status || got.error.Code != c.code || !strings.Contains(got.error.Message, c.says) {
				t.Errorf("got %d %s, want %d %s with %q", got.status, got.body, c.status, c.code, c.says)
			}
			if allow := got.header.Get("Allow"); (c.status == 405) != (allow != "") {
				t.Errorf("Allow = %q with status %d", allow, c.status)
			}
		})
	}
}

func TestServeHTTP_AcceptsUnusualButValidRequests(t *testing.T) {
	t.Parallel()
	// Unknown fields, a charset, an escaped id, upper-case hexadecimal, the largest amount
	// and HEAD are accepted.
	f := newFixture(t)
	for name, got := range map[string]reply{
		"unknown fields": f.do("POST", "/parcels", strings.Replace(validParcel, "{", `{"color":{"deep":[1.5,null]},`, 1)),
		"charset":        f.do("POST", "/parcels", validParcel, withHeader("Content-Type", "application/json; charset=utf-8")),
		"no type":        f.do("POST", "/parcels", validParcel, func(r *http.Request) { r.Header.Del("Content-Type") }),
		"upper case":     f.do("POST", "/parcels", strings.Replace(validParcel, "0199e3a4", "0199E3A4", 1)),
		"escaped":        f.do("POST", "/parcels", strings.Replace(validParcel, "Customer:", `Customer\u003a`, 1)),
		"most":           f.do("POST", "/parcels", strings.Replace(validParcel, "700", "9000000000000000", 1)),
		"optional null":  f.do("POST", "/parcels", strings.Replace(validParcel, "{", `{"note":null,"way":null,"label":null,`, 1)),
	} {
		if got.status != http.StatusCreated {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	if got := f.do("POST", "/parcels", strings.Replace(validParcel, "700", "9000000000000000", 1)); !strings.Contains(got.body,
		`"weight":9000000000000000`) {
		t.Errorf("the largest amount is %s", got.body)
	}
	if got := f.do("HEAD", "/parcels/Quote%3A0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b", ""); got.status != 200 {
		t.Errorf("HEAD: %d", got.status)
	}
	if got := f.do("OPTIONS", "/parcels", ""); got.status != 204 || got.header.Get("Allow") != "GET, HEAD, OPTIONS, POST" {
		t.Errorf("OPTIONS: %d %v", got.status, got.header)
	}
	if got := f.do("DELETE", "/parcels/"+parcelID.String(), ""); got.status != 204 || got.body != "" {
		t.Errorf("DELETE: %d %q", got.status, got.body)
	}
}

func TestError_RendersAllFaultFields(t *testing.T) {
	t.Parallel()
	// The fault of a use case is returned with status, code, reason in both places,
	// details, fields and Retry-After.
	f := newFixture(t)
	f.handler = func(context.Context, Call, *sendParcel) (parcel, error) {
		return parcel{}, fmt.Errorf("send: %w", &fault.Error{
			Code: fault.QuoteExpired, Message: "Too late.", Reason: "Expired", RetryAfter: 1500 * time.Millisecond,
			Details: map[string]any{"expiredAt": "2025-10-13T09:30:00Z"},
			Fields:  []fault.Field{{Field: "to", Message: "moved away"}},
		})
	}

	got := f.do("POST", "/parcels", validParcel)

	want := `{"status":409,"code":"QUOTE_EXPIRED","message":"Too late.","reason":"Expired","details":{"errors":[{"field":"to","message":"moved away"}],"expiredAt":"2025-10-13T09:30:00Z","reason":"Expired"}}`
	if got.status != 409 || got.body != want || got.header.Get("Retry-After") != "2" {
		t.Errorf("got %d %v %s\nwant %s", got.status, got.header, got.body, want)
	}
}

func TestError_InternalDetailsAreLoggedOnly(t *testing.T) {
	t.Parallel()
	// An internal error, a panic and a timeout are logged with the request id; the
	// response contains none of their text.
	for name, c := range map[string]struct {
		err    error
		status int
	}{
		"error":    {errors.New("connection refused: postgres://user:hunter2@db"), 500},
		"time-out": {fmt.Errorf("query hunter2: %w", context.DeadlineExceeded), 503},
		"declared": {fault.New(fault.InternalError, "we know"), 500},
		"panic":    {nil, 500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.handler = func(context.Context, Call, *sendParcel) (parcel, error) {
				if c.err == nil {
					panic("index out of hunter2")
				}
				return parcel{}, c.err
			}

			got := f.do("POST", "/parcels", validParcel)

			if got.status != c.status || strings.Contains(got.body, "hunter2") {
				t.Errorf("got %d %s", got.status, got.body)
			}
			entry := f.logs.LastEntry()
			if entry == nil || entry.Level.String() != "error" || entry.Data["error"] == nil ||
				entry.Data["request_id"] != got.header.Get("Request-Id") {
				t.Fatalf("logged %+v", entry)
			}
			if stack, _ := entry.Data["stack"].(string); (c.err == nil) != strings.Contains(stack, "errors_test.go") {
				t.Errorf("stack = %q", stack)
			}
		})
	}
}

func TestRequestTimeout_CancelsOperation(t *testing.T) {
	t.Parallel()
	// An operation that takes too long has its context canceled, and its caller gets a
	// response in time.
	f := newFixture(t, func(c *Config) { c.RequestTimeout = time.Millisecond })
	f.handler = func(ctx context.Context, _ Call, _ *sendParcel) (parcel, error) {
		<-ctx.Done()
		return parcel{}, ctx.Err()
	}

	got := f.do("POST", "/parcels", validParcel)

	if got.status != 503 || got.error.Code != "SERVICE_UNAVAILABLE" || got.header.Get("Retry-After") != "1" {
		t.Errorf("got %d %v %s", got.status, got.header, got.body)
	}
}

func TestReadTimeout_SaysWhatToNarrow(t *testing.T) {
	t.Parallel()
	// A list that reads more than it may is not an internal error: its caller learns what to do.
	f := newFixture(t)
	f.handler = func(context.Context, Call, *sendParcel) (parcel, error) {
		return parcel{}, fmt.Errorf("list parcels: %w", ports.ErrReadTimeout)
	}

	got := f.do("POST", "/parcels", validParcel)

	if got.status != 503 || got.header.Get("Retry-After") != "30" || !strings.Contains(got.error.Message, "Narrow it with its parameters") {
		t.Errorf("got %d %v %s", got.status, got.header, got.body)
	}
}

func TestRules_EveryRuleHasMessage(t *testing.T) {
	t.Parallel()
	// Every finding of the validator becomes a readable message without its encoding.
	for name, r := range rules {
		finding := separator + name + strings.Repeat(separator+"7", 2)

		_, text, _ := explain(finding)

		if text == "" || strings.Contains(text, separator) || strings.Contains(text, "%") {
			t.Errorf("%s (%q) becomes %q", name, r.text, text)
		}
	}
	if _, text, _ := explain("some new finding"); text != "some new finding" {
		t.Errorf("a finding that is not ours becomes %q", text)
	}
	if _, text, _ := explain(separator + "unheard of"); text != "is not valid" {
		t.Errorf("a mark that is not ours becomes %q", text)
	}
}

// bundle is a body that is also validated by core.
type bundle struct {
	Color string `json:"color" enum:"RED,GREEN"`
	Size  int    `json:"size"`
}

func (b *bundle) Resolve(huma.Context) []error {
	return FieldErrors(fault.Invalid(
		fault.Field{Field: "color", Message: "is out of fashion"},
		fault.Field{Field: "contents[0].name", Message: "is taken", Constraint: map[string]any{"maxLength": 3}},
	))
}

func TestValidation_IncludesResolverErrors(t *testing.T) {
	t.Parallel()
	// Invalid fields found by core are listed with those of the schema; a field that both
	// found has the message of the schema. An internal error adds none.
	f := newUnbuiltFixture(t)
	Post(f.API, Operation{ID: "bundle", Path: "/bundles", Summary: "Bundle", Tag: "Parcels", Permission: platform.Manage},
		func(context.Context, Call, *struct{ Body bundle }) (int, error) { return 0, nil }, func(int) NoBody { return NoBody{} })
	if err := f.Build(); err != nil {
		t.Fatal(err)
	}

	got := f.do("POST", "/bundles", `{"color":"BLUE"}`)

	want := map[string]string{"color": "must be one of RED, GREEN", "size": "is required", "contents[0].name": "is taken"}
	if got.status != 400 || !maps.Equal(got.fields, want) || !strings.Contains(got.body, `{"maxLength":3}`) {
		t.Errorf("got %s, want %v", got.body, want)
	}
	if got := f.do("POST", "/bundles", `[]`); got.status != 400 || !strings.Contains(got.body, `"The body must be a JSON object."`) {
		t.Errorf("no object: %s", got.body)
	}
	if found := FieldErrors(errors.New("broken")); found != nil {
		t.Errorf("found %v", found)
	}
}

func TestFieldErrors_MergedWithSchemaErrors(t *testing.T) {
	t.Parallel()
	// Errors found by core are added to those of the schema, with their constraints, except
	// for fields in which the schema already found an error.
	schema := []error{&huma.ErrorDetail{Location: "body.address", Message: "must be an object"}, &huma.ErrorDetail{Location: "body.email",
		Message: "must be a string"}}
	core := FieldErrors(fault.Invalid(
		fault.Field{Field: "email", Message: "is required"}, fault.Field{Field: "address.city", Message: "is required"},
		fault.Field{Field: "address[0]", Message: "is odd"}, fault.Field{Field: "addressee", Message: "is required",
			Constraint: map[string]any{"minLength": 1}},
	))

	refused := validationFault(422, "validation failed", append(schema, core...))

	var fields []string
	for _, f := range refused.Fields {
		fields = append(fields, f.Field)
	}
	if want := []string{"address", "email", "addressee"}; !slices.Equal(fields, want) {
		t.Errorf("fields %q, want %q", fields, want)
	}
	if last := refused.Fields[len(refused.Fields)-1]; last.Constraint["minLength"] != 1 {
		t.Errorf("constraint %v", last.Constraint)
	}

	// No error, no invalid fields.
	if found := FieldErrors(nil); found != nil {
		t.Errorf("found %v", found)
	}
}

func TestRespond_OutageIsWorthRepeating(t *testing.T) {
	t.Parallel()
	// An error of the database's connection gets 503 with Retry-After and its cause is only logged,
	// also if it is the cause of a fault. Another error gets 500.
	down := errors.New("connection to db.internal refused")
	f := newFixture(t, func(c *Config) { c.IsOutage = func(err error) bool { return errors.Is(err, down) } })
	var failure error
	f.handler = func(context.Context, Call, *sendParcel) (parcel, error) { return parcel{}, failure }
	for name, c := range map[string]struct {
		err    error
		status int
	}{
		"outage":             {fmt.Errorf("read: %w", down), 503},
		"fault with a cause": {fmt.Errorf("%w (%w)", fault.New(fault.ServiceUnavailable, "Try again."), down), 503},
		"mistake":            {errors.New("db.internal: mistake"), 500},
	} {
		failure = c.err
		f.logs.Reset()
		got := f.do("POST", "/parcels", validParcel)
		if got.status != c.status || strings.Contains(got.body, "db.internal") || (got.header.Get("Retry-After") != "") != (c.status == 503) {
			t.Errorf("%s: %d %s %v", name, got.status, got.body, got.header)
		}
		if !slices.ContainsFunc(f.logs.AllEntries(), func(e *logrus.Entry) bool {
			logged, _ := e.Data["error"].(error)
			return logged != nil && logged.Error() == c.err.Error()
		}) {
			t.Errorf("%s: the cause is not logged", name)
		}
	}
}
