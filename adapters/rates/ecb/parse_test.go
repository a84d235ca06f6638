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
	// Every rate of the file comes in exactly as it is printed, and the euro beside them.
	text := recordedFile(t)

	sheet, err := ecb.Parse(bytes.NewReader(text))

	if err != nil {
		t.Fatal(err)
	}
	if want := time.Date(2026, 3, 13, 0, 0, 0, 0, time.UTC); !sheet.Day.Equal(want) {
		t.Errorf("it is of %s, want %s", sheet.Day, want)
	}
	if printed := bytes.Count(text, []byte("currency=")); len(sheet.Rates) != printed+1 {
		t.Errorf("%d rates, want those of the %d printed currencies and the euro", len(sheet.Rates), printed)
	}
	for currency, want := range map[money.Currency]string{"EUR": "1", "USD": "1.0873", "IDR": "17788.12", "GBP": "0.84105", "RON": "4.977"} {
		if got := sheet.Rates[currency].String(); got != want {
			t.Errorf("%s: %s, want %s", currency, got, want)
		}
	}
}

func TestParse_UsesNewestDay(t *testing.T) {
	t.Parallel()
	// A file of many days, in whatever order, gives the rates of its newest one; a
	// currency that is not ours is passed over.
	for name, text := range map[string]string{
		"newest first": envelope(day("2026-03-13", "USD", "1.09", "XDR", "0.8"), day("2026-03-12", "USD", "1.08")),
		"newest last":  envelope(day("2026-03-12", "USD", "1.08"), day("2026-03-13", "USD", "1.09")),
	} {
		sheet, err := ecb.Parse(strings.NewReader(text))
		if err != nil || sheet.Rates["USD"] != money.MustRate("1.09") || len(sheet.Rates) != 2 {
			t.Errorf("%s: %v, %v", name, sheet, err)
		}
	}
}

func TestParse_RejectsInvalidFiles(t *testing.T) {
	t.Parallel()
	// What is cut off, malformed, doubled or not believable is refused whole: half a
	// file of rates is none.
	whole := envelope(day("2026-03-13", "USD", "1.09", "GBP", "0.84"))
	for name, text := range map[string]string{
		"nothing":             "",
		"no XML":              "USD;1.09",
		"a page of HTML":      "<html><body>Not found</body></html>",
		"cut off":             whole[:len(whole)-20],
		"no day":              envelope(`<Cube currency="USD" rate="1.09"/>`),
		"an empty day":        envelope(day("2026-03-13")),
		"no dollar":           envelope(day("2026-03-13", "GBP", "0.84")),
		"a day that is none":  envelope(day("2026-02-30", "USD", "1.09")),
		"a day twice":         envelope(day("2026-03-13", "USD", "1.09"), day("2026-03-13", "USD", "1.08")),
		"a currency twice":    envelope(day("2026-03-13", "USD", "1.09", "USD", "1.09")),
		"the euro in euro":    envelope(day("2026-03-13", "USD", "1.09", "EUR", "1")),
		"a negative rate":     envelope(day("2026-03-13", "USD", "-1.09")),
		"zero":                envelope(day("2026-03-13", "USD", "0")),
		"no number":           envelope(day("2026-03-13", "USD", "N/A")),
		"a comma":             envelope(day("2026-03-13", "USD", "1,09")),
		"beyond belief":       envelope(day("2026-03-13", "USD", "10000000001")),
		"hardly anything":     envelope(day("2026-03-13", "USD", "0.0000001")),
		"a currency in words": envelope(day("2026-03-13", "dollar", "1.09")),
		"a rate of nothing":   envelope(day("2026-03-13", "USD", "1.09", "", "3")),
		"too many elements":   envelope(day("2026-03-13", "USD", "1.09"), strings.Repeat("<Cube/>", 10_001)),
		"another charset":     strings.Replace(whole, "UTF-8", "EBCDIC", 1),
	} {
		if sheet, err := ecb.Parse(strings.NewReader(text)); !errors.Is(err, ecb.ErrInvalidFile) {
			t.Errorf("%s: %v, %v", name, sheet, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	// Whatever comes in, the parser ends; what it takes has a day, a dollar and rates
	// that can be multiplied.
	text, err := os.ReadFile("testdata/eurofxref-daily.xml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(envelope(day("2026-03-13", "USD", "1.09"))))
	f.Add([]byte(`<Envelope><Cube time="2026-03-13" currency="USD" rate="1e-2"/></Envelope>`))
	f.Add([]byte(`<!DOCTYPE Envelope [<!ENTITY a "1">]><Envelope><Cube time="&a;"/></Envelope>`))
	f.Fuzz(func(t *testing.T, text []byte) {
		sheet, err := ecb.Parse(bytes.NewReader(text))
		if err != nil {
			if !errors.Is(err, ecb.ErrInvalidFile) {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		if sheet.Day.IsZero() || sheet.Rates["USD"].IsZero() || sheet.Rates["EUR"] != money.MustRate("1") {
			t.Fatalf("taken: %v", sheet)
		}
		for currency, rate := range sheet.Rates {
			if !currency.Known() || rate.IsZero() {
				t.Fatalf("%s at %s", currency, rate)
			}
			if _, err := rate.Div(sheet.Rates["USD"]); err != nil {
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
