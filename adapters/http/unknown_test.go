package httpapi

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"causeway/core/fault"
	"causeway/core/platform"
)

func TestUnknown_FieldsAreIgnoredAndNamed(t *testing.T) {
	t.Parallel()
	// A request with unknown fields succeeds, and the header of its response names them, in
	// nested objects, lists and unions as well. In a union, the fields of other branches are
	// unknown.
	f := newFixture(t)
	const to = `"to": "Customer:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6c", "weight": 700`
	for body, want := range map[string]string{
		`{` + to + `}`: "",
		`{` + to + `, "note": null, "Weight in g": 1}`:                                                                                         "Weight%20in%20g",
		`{` + to + `, "nature": {"a": [1, {"b": 2}]}, "colour": ""}`:                                                                           "nature, colour",
		`{"t\u006f": "Customer:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6c", "WEIGHT": 700}`:                                                          "",
		`{` + to + `, "label": {"color": "RED", "lines": ["a"], "size": "\"}", "font": {"x": 1}}}`:                                             "label.size, label.font",
		`{` + to + `, "way": {"ship": "Ada", "kind": "SEA", "plate": "AB123", "cabin": {"number": "1", "deck": [] } } }`:                       "way.plate, way.cabin.deck",
		`{` + to + `, "way": {"kind": "STREET", "plate": "AB123", "driver": {"kind": "ROBOT", "model": "x", "fullName": "Ada", "arms": 1e2}}}`: "way.driver.fullName, way.driver.arms",
		`{` + to + `, "größe": 1, "a,b": 2, "line\nbreak": 3}`:                                                                                 "gr%C3%B6%C3%9Fe, a%2Cb, line%0Abreak",
	} {
		got := f.do("POST", "/parcels", body)
		if got.status != 201 || got.header.Get("Causeway-Ignored-Fields") != want {
			t.Errorf("%s\n%d %s: ignored %q, want %q", body, got.status, got.body, got.header.Get("Causeway-Ignored-Fields"), want)
		}
	}

	// An operation without a body knows no field.
	if got := f.do("POST", "/sandbox/parcels/"+parcelID.String()+"/lose", `{"where": {"city": "Bonn"}}`); got.status != 200 ||
		got.header.Get("Causeway-Ignored-Fields") != "where" {
		t.Errorf("without a body: %d, ignored %q", got.status, got.header.Get("Causeway-Ignored-Fields"))
	}

	// An error names them too, and so does the response to a repeated request.
	if got := f.do("POST", "/parcels", `{"to": 1, "wait": 2}`); got.status != 400 || got.header.Get("Causeway-Ignored-Fields") != "wait" {
		t.Errorf("an invalid request: %d, ignored %q", got.status, got.header.Get("Causeway-Ignored-Fields"))
	}
	for range 2 {
		if got := f.do("POST", "/parcels", `{`+to+`, "wait": 2}`, withKey("k")); got.status != 201 ||
			got.header.Get("Causeway-Ignored-Fields") != "wait" {
			t.Errorf("with a key: %d, ignored %q", got.status, got.header.Get("Causeway-Ignored-Fields"))
		}
	}
}

