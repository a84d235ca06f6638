package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/money"
)

// Minor is an amount in the smallest unit of its currency, a JSON integer. Tags on a
// field can narrow its range (minimum:"1").
type Minor int64

// Schema returns the schema with the range of amounts.
func (Minor) Schema(huma.Registry) *huma.Schema {
	minimum, maximum := 0.0, float64(money.MaxMinor)
	return &huma.Schema{
		Type: huma.TypeInteger, Format: "int64", Minimum: &minimum, Maximum: &maximum,
		Description: "Amount in the smallest unit of the currency.",
		Examples:    []any{10050},
	}
}

// Currency is a currency code in a request or a body.
type Currency string

const currencyPattern = "^[A-Z][A-Z0-9]{2,4}$"

// Schema returns the schema of the form. Core checks whether the currency exists.
func (Currency) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeString, Description: "Currency code in upper case: ISO 4217, or BTC, USDC, USDT, USDB.",
		Pattern: currencyPattern, PatternDescription: "a currency code in upper case, such as USD or BTC",
		Examples: []any{"USD"},
	}
}

// Country is a country code in a request or a body.
type Country string

// Schema returns the schema of the form.
func (Country) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeString, Description: "Country code in upper case (ISO 3166-1 alpha-2).",
		Pattern: "^[A-Z]{2}$", PatternDescription: "a country code of two upper-case letters, such as US",
		Examples: []any{"US"},
	}
}

// Decimal is a rate or a fraction in a body: an exact JSON number that is never
// converted to a float.
type Decimal struct{ Rate money.Rate }

// MarshalJSON returns the exact digits.
func (d Decimal) MarshalJSON() ([]byte, error) { return []byte(d.Rate.String()), nil }

// IsZero reports whether the number is 0, for fields tagged omitzero.
func (d Decimal) IsZero() bool { return d.Rate.IsZero() }

// decimalDigits is what the description says about the digits of a Decimal.
const decimalDigits = "It has up to 34 digits; a double keeps about 15 of them, so use a decimal type to calculate with it."

// Schema returns the schema of a number. Its format is double, because clients generated
// without a format use floats of 32 bits.
func (Decimal) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeNumber, Format: "double", Description: "Exact decimal number. " + decimalDigits,
		Examples: []any{rawNumber("0.9975")}}
}

// Time is a timestamp: written in UTC with milliseconds, read with any offset.
type Time struct{ time.Time }

// timeLayout always has milliseconds, so that timestamps sort as text.
const timeLayout = "2006-01-02T15:04:05.000Z"

// NewTime returns a timestamp for a body.
func NewTime(t time.Time) Time { return Time{t} }

// MarshalText returns the timestamp, truncated to milliseconds.
func (t Time) MarshalText() ([]byte, error) {
	return t.UTC().AppendFormat(make([]byte, 0, len(timeLayout)), timeLayout), nil
}

// MarshalJSON returns the timestamp as a JSON string.
func (t Time) MarshalJSON() ([]byte, error) {
	out := append(make([]byte, 0, len(timeLayout)+2), '"')
	return append(t.UTC().AppendFormat(out, timeLayout), '"'), nil
}

// UnmarshalText parses an RFC 3339 timestamp.
func (t *Time) UnmarshalText(text []byte) error {
	parsed, err := time.Parse(time.RFC3339, string(text))
	if err != nil {
		return errors.New(rules["date-time"].text)
	}
	return t.set(parsed)
}

// set sets the timestamp, unless its year in UTC has not four digits: such a timestamp could
// neither be stored nor returned.
func (t *Time) set(parsed time.Time) error {
	utc := parsed.UTC()
	if utc.Year() < 1 || utc.Year() > 9999 {
		return errors.New("must be a timestamp in the years 1 to 9999 in UTC")
	}
	t.Time = utc
	return nil
}

// UnmarshalJSON parses an RFC 3339 timestamp. Null and invalid values become the zero
// time: the schema validator has reported them with the name of the field, and an error
// would stop the decoding. The validator accepts years that set refuses.
func (t *Time) UnmarshalJSON(data []byte) error {
	if len(data) < 2 || data[0] != '"' {
		return nil
	}
	parsed, err := time.Parse(time.RFC3339, string(data[1:len(data)-1]))
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	if err := t.set(parsed); err != nil {
		return &invalidText{string(data[1 : len(data)-1]), err.Error()}
	}
	return nil
}

// Schema returns the schema of a timestamp.
func (Time) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Examples: []any{"2025-10-13T09:30:00.000Z"}}
}

// BigMinor is an amount in the smallest unit of its currency, a JSON integer of any size
// and sign.
type BigMinor struct{ money.Total }

// NewBigMinor returns an amount for a body.
func NewBigMinor(t money.Total) BigMinor { return BigMinor{t} }

// MarshalJSON returns the exact digits.
func (m BigMinor) MarshalJSON() ([]byte, error) { return []byte(m.String()), nil }

// Schema returns the schema of an integer, without a format because it may exceed 64
// bits.
func (BigMinor) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeInteger, Description: "Amount in the smallest unit of the currency. It may exceed 64 bits.",
		Examples: []any{10050}}
}

// identifier is implemented by all ids of package ident.
type identifier[T any] interface {
	comparable
	Parse(text string) (T, error)
	Prefix() string
	String() string
	UUID() uuid.UUID
	IsZero() bool
}

// ID is an id in a path, a query or a body, in the form <Type>:<uuid>. Any other form is
// refused before the operation is called.
type ID[T identifier[T]] struct{ Value T }

// NewID returns an id for a body. The zero id is omitted from a field tagged omitzero.
func NewID[T identifier[T]](id T) ID[T] { return ID[T]{Value: id} }

// IsZero reports whether there is no id.
func (id ID[T]) IsZero() bool { return id.Value.IsZero() }

// MarshalText returns the id as text.
func (id ID[T]) MarshalText() ([]byte, error) { return []byte(id.Value.String()), nil }

// UnmarshalText parses an id. The error states the required form.
func (id *ID[T]) UnmarshalText(text []byte) error {
	value, err := id.Value.Parse(string(text))
	if err != nil {
		return fmt.Errorf("must be an id of the form %s:<uuid>", id.Value.Prefix())
	}
	id.Value = value
	return nil
}

// UnmarshalJSON parses an id in a body. Null and invalid values become the zero id: the
// schema validator has reported them with the name of the field, and an error would stop
// the decoding. Only the nil UUID matches the pattern and is still invalid.
func (id *ID[T]) UnmarshalJSON(data []byte) error {
	if len(data) < 2 || data[0] != '"' {
		return nil
	}
	text := data[1 : len(data)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		var plain string
		if err := json.Unmarshal(data, &plain); err != nil {
			return nil //nolint:nilerr // see above
		}
		text = []byte(plain)
	}
	if err := id.UnmarshalText(text); err != nil && bytes.HasSuffix(text, []byte(uuid.Nil.String())) {
		return &invalidText{string(text), err.Error()}
	}
	return nil
}

const uuidPattern = "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"

// Schema returns the schema of the id.
func (id ID[T]) Schema(huma.Registry) *huma.Schema {
	prefix := id.Value.Prefix()
	return &huma.Schema{
		Type:               huma.TypeString,
		Description:        "Id of the form " + prefix + ":<uuid>.",
		Pattern:            "^" + prefix + ":" + uuidPattern,
		PatternDescription: "an id of the form " + prefix + ":<uuid>",
		Examples:           []any{prefix + ":0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"},
	}
}

var _ huma.SchemaProvider = ID[ident.Customer]{}
