package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
)

func TestTime_MarshalsInUTC(t *testing.T) {
	t.Parallel()
	// A timestamp of any zone and precision is written in UTC with milliseconds,
	// truncated.
	for _, c := range []struct {
		moment time.Time
		want   string
	}{
		{time.Date(2025, 10, 13, 11, 30, 0, 0, time.FixedZone("CEST", 7200)), `"2025-10-13T09:30:00.000Z"`},
		{time.Date(2025, 12, 31, 23, 59, 59, 999_999_999, time.UTC), `"2025-12-31T23:59:59.999Z"`},
		{time.Date(2025, 1, 1, 0, 0, 0, 1_500_000, time.UTC), `"2025-01-01T00:00:00.001Z"`},
	} {
		got, err := json.Marshal(NewTime(c.moment))
		text, textErr := NewTime(c.moment).MarshalText()
		if err != nil || textErr != nil || string(got) != c.want || `"`+string(text)+`"` != c.want {
			t.Errorf("%s: %s and %s, want %s", c.moment, got, text, c.want)
		}
	}
	if got, err := json.Marshal(struct {
		At Time `json:"at,omitzero"`
	}{}); err != nil || string(got) != `{}` {
		t.Errorf("the zero time: %s, %v", got, err)
	}
}

func TestTime_UnmarshalsAnyOffset(t *testing.T) {
	t.Parallel()
	// The same timestamp is parsed from all its notations, in UTC.
	want := time.Date(2025, 10, 13, 9, 30, 0, 0, time.UTC)
	for _, text := range []string{"2025-10-13T09:30:00Z", "2025-10-13T11:30:00+02:00", "2025-10-13T09:30:00.000Z"} {
		var parsed, decoded Time
		if err := parsed.UnmarshalText([]byte(text)); err != nil || !parsed.Equal(want) || parsed.Location() != time.UTC {
			t.Errorf("%s = %v, %v", text, parsed, err)
		}
		if err := json.Unmarshal([]byte(`"`+text+`"`), &decoded); err != nil || decoded.Time != want {
			t.Errorf("%s in JSON = %v, %v", text, decoded, err)
		}
	}
	for _, text := range []string{"", "now", "2025-10-13", "2025-10-13 09:30:00Z", "2025-13-13T09:30:00Z"} {
		if err := new(Time).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func TestID_NilUUIDIsReportedWithItsField(t *testing.T) {
	t.Parallel()
	// The nil UUID matches the pattern of an id and is still refused, with the name of its field.
	f := newFixture(t)

	got := f.do("POST", "/parcels", `{"note": "x", "to": "Customer:00000000-0000-0000-0000-000000000000", "weight": 1}`)

	if got.status != 400 || got.fields["to"] != "must be an id of the form Customer:<uuid>" || len(got.fields) != 1 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestTime_YearsOfFourDigitsOnly(t *testing.T) {
	t.Parallel()
	// A timestamp whose year in UTC is before 1 or after 9999 is refused in a query and in a
	// body: it could neither be stored nor returned.
	f := newFixture(t)
	for text, valid := range map[string]bool{
		"0001-01-01T00:00:00%2B23:59": false, "9999-12-31T23:59:59-00:01": false, "0000-01-01T00:00:00Z": false,
		"0001-01-01T00:00:00-00:01": true, "9999-12-31T23:59:59Z": true,
	} {
		want := 400
		if valid {
			want = 200
		}
		if got := f.do("GET", "/parcels?since="+text, ""); got.status != want {
			t.Errorf("since %s: %d %s", text, got.status, got.body)
		}
		body := strings.Replace(validParcel, "{", `{"ready": "`+strings.ReplaceAll(text, "%2B", "+")+`", `, 1)
		if got := f.do("POST", "/parcels", body); (got.status == 201) != valid || (got.fields["ready"] == "") != valid {
			t.Errorf("ready %s: %d %s", text, got.status, got.body)
		}
	}
}

func TestDecimal_KeepsAllDigits(t *testing.T) {
	t.Parallel()
	// A rate is a JSON number with all its digits, more than a float has.
	for _, digits := range []string{"0.9975", "9.950248756218905472636815920398", "1", "0.00000001", "1234567890123456789012345678901234"} {
		got, err := json.Marshal(map[string]Decimal{"rate": {Rate: money.MustRate(digits)}})
		if err != nil || string(got) != `{"rate":`+digits+`}` {
			t.Errorf("%s: %s, %v", digits, got, err)
		}
	}
}

func TestID_RoundTrip(t *testing.T) {
	t.Parallel()
	// An id is returned as sent; ids of another type, malformed ids and the nil UUID are
	// refused; no id is omitted.
	type body struct {
		ID ID[ident.Quote] `json:"id,omitzero"`
	}
	var in body
	if err := json.Unmarshal([]byte(`{"id":"`+parcelID.String()+`"}`), &in); err != nil || in.ID.Value != parcelID {
		t.Errorf("read %v, %v", in.ID, err)
	}
	if out, err := json.Marshal(in); err != nil || string(out) != `{"id":"`+parcelID.String()+`"}` {
		t.Errorf("written %s, %v", out, err)
	}
	if out, err := json.Marshal(body{}); err != nil || string(out) != `{}` {
		t.Errorf("none is written %s, %v", out, err)
	}
	for _, text := range []string{"", "x", receiverID.String(), "Quote:1", "quote:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"} {
		if err := new(ID[ident.Quote]).UnmarshalText([]byte(text)); err == nil || err.Error() != "must be an id of the form Quote:<uuid>" {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"id":"Quote:00000000-0000-0000-0000-000000000000"}`), &in); err == nil {
		t.Error("the UUID of zeros was read")
	}
}

func TestCursor_RoundTrip(t *testing.T) {
	t.Parallel()
	// Any id and key can be encoded in a cursor that is safe in a URL.
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.Rune().Filter(func(r rune) bool { return r != 0 && r != '\uFFFD' }), 1, 30, 60)
		want := Cursor{ID: text.Draw(t, "id"), Key: rapid.OneOf(rapid.Just(""), text).Draw(t, "key")}
		word := want.String()

		var got Cursor
		if err := got.UnmarshalText([]byte(word)); err != nil || got != want {
			t.Fatalf("%+v = %q = %+v, %v", want, word, got, err)
		}
		if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			t.Fatalf("%q needs escaping", word)
		}
	})
}

func TestCursor_InvalidIsRejected(t *testing.T) {
	t.Parallel()
	// Any other text is refused as a cursor.
	word := func(body string) string { return base64.RawURLEncoding.EncodeToString([]byte(body)) }
	for name, text := range map[string]string{
		"no base64": "!!!", "no JSON": word("x"), "a list": word("[]"), "no id": word("{}"), "an empty id": word(`{"id":""}`),
		"a number": word(`{"id":1}`), "a key of another type": word(`{"id":"a","key":1}`), "cut off": Cursor{ID: "abc"}.String()[:5],
		"padded": base64.URLEncoding.EncodeToString([]byte(`{"id":"ab"}`)), "too long": strings.Repeat("A", maxCursorLength+1),
	} {
		if err := new(Cursor).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%s: %q was read", name, text)
		}
	}

	// The id of a cursor must have the type of the list; the beginning has none.
	if id, err := CursorID[ident.Quote](Cursor{}); err != nil || !id.IsZero() {
		t.Errorf("the beginning: %v, %v", id, err)
	}
	if id, err := CursorID[ident.Quote](Cursor{ID: parcelID.String()}); err != nil || id != parcelID {
		t.Errorf("a quote: %v, %v", id, err)
	}
	if _, err := CursorID[ident.Quote](Cursor{ID: receiverID.String()}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a customer: %v", err)
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	// A page has hasMore, and a cursor only if there is more; an empty page has an empty
	// list.
	for _, c := range []struct {
		page Page[int]
		want string
	}{
		{NewPage[int](nil, false, Cursor{}, 0, false), `{"data":[],"hasMore":false,"totalCount":0}`},
		{NewPage([]int{1}, false, Cursor{ID: "x"}, 1, false), `{"data":[1],"hasMore":false,"totalCount":1}`},
		{NewPage([]int{1, 2}, true, Cursor{ID: "x"}, 9, true), `{"data":[1,2],"hasMore":true,"nextCursor":"` + Cursor{ID: "x"}.String() +
			`","totalCount":9,"totalCountIsMinimum":true}`},
	} {
		if got, err := json.Marshal(c.page); err != nil || string(got) != c.want {
			t.Errorf("got %s, %v; want %s", got, err, c.want)
		}
	}

	f := newFixture(t)
	got := f.do("GET", "/parcels?limit=1&sortOrder=asc&cursor="+Cursor{ID: parcelID.String()}.String(), "")
	if got.status != 200 || !strings.Contains(got.body, `"hasMore":true`) {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

func FuzzCursor(f *testing.F) {
	f.Add(Cursor{ID: "Quote:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b", Key: "k"}.String())
	f.Add("e30")
	f.Add("")
	// A text is refused, or is a cursor that can be encoded and parsed again.
	f.Fuzz(func(t *testing.T, word string) {
		var c Cursor
		if err := c.UnmarshalText([]byte(word)); err != nil {
			return
		}
		var again Cursor
		if err := again.UnmarshalText([]byte(c.String())); c.ID == "" || err != nil || again != c {
			t.Fatalf("%q = %+v, written %q, read %+v, %v", word, c, c.String(), again, err)
		}
	})
}
