package ecb_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"causeway/adapters/rates/ecb"
	"causeway/core/money"
)

func TestParse_RecordedFile(t *testing.T) {
	t.Parallel()
	// Every rate of the file is parsed exactly, and the euro is added.
	text := recordedFile(t)

	daily, err := ecb.Parse(bytes.NewReader(text))

	if err != nil {
		t.Fatal(err)
	}
	if want := time.Date(2026, 3, 13, 0, 0, 0, 0, time.UTC); !daily.Day.Equal(want) {
		t.Errorf("day %s, want %s", daily.Day, want)
	}
	if printed := bytes.Count(text, []byte("currency=")); len(daily.Rates) != printed+1 {
		t.Errorf("%d rates, want those of the %d printed currencies and the euro", len(daily.Rates), printed)
	}
	for currency, want := range map[money.Currency]string{"EUR": "1", "USD": "1.0873", "IDR": "17788.12", "GBP": "0.84105", "RON": "4.977"} {
		if got := daily.Rates[currency].String(); got != want {
			t.Errorf("%s: %s, want %s", currency, got, want)
		}
	}
}

func TestParse_UsesNewestDay(t *testing.T) {
	t.Parallel()
	// Parse returns the newest of several days in any order and skips unsupported currencies.
	for name, text := range map[string]string{
		"newest first": envelope(day("2026-03-13", "USD", "1.09", "XDR", "0.8"), day("2026-03-12", "USD", "1.08")),
		"newest last":  envelope(day("2026-03-12", "USD", "1.08"), day("2026-03-13", "USD", "1.09")),
	} {
		daily, err := ecb.Parse(strings.NewReader(text))
		if err != nil || daily.Rates["USD"] != money.MustRate("1.09") || len(daily.Rates) != 2 {
			t.Errorf("%s: %v, %v", name, daily, err)
		}
	}
}

func TestParse_RejectsInvalidFiles(t *testing.T) {
	t.Parallel()
	// A file that is truncated, malformed, contains duplicates or implausible rates is rejected
	// completely.
	valid := envelope(day("2026-03-13", "USD", "1.09", "GBP", "0.84"))
	for name, text := range map[string]string{
		"nothing":                   "",
		"no XML":                    "USD;1.09",
		"a page of HTML":            "<html><body>Not found</body></html>",
		"cut off":                   valid[:len(valid)-20],
		"no day":                    envelope(`<Cube currency="USD" rate="1.09"/>`),
		"an empty day":              envelope(day("2026-03-13")),
		"no dollar":                 envelope(day("2026-03-13", "GBP", "0.84")),
		"an invalid day":            envelope(day("2026-02-30", "USD", "1.09")),
		"a day twice":               envelope(day("2026-03-13", "USD", "1.09"), day("2026-03-13", "USD", "1.08")),
		"a currency twice":          envelope(day("2026-03-13", "USD", "1.09", "USD", "1.09")),
		"the euro in euro":          envelope(day("2026-03-13", "USD", "1.09", "EUR", "1")),
		"a negative rate":           envelope(day("2026-03-13", "USD", "-1.09")),
		"zero":                      envelope(day("2026-03-13", "USD", "0")),
		"no number":                 envelope(day("2026-03-13", "USD", "N/A")),
		"a comma":                   envelope(day("2026-03-13", "USD", "1,09")),
		"too high a rate":           envelope(day("2026-03-13", "USD", "10000000001")),
		"too low a rate":            envelope(day("2026-03-13", "USD", "0.0000001")),
		"a currency in words":       envelope(day("2026-03-13", "dollar", "1.09")),
		"a rate without a currency": envelope(day("2026-03-13", "USD", "1.09", "", "3")),
		"too many elements":         envelope(day("2026-03-13", "USD", "1.09"), strings.Repeat("<Cube/>", 10_001)),
		"another charset":           strings.Replace(valid, "UTF-8", "EBCDIC", 1),
	} {
		if daily, err := ecb.Parse(strings.NewReader(text)); !errors.Is(err, ecb.ErrInvalidFile) {
			t.Errorf("%s: %v, %v", name, daily, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	// For any input Parse returns ErrInvalidFile or rates with a day, a dollar and valid values.
	text, err := os.ReadFile("testdata/eurofxref-daily.xml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(envelope(day("2026-03-13", "USD", "1.09"))))
	f.Add([]byte(`<Envelope><Cube time="2026-03-13" currency="USD" rate="1e-2"/></Envelope>`))
	f.Add([]byte(`<!DOCTYPE Envelope [<!ENTITY a "1">]><Envelope><Cube time="&a;"/></Envelope>`))
	f.Fuzz(func(t *testing.T, text []byte) {
		daily, err := ecb.Parse(bytes.NewReader(text))
		if err != nil {
			if !errors.Is(err, ecb.ErrInvalidFile) {
				t.Fatalf("unexpected error: %v", err)
			}
			return
		}
		if daily.Day.IsZero() || daily.Rates["USD"].IsZero() || daily.Rates["EUR"] != money.MustRate("1") {
			t.Fatalf("accepted: %v", daily)
		}
		for currency, rate := range daily.Rates {
			if !currency.Known() || rate.IsZero() {
				t.Fatalf("%s at %s", currency, rate)
			}
			if _, err := rate.Div(daily.Rates["USD"]); err != nil {
				t.Fatalf("%s at %s: %v", currency, rate, err)
			}
		}
	})
}

func recordedFile(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/eurofxref-daily.xml")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// envelope is a file with the given days.
func envelope(days ...string) string {
	return `<?xml version="1.0" encoding="UTF-8"?><gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" ` +
		`xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref"><Cube>` + strings.Join(days, "") + `</Cube></gesmes:Envelope>`
}

// day is one day of pairs of a currency and its rate.
func day(date string, pairs ...string) string {
	var text strings.Builder
	text.WriteString(`<Cube time="` + date + `">`)
	for i := 0; i < len(pairs); i += 2 {
		text.WriteString(`<Cube currency="` + pairs[i] + `" rate="` + pairs[i+1] + `"/>`)
	}
	text.WriteString(`</Cube>`)
	return text.String()
}
