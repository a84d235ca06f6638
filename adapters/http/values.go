package httpapi

import (
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"causeway/core/money"
)

// Minor is an amount in the smallest unit of its currency. In a request it must be
// a JSON integer; tags on a field narrow its range (minimum:"1").
type Minor int64

// Schema publishes the range.
func (Minor) Schema(huma.Registry) *huma.Schema {
	least, most := 0.0, float64(money.MaxMinor)
	return &huma.Schema{
		Type: huma.TypeInteger, Format: "int64", Minimum: &least, Maximum: &most,
		Description: "Amount in the smallest unit of the currency.",
		Examples:    []any{10050},
	}
}

// Currency is a currency code in a request or a body.
type Currency string

// Schema publishes the form; which codes exist is for core to say.
func (Currency) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeString, Description: "Currency code, in upper case: ISO 4217, or BTC, USDC, USDT, USDB.",
		Pattern: "^[A-Z][A-Z0-9]{2,4}$", PatternDescription: "a currency code in upper case, such as USD or BTC",
		Examples: []any{"USD"},
	}
}

// Country is a country code in a request or a body.
type Country string

// Schema publishes the form.
func (Country) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeString, Description: "Country code of two letters, in upper case (ISO 3166-1 alpha-2).",
		Pattern: "^[A-Z]{2}$", PatternDescription: "a country code of two upper-case letters, such as US",
		Examples: []any{"US"},
	}
}

// Decimal is a rate or a fraction in a body: a JSON number with all its digits,
// which never passes through a float.
type Decimal struct{ Rate money.Rate }

// MarshalJSON writes the digits.
func (d Decimal) MarshalJSON() ([]byte, error) { return []byte(d.Rate.String()), nil }

// IsZero tells whether the number is 0, for fields tagged omitzero.
func (d Decimal) IsZero() bool { return d.Rate.IsZero() }

// Schema says that it is a number. No format: it is none of the binary ones.
func (Decimal) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeNumber, Description: "Exact decimal number; read it with a decimal type.", Examples: []any{rawNumber("0.9975")}}
}

// Time is a moment: written in UTC with Z and milliseconds, read in any offset.
type Time struct{ time.Time }

// timeLayout has three digits always, so that written moments sort as texts do.
const timeLayout = "2006-01-02T15:04:05.000Z"

// NewTime wraps a moment for a body.
func NewTime(t time.Time) Time { return Time{t} }

// MarshalText writes the moment, cut to the millisecond.
func (t Time) MarshalText() ([]byte, error) {
	return t.UTC().AppendFormat(make([]byte, 0, len(timeLayout)), timeLayout), nil
}

// MarshalJSON writes the moment in quotes.
func (t Time) MarshalJSON() ([]byte, error) {
	out := append(make([]byte, 0, len(timeLayout)+2), '"')
	return append(t.UTC().AppendFormat(out, timeLayout), '"'), nil
}

// UnmarshalText reads RFC 3339.
func (t *Time) UnmarshalText(text []byte) error {
	moment, err := time.Parse(time.RFC3339, string(text))
	if err != nil {
		return fmt.Errorf("%s", rules["date-time"].text)
	}
	t.Time = moment.UTC()
	return nil
}

// UnmarshalJSON reads RFC 3339 in quotes. Null is the zero time, and so is what the
// validator reports with the field's name: an error would end the decoding here.
func (t *Time) UnmarshalJSON(data []byte) error {
	if len(data) < 2 || data[0] != '"' {
		return nil
	}
	moment, err := time.Parse(time.RFC3339, string(data[1:len(data)-1]))
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	t.Time = moment.UTC()
	return nil
}

// Schema publishes the form.
func (Time) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Examples: []any{"2025-10-13T09:30:00.000Z"}}
}

// BigMinor is a sum in the smallest unit of its currency: a JSON integer of any size,
// above or below zero.
type BigMinor struct{ money.Total }

// NewBigMinor wraps a sum for a body.
func NewBigMinor(t money.Total) BigMinor { return BigMinor{t} }

// MarshalJSON writes all the digits.
func (w BigMinor) MarshalJSON() ([]byte, error) { return []byte(w.String()), nil }

// Schema says that it is an integer. No format: sums may not fit into 64 bits.
func (BigMinor) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeInteger, Description: "Whole number of the smallest unit of the currency.", Examples: []any{10050}}
}
