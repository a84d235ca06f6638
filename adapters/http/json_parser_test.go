package httpapi

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestParseJSON_ValidValues(t *testing.T) {
	t.Parallel()
	// All kinds of values are parsed, with unusual spaces and escapes.
	for text, want := range map[string]any{
		`null`:                          nil,
		` [ ] `:                         []any{},
		"\t{\n}\r":                      map[string]any{},
		`[true,false,null]`:             []any{true, false, nil},
		`{"a":{"b":[1,-2,3.5]},"c":""}`: map[string]any{"a": map[string]any{"b": []any{1.0, -2.0, 3.5}}, "c": ""},
		`"a\"\\\/\b\f\n\r\tA😀é"`:        "a\"\\/\b\f\n\r\tA😀é",
		`9000000000000000`:              9e15,
		`-0`:                            math.Copysign(0, -1),
		`1.25e-2`:                       0.0125,
		`{"K":1,"x":2}`:                 map[string]any{"K": 1.0, "x": 2.0},
	} {
		got, err := parseJSON([]byte(text))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %#v, %v; want %#v", text, got, err, want)
		}
	}

	// A whole number that is not written as an integer is refused for an integer field.
	for _, text := range []string{"1.0", "1e3", "-5E2", "0.0", "100.00e1"} {
		got, err := parseJSON([]byte(text))
		if number, ok := got.(float64); err != nil || !ok || !math.IsNaN(number) {
			t.Errorf("%s = %v, %v; want NaN", text, got, err)
		}
	}
}

func TestParseJSON_ErrorHasLineAndColumn(t *testing.T) {
	t.Parallel()
	// The first syntax error is reported with its line and column.
	for text, want := range map[string]syntaxError{
		``:                             {1, 1, "unexpected end of the body"},
		`{`:                            {1, 2, "unexpected end of the body"},
		`{"a"`:                         {1, 5, "unexpected end of the body"},
		`{"a":`:                        {1, 6, "unexpected end of the body"},
		`{"a":1`:                       {1, 7, "unexpected end of the body"},
		`[1,`:                          {1, 4, "unexpected end of the body"},
		`[1,]`:                         {1, 4, "a value is expected"},
		`{"a":1,}`:                     {1, 8, "a field name in double quotes is expected"},
		`{a:1}`:                        {1, 2, "a field name in double quotes is expected"},
		`{"a" 1}`:                      {1, 6, "a colon is expected"},
		`{"a":1 "b":2}`:                {1, 8, "a comma or } is expected"},
		`[1 2]`:                        {1, 4, "a comma or ] is expected"},
		"{\n\t\"ä\": 01}":              {2, 8, "a comma or } is expected"},
		`+1`:                           {1, 1, "a value is expected"},
		`-`:                            {1, 2, "unexpected end of the body"},
		`1.`:                           {1, 3, "unexpected end of the body"},
		`1.x`:                          {1, 3, "a digit is expected"},
		`1e+`:                          {1, 4, "unexpected end of the body"},
		`1e999`:                        {1, 1, "the number is too large"},
		`NaN`:                          {1, 1, "a value is expected"},
		`nul`:                          {1, 1, "a value is expected"},
		`'a'`:                          {1, 1, "a value is expected"},
		`"a`:                           {1, 3, "unexpected end of the body in a string"},
		`"a\`:                          {1, 4, "unexpected end of the body in a string"},
		`"\x"`:                         {1, 1, "the string has an invalid escape"},
		`"\u12"`:                       {1, 1, "the string has an invalid escape"},
		`"\u0000"`:                     {1, 1, "the NUL character is not allowed in a string"},
		"\"\\x\n":                      {1, 1, "the string has an invalid escape"}, // the first of several
		"\"a\nb\"":                     {1, 3, "control characters in a string must be escaped"},
		"\"\xff\"":                     {1, 1, "the string is not valid UTF-8"},
		"{}\n{}":                       {2, 1, "unexpected data after the value"},
		`{"a":1,"a":2}`:                {1, 8, `the field "a" is duplicated`},
		`{"amount":1,"AMOUNT":2}`:      {1, 13, `the field "AMOUNT" is duplicated`},
		"{\"k\":1,\"\u212a\":2}":       {1, 8, "the field \"\u212a\" is duplicated"}, // the Kelvin sign is a k to a decoder
		"{\"side\":1,\"\u017fide\":2}": {1, 11, "the field \"\u017fide\" is duplicated"},
	} {
		_, err := parseJSON([]byte(text))

		var got *syntaxError
		if !errors.As(err, &got) || *got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func TestParseJSON_DuplicateFieldInLargeObject(t *testing.T) {
	t.Parallel()
	// A duplicate field is found in an object of any size, and a large object with
	// different fields is parsed quickly.
	var many strings.Builder
	for i := range 50_000 {
		many.WriteString(`"f` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + itoa(i) + `":0,`)
	}
	if _, err := parseJSON([]byte("{" + many.String() + `"last":1}`)); err != nil {
		t.Error(err)
	}
	for _, repeat := range []string{`"fa0":1`, `"FA0":1`} {
		_, err := parseJSON([]byte("{" + many.String() + repeat + "}"))
		if err == nil || !strings.Contains(err.Error(), "is duplicated") {
			t.Errorf("%s: %v", repeat, err)
		}
	}
}

func itoa(i int) string { text, _ := json.Marshal(i); return string(text) }

func TestFoldCase_MatchesEqualFold(t *testing.T) {
	t.Parallel()
	// Two names are equal for the parser if and only if they are for encoding/json.
	name := rapid.StringOfN(rapid.RuneFrom([]rune("aAiIıİkKsSzZßẞſKéÉσςΣ_1")), 0, 4, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		if (foldCase(a) == foldCase(b)) != strings.EqualFold(a, b) {
			t.Fatalf("fold(%q) = %q, fold(%q) = %q, EqualFold %v", a, foldCase(a), b, foldCase(b), strings.EqualFold(a, b))
		}
	})
}

func FuzzParseJSON(f *testing.F) {
	for _, seed := range []string{validParcel, `[1,2.5e3,-0,"\u00e9\ud83d",{"a":null}]`, `{"a":1,"A":2}`, `{`, "\"\\u0000\"", "1e400"} {
		f.Add([]byte(seed))
	}
	// Everything that is accepted has the same value in encoding/json. Everything that is
	// refused is refused there too, or is one of the additional rules.
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := parseJSON(data)
		var want any
		wantErr := json.Unmarshal(data, &want)
		if err != nil {
			strict := false
			for _, about := range []string{"is duplicated", "NUL character", "not valid UTF-8", "too deep"} {
				strict = strict || strings.Contains(err.Error(), about)
			}
			if wantErr == nil && !strict {
				t.Fatalf("%q is refused: %v", data, err)
			}
			return
		}
		if wantErr != nil || !utf8.Valid(data) {
			t.Fatalf("%q is accepted, but %v", data, wantErr)
		}
		if !equalJSON(got, want) {
			t.Fatalf("%q = %#v, want %#v", data, got, want)
		}
	})
}

// equalJSON compares values; NaN equals any whole number.
func equalJSON(got, want any) bool {
	switch want := want.(type) {
	case float64:
		number, ok := got.(float64)
		return ok && (number == want || math.IsNaN(number) && want == math.Trunc(want))
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return false
		}
		for i := range want {
			if !equalJSON(list[i], want[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok || len(object) != len(want) {
			return false
		}
		for name := range want {
			if !equalJSON(object[name], want[name]) {
				return false
			}
		}
		return true
	}
	return got == want
}
