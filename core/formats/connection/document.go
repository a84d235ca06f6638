// Package connection has the form of a connection to a partner in files and in storage: JSON.
package connection

import (
	"errors"
	"fmt"
	"time"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/settlement"
)

// Document is a connection as JSON, without its name: in a file, or as it is stored. D is a duration as text, such as 20s; empty
// for none.
type Document[D ~string] struct {
	Adapter    rail.Adapter      `json:"adapter"`
	Rails      []corridor.Rail   `json:"rails"`
	Currencies []money.Currency  `json:"currencies"`
	Countries  []string          `json:"countries,omitempty"`
	Platforms  []string          `json:"platforms,omitempty"`
	Unmatched  string            `json:"unmatched,omitempty"`
	Priority   int               `json:"priority,omitempty"`
	Limits     []Limit           `json:"limits,omitempty"`
	Schedules  []Schedule[D]     `json:"schedules,omitempty"`
	Settings   map[string]string `json:"settings,omitempty"`
}

// Limit is a Limit in a document.
type Limit struct {
	Rail      corridor.Rail  `json:"rail,omitempty"`
	Currency  money.Currency `json:"currency"`
	PerPayout int64          `json:"perPayout,omitempty"`
	PerHour   int64          `json:"perHour,omitempty"`
	PerDay    int64          `json:"perDay,omitempty"`
}

// Schedule is a Schedule in a document.
type Schedule[D ~string] struct {
	Rail        corridor.Rail       `json:"rail"`
	Zone        string              `json:"zone,omitempty"`
	Calendar    settlement.Calendar `json:"calendar,omitempty"`
	Opens       string              `json:"opens,omitempty"`
	CutOff      string              `json:"cutOff,omitempty"`
	SettlesAt   string              `json:"settlesAt,omitempty"`
	Days        *int                `json:"days,omitempty"`
	Takes       D                   `json:"takes,omitempty"`
	Holidays    []string            `json:"holidays,omitempty"`
	WorkingDays []string            `json:"workingDays,omitempty"`
	Hold        bool                `json:"hold,omitempty"`
}

// NewDocument returns the document of a connection.
func NewDocument[D ~string](c rail.Connection) Document[D] {
	d := Document[D]{Adapter: c.Adapter, Rails: c.Rails, Currencies: c.Currencies, Countries: c.Countries, Priority: c.Priority,
		Settings: c.Settings}
	for _, l := range c.Limits {
		d.Limits = append(d.Limits, Limit(l))
	}
	for _, s := range c.Schedules {
		d.Schedules = append(d.Schedules, Schedule[D]{
			Rail: s.Rail, Zone: s.Zone, Calendar: s.Calendar, Opens: s.Opens, CutOff: s.CutOff, SettlesAt: s.SettlesAt, Days: s.Days,
			Takes: FormatDuration[D](s.Takes), Holidays: s.Holidays, WorkingDays: s.WorkingDays, Hold: s.Hold,
		})
	}
	for _, p := range c.Platforms {
		d.Platforms = append(d.Platforms, p.String())
	}
	if !c.Unmatched.IsZero() {
		d.Unmatched = c.Unmatched.String()
	}
	return d
}

// Read sets what the document has of a connection. It passes what cannot be read, by the name of its field, and leaves
// it out.
func (d Document[D]) Read(c *rail.Connection, bad func(field string, err error)) {
	c.Adapter, c.Rails, c.Currencies, c.Countries = d.Adapter, d.Rails, d.Currencies, d.Countries
	c.Priority, c.Settings = d.Priority, d.Settings
	for _, l := range d.Limits {
		c.Limits = append(c.Limits, rail.Limit(l))
	}
	for i, s := range d.Schedules {
		takes, err := parseDuration(string(s.Takes))
		if err != nil {
			bad(fmt.Sprintf("schedules[%d].takes", i), err)
		}
		c.Schedules = append(c.Schedules, rail.Schedule{
			Rail: s.Rail, Zone: s.Zone, Calendar: s.Calendar, Opens: s.Opens, CutOff: s.CutOff, SettlesAt: s.SettlesAt, Days: s.Days,
			Takes: takes, Holidays: s.Holidays, WorkingDays: s.WorkingDays, Hold: s.Hold,
		})
	}
	for i, text := range d.Platforms {
		p, err := ident.ParsePlatform(text)
		if err != nil {
			bad(fmt.Sprintf("platforms[%d]", i), err)
			continue
		}
		c.Platforms = append(c.Platforms, p)
	}
	if d.Unmatched != "" {
		var err error
		if c.Unmatched, err = ident.ParsePlatform(d.Unmatched); err != nil {
			bad("unmatched", err)
		}
	}
}

// FormatDuration returns a duration as text.
func FormatDuration[D ~string](d time.Duration) D {
	if d == 0 {
		return ""
	}
	return D(d.String())
}

func parseDuration(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err == nil && d <= 0 {
		err = errors.New("not above zero")
	}
	return d, err
}
