package httpapi

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/requestlog"
)

const quoteID = "Quote:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"

var maskRule = requestlog.Rule{
	"quoteId": {ID: true}, "amount": {Number: true}, "isPaused": {Boolean: true}, "createdAt": {Time: true}, "currency": {Currency: true},
	"status": {Number: true, Values: map[string]bool{"PENDING": true}}, "memo": {}, "personalInfo": {Whole: true},
	"errors": {}, "message": {}, "data": {},
}

func TestMaskJSON_ShowsOnlyFormsOfTheName(t *testing.T) {
	t.Parallel()
	// A value is shown if it has a form of its name; null and empty texts always are. Names that look like names of fields stay.
	for text, want := range map[string]string{
		`{"quoteId":"` + quoteID + `","amount":12, "isPaused":true,"createdAt":"2026-01-02T03:04:05.000Z"}`: `{"quoteId":"` + quoteID + `","amount":12,"isPaused":true,"createdAt":"2026-01-02T03:04:05.000Z"}`,
		`{"quoteId":"4111 1111","amount":"12","isPaused":"yes","createdAt":"Ana","currency":"ANA"}`:         `{"quoteId":"***","amount":"***","isPaused":"***","createdAt":"***","currency":"***"}`,
		`{"currency":"USD","status":"PENDING"}`:                                                             `{"currency":"USD","status":"PENDING"}`,
		`{"status":"pending"}`:                                                                              `{"status":"***"}`,
		`{"status":200,"memo":12,"memo":true,"memo":null,"memo":""}`:                                        `{"status":200,"memo":"***","memo":"***","memo":null,"memo":""}`,
		`{"personalInfo":{"amount":1},"amuont":1,"ana@example.com":1}`:                                      `{"personalInfo":"***","amuont":"***","***":"***"}`,
		`{"personalInfo":null,"data":[{"amount":1},{"memo":"Ana"}]}`:                                        `{"personalInfo":null,"data":[{"amount":1},{"memo":"***"}]}`,
		`{"memo":["Ana",["Ben"]],"amount":[1,"x"]}`:                                                         `{"memo":["***",["***"]],"amount":[1,"***"]}`,
		`{"Amount":1,"currency":"U\u0053D"}`:                                                                `{"Amount":"***","currency":"***"}`,
		`"Ana"`:                                                                                             `"***"`,
		strings.Repeat(`[`, 70) + `"Ana"` + strings.Repeat(`]`, 70):                                         strings.Repeat(`[`, 64) + `"***"` + strings.Repeat(`]`, 64),
		`{}`: `{}`,
	} {
		masked, cut, ok := maskJSON(maskRule, []byte(text), maskOptions{limit: 1000})
		if masked != want || cut || !ok {
			t.Errorf("%s: %s, cut %t, ok %t; want %s", text, masked, cut, ok, want)
		}
	}
	for _, text := range []string{``, `{`, `{"a":1}}`, `{"a":1} x`, `{a:1}`, `{"a" 1}`, `[1,]`, "<html>"} {
		if masked, _, ok := maskJSON(maskRule, []byte(text), maskOptions{limit: 1000}); ok || masked != "" {
			t.Errorf("%s is JSON: %s", text, masked)
		}
	}
}

