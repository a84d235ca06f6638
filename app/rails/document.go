package rails

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
)

// MaxFile is the largest file of a connection, in bytes.
const MaxFile = 1 << 20

// document is the file of a connection.
type document struct {
	Adapter    rail.Adapter      `json:"adapter"`
	Rails      []corridor.Rail   `json:"rails"`
	Currencies []money.Currency  `json:"currencies"`
	Countries  []string          `json:"countries,omitempty"`
	Platforms  []string          `json:"platforms,omitempty"`
	Unmatched  string            `json:"unmatched,omitempty"`
	Priority   int               `json:"priority,omitempty"`
	Limits     []limit           `json:"limits,omitempty"`
	Settings   map[string]string `json:"settings,omitempty"`
}

type limit struct {
	Rail      corridor.Rail  `json:"rail,omitempty"`
	Currency  money.Currency `json:"currency"`
	PerPayout int64          `json:"perPayout,omitempty"`
	PerHour   int64          `json:"perHour,omitempty"`
	PerDay    int64          `json:"perDay,omitempty"`
}

// ParseConnection returns the connection of a file, or INVALID_INPUT with every bad field.
func ParseConnection(name string, file []byte) (rail.Connection, error) {
	var d document
	decoder := json.NewDecoder(bytes.NewReader(file))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&d)
	if err == nil {
		if _, more := decoder.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more than one value")
		}
	}
	if err != nil {
		return rail.Connection{}, fault.Invalid(fault.Field{Field: "file", Message: fmt.Sprintf("must be the JSON object of a connection: %v", err)})
	}
	c := rail.Connection{Name: name, Adapter: d.Adapter, Rails: d.Rails, Currencies: d.Currencies, Countries: d.Countries, Priority: d.Priority, Settings: d.Settings}
	for _, l := range d.Limits {
		c.Limits = append(c.Limits, rail.Limit(l))
	}
	var bad []fault.Field
	parse := func(field, text string) (p ident.Platform) {
		p, err := ident.ParsePlatform(text)
		if err != nil {
			bad = append(bad, fault.Field{Field: field, Message: "must be the id of a platform; list them with: causeway platform list"})
		}
		return p
	}
	for i, text := range d.Platforms {
		if p := parse(fmt.Sprintf("platforms[%d]", i), text); !p.IsZero() {
			c.Platforms = append(c.Platforms, p)
		}
	}
	if d.Unmatched != "" {
		c.Unmatched = parse("unmatched", d.Unmatched)
	}
	if f, ok := fault.As(c.Check()); ok {
		bad = append(bad, f.Fields...)
	}
	if len(bad) > 0 {
		return rail.Connection{}, fault.Invalid(bad...)
	}
	return c, nil
}

// File returns the file of a connection.
func File(c rail.Connection) ([]byte, error) {
	d := document{Adapter: c.Adapter, Rails: c.Rails, Currencies: c.Currencies, Countries: c.Countries, Priority: c.Priority, Settings: c.Settings}
	for _, l := range c.Limits {
		d.Limits = append(d.Limits, limit(l))
	}
	for _, p := range c.Platforms {
		d.Platforms = append(d.Platforms, p.String())
	}
	if !c.Unmatched.IsZero() {
		d.Unmatched = c.Unmatched.String()
	}
	return json.MarshalIndent(d, "", "  ")
}