func TestUnknown_MisspeltFieldsAreRefused(t *testing.T) {
	t.Parallel()
	// A field whose name differs from a known one by at most two letters, and by half of it, is refused with the
	// known one, wherever it is. All of them are listed with the other invalid fields, and nothing runs. A field
	// of another branch of a union, and what a map contains, is not misspelt.
	f := newFixture(t)
	const to = `"to": "Customer:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6c", "weight": 700`
	for body, want := range map[string]map[string]string{
		`{` + to + `, "nots": {"a": 1}}`:                                                {"nots": "note"},
		`{` + to + `, "Weight ": 1, "curency": "USD"}`:                                  {"Weight ": "weight", "curency": "currency"},
		`{` + to + `, "label": {"color": "RED", "lnies": ["a"]}}`:                       {"label.lnies": "lines"},
		`{` + to + `, "way": {"kind": "SEA", "ship": "Ada", "cabin": {"numbre": "1"}}}`: {"way.cabin.numbre": "number"},
		`{` + to + `, "way": {"kimd": "SEA", "ship": "Ada"}}`:                           {"way.kimd": "kind"},
	} {
		runs := len(f.store.responses)
		got := f.do("POST", "/parcels", body, withKey("runs"+body))
		if got.status != 400 || got.error.Code != "INVALID_INPUT" || len(f.store.responses) > runs+1 {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
		for field, similar := range want {
			if got.fields[field] != "is not a known field; did you mean "+similar+"?" {
				t.Errorf("%s: %s", body, got.body)
			}
		}
	}
	got := f.do("POST", "/parcels", `{"weigth": 700, "to": "Customer:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6c", "plate": 1}`)
	if got.status != 400 || len(got.fields) != 2 || got.fields["weigth"] == "" || got.fields["weight"] != "is required" ||
		got.header.Get("Causeway-Ignored-Fields") != "plate" {
		t.Errorf("with a required field: %d %s", got.status, got.body)
	}

	names := &knownFields{fields: map[string]*knownFields{"metadata": {content: nil}, "amount": nil}}
	s := fieldScanner{parser: newParser([]byte(`{"metadata": {"metdata": 1, "amuont": {"metadata": 2}}}`))}
	if !s.value(names, &place{}, 0) || len(s.misspelt)+len(s.ignored) > 0 {
		t.Errorf("in a map: misspelt %v, ignored %v", s.misspelt, s.ignored)
	}

	// However many there are, the response stays small.
	var long strings.Builder
	for i := range 90 {
		fmt.Fprintf(&long, `, "note%d": 1`, i+10)
	}
	if got := f.do("POST", "/parcels", `{`+to+long.String()+`}`); got.status != 400 || len(got.fields) != 20 {
		t.Errorf("many: %d with %d fields", got.status, len(got.fields))
	}
}

func TestUnknown_LongListIsCut(t *testing.T) {
	t.Parallel()
	// However many fields are unknown, the header stays small.
	f := newFixture(t)
	var body strings.Builder
	body.WriteString(strings.TrimSuffix(validParcel, "}"))
	for i := range 5000 {
		fmt.Fprintf(&body, `, "unknown%d": %d`, i, i)
	}
	body.WriteString("}")

	got := f.do("POST", "/parcels", body.String())

	header := got.header.Get("Causeway-Ignored-Fields")
	if got.status != 201 || len(header) > 1100 || !strings.HasPrefix(header, "unknown0, unknown1, ") || !strings.HasSuffix(header, ", ...") {
		t.Errorf("%d, ignored %q", got.status, header)
	}
}

func TestUnknown_QueryParameters(t *testing.T) {
	t.Parallel()
	// An unknown query parameter is refused with those that exist, and so is one that is repeated although
	// it is no list. For a name that differs from a known one by at most two letters, and by half of it, the
	// message has only that one.
	f := newFixture(t)
	for _, query := range []string{"", "limit=1&sortOrder=asc", "color=RED&color=GREEN", "&limit=1&=x"} {
		if got := f.do("GET", "/parcels?"+query, ""); got.status != 200 || got.header.Get("Causeway-Ignored-Fields") != "" {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
	const exist = "is not a known parameter; those of this operation are color, cursor, limit, since, sortOrder, to"
	for query, want := range map[string]map[string]string{
		"expand=all&limit=1&a%2Cb=":     {"expand": exist, "a,b": exist},
		"limit=1&limit=2":               {"limit": "takes one value; send it once"},
		"limit=1&limit=1&limit=1":       {"limit": "takes one value; send it once"},
		"x=1":                           {"x": exist},
		"customer=1&customer=2&to=&to=": {"customer": exist, "to": "takes one value; send it once"},
	} {
		got := f.do("GET", "/parcels?"+query, "")
		if got.status != 400 || got.error.Code != "INVALID_INPUT" || !maps.Equal(got.fields, want) {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
	if got := f.do("POST", "/sandbox/parcels/"+parcelID.String()+"/lose?reason=rain", ""); got.status != 400 ||
		got.fields["reason"] != "is not a known parameter; this operation has none" {
		t.Errorf("without parameters: %d %s", got.status, got.body)
	}
	for name, similar := range map[string]string{
		"limti": "limit", "Limit": "limit", "lmit": "limit", "imi": "limit", "curso": "cursor", "sort_order": "sortOrder",
		"sortorders": "sortOrder",
		"To":         "to", "ot": "to", "since%5B%5D": "since", "colour": "color",
	} {
		got := f.do("GET", "/parcels?"+name+"=1", "")
		field := strings.ReplaceAll(name, "%5B%5D", "[]")
		if got.status != 400 || got.error.Code != "INVALID_INPUT" || got.fields[field] != "is not a known parameter; did you mean "+similar+"?" {
			t.Errorf("%s: %d %s, want %s", name, got.status, got.body, similar)
		}
	}

	// However many there are, the response stays small.
	query := strings.Builder{}
	for i := range 3000 {
		fmt.Fprintf(&query, "&limit%c%c=1&other%d=1", 'a'+i%26, 'a'+i/26%26, i)
	}
	if got := f.do("GET", "/parcels?"+query.String(), ""); got.status != 400 || len(got.fields) != 20 {
		t.Errorf("a long query: %d with %d fields", got.status, len(got.fields))
	}

	// It is listed with the other invalid parameters.
	got := f.do("GET", "/parcels?limt=5&sortOrder=up", "")
	if got.status != 400 || len(got.fields) != 2 || got.fields["limt"] == "" || got.fields["sortOrder"] == "" {
		t.Errorf("two invalid parameters: %d %s", got.status, got.body)
	}
}

func TestQuery_ListsRepeatedOrSeparatedByCommas(t *testing.T) {
	t.Parallel()
	// A list is sent as repeated parameters, separated by commas, or both.
	var colors []string
	f := newUnbuiltFixture(t)
	Get(f.API, Operation{ID: "listColors", Path: "/colors", Summary: "List colors", Tag: "Parcels", Permission: platform.View},
		func(_ context.Context, _ Call, in *struct {
			Color []string `query:"color" doc:"Colors."`
		}) (struct{}, error) {
			colors = in.Color
			return struct{}{}, nil
		}, func(struct{}) NoBody { return NoBody{} })
	if err := f.Build(); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string][]string{
		"":                                  nil,
		"color=":                            nil,
		"color=RED":                         {"RED"},
		"color=RED,GREEN":                   {"RED", "GREEN"},
		"color=RED%2CGREEN":                 {"RED", "GREEN"},
		"color=RED&color=GREEN":             {"RED", "GREEN"},
		"color=RED,BLUE&color=&color=GREEN": {"RED", "BLUE", "GREEN"},
		"color=RED&color=":                  {"RED"},
	} {
		colors = nil
		if got := f.do("GET", "/colors?"+query, ""); got.status != 204 || !slices.Equal(colors, want) {
			t.Errorf("%q: %d %q, want %q", query, got.status, colors, want)
		}
	}
}

func TestShouldRetry_TellsWhetherRepeatingHelps(t *testing.T) {
	t.Parallel()
	// Every error says whether the same request may succeed later. A response that is stored
	// under the idempotency key is final.
	for _, c := range []struct {
		code  fault.Code
		key   string
		retry string
		after string
	}{
		{fault.Conflict, "", "false", ""},
		{fault.QuoteExpired, "k", "false", ""},
		{fault.IdempotencyKeyInUse, "k", "true", "1"},
		{fault.QuoteRequestFailed, "", "true", ""},
		{fault.QuoteRequestFailed, "k", "false", ""},
		{fault.InvalidInput, "", "false", ""},
		{fault.RateLimited, "k", "true", "1"},
		{fault.ServiceUnavailable, "k", "true", "1"},
		{fault.InternalError, "k", "true", ""},
		{fault.NotImplemented, "", "false", ""},
	} {
		f := newFixture(t)
		f.handler = func(context.Context, Call, *sendParcel) (parcel, error) {
			return parcel{}, fault.New(c.code, "Refused.")
		}
		var options []requestOption
		if c.key != "" {
			options = append(options, withKey(c.key))
		}
		for attempt := range 2 {
			got := f.do("POST", "/parcels", validParcel, options...)
			if got.status != c.code.Status() || got.header.Get("X-Should-Retry") != c.retry || got.header.Get("Retry-After") != c.after {
				t.Errorf("%s with key %q, attempt %d: %d, x-should-retry %q, retry-after %q; want %q, %q",
					c.code, c.key, attempt, got.status, got.header.Get("X-Should-Retry"), got.header.Get("Retry-After"), c.retry, c.after)
			}
		}
	}

	// Errors that no operation returns have the header as well, and successes do not.
	f := newFixture(t)
	for path, want := range map[string]string{"/nowhere": "false", "/parcels?limit=x": "false", "/parcels": ""} {
		if got := f.do("GET", path, ""); got.header.Get("X-Should-Retry") != want {
			t.Errorf("%s: %d, x-should-retry %q, want %q", path, got.status, got.header.Get("X-Should-Retry"), want)
		}
	}
}