func TestMaskJSON_IsJSONWithinTheLimit(t *testing.T) {
	t.Parallel()
	// Whatever is masked, the result is JSON, about as long as the limit, has no text that the rule does not show, and is whole
	// unless it says that it was cut.
	rapid.Check(t, func(t *rapid.T) {
		const secret = "Ana Lima"
		var value func(depth int) any
		value = func(depth int) any {
			switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
			case kind == 0 && depth < 5:
				object := map[string]any{}
				for range rapid.IntRange(0, 5).Draw(t, "fields") {
					object[rapid.SampledFrom([]string{"amount", "memo", "data", "quoteId", secret, "personalInfo"}).Draw(t, "name")] = value(depth + 1)
				}
				return object
			case kind == 1 && depth < 5:
				list := make([]any, rapid.IntRange(0, 5).Draw(t, "items"))
				for i := range list {
					list[i] = value(depth + 1)
				}
				return list
			default:
				return []any{secret, 12, true, nil, quoteID}[kind%5]
			}
		}
		text, err := json.Marshal(value(0))
		if err != nil {
			t.Fatal(err)
		}
		limit := rapid.IntRange(0, 200).Draw(t, "limit")

		masked, cut, ok := maskJSON(maskRule, text, maskOptions{limit: limit})
		whole, _, _ := maskJSON(maskRule, text, maskOptions{limit: 1 << 20})

		if !ok || !json.Valid([]byte(masked)) || strings.Contains(masked, secret) || len(masked) > limit+120 || cut == (masked == whole) {
			t.Fatalf("limit %d, %s: %s, cut %t, ok %t", limit, text, masked, cut, ok)
		}
	})
}

func TestHidden_ScrubRemovesMaskedValues(t *testing.T) {
	t.Parallel()
	// A message repeats none of the values that were masked, as they were sent or without spaces and dashes, in any case of letters;
	// but a value inside of a word is something else. The texts of an error body are shown in the same way.
	var hidden requestlog.Hidden
	body := `{"memo":"Ana Lima","memo":"DE89-3704","memo":7,"personalInfo":{"amount":12345,"x":["Zoë"]},"ana@example.com":1}`
	if _, _, ok := maskJSON(maskRule, []byte(body), maskOptions{limit: 10, hideIn: &hidden}); !ok {
		t.Fatal("not JSON")
	}
	for message, want := range map[string]string{
		"No account of ANA LIMA.":                       "No account of ***.",
		"DE893704 and de89-3704 are invalid":            "*** and *** are invalid",
		"7 of 17 at 12345":                              "*** of 17 at ***",
		"zoë, Zoë's, Zoëlina":                           "***, ***'s, Zoëlina",
		"ana@example.com is not a known field; AnaLima": "*** is not a known field; ***",
		"":           "",
		"must be ok": "must be ok",
	} {
		if got := hidden.Scrub(message); got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}

	masked, _, _ := maskJSON(maskRule, []byte(`{"message":"Ana Lima \"is\" unknown","errors":[{"message":"7"}]}`),
		maskOptions{limit: 1000, texts: map[string]bool{"message": true}, hidden: &hidden})
	if want := `{"message":"*** \"is\" unknown","errors":[{"message":"***"}]}`; masked != want {
		t.Errorf("%s, want %s", masked, want)
	}

	hidden.AddUnlisted()
	if got := hidden.Scrub("must be ok"); got != requestlog.Masked {
		t.Errorf("with values that are not known: %q", got)
	}
}

func TestRule_ShowsParameter(t *testing.T) {
	t.Parallel()
	// A parameter is shown as a field is, with numbers and booleans as texts.
	for parameter, want := range map[string]bool{"quoteId=" + quoteID: true, "amount=12": true, "isPaused=true": true, "currency=USD": true,
		"amount=1e3x": false, "isPaused=Ana": false, "memo=Ana": false, "other=1": false, "personalInfo=1": false} {
		name, value, _ := strings.Cut(parameter, "=")
		if got := maskRule.ShowsParameter(name, value); got != want {
			t.Errorf("%s: %t", parameter, got)
		}
	}
}

func BenchmarkMaskJSON(b *testing.B) {
	body := []byte(`{"data":[` + strings.TrimSuffix(strings.Repeat(
		`{"quoteId":"`+quoteID+`","amount":1200,"isPaused":false,"createdAt":"2026-01-02T03:04:05.000Z","memo":"Rent of May"},`, 10), ",") + `]}`)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		maskJSON(maskRule, body, maskOptions{limit: 16 << 10})
	}
}
