package rails

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/settlement"
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
	Schedules  []schedule        `json:"schedules,omitempty"`
	Settings   map[string]string `json:"settings,omitempty"`
}

type limit struct {
	Rail      corridor.Rail  `json:"rail,omitempty"`
	Currency  money.Currency `json:"currency"`
	PerPayout int64          `json:"perPayout,omitempty"`
	PerHour   int64          `json:"perHour,omitempty"`
	PerDay    int64          `json:"perDay,omitempty"`
}

type schedule struct {
	Rail        corridor.Rail       `json:"rail"`
	Zone        string              `json:"zone,omitempty"`
	Calendar    settlement.Calendar `json:"calendar,omitempty"`
	Opens       string              `json:"opens,omitempty"`
	CutOff      string              `json:"cutOff,omitempty"`
	SettlesAt   string              `json:"settlesAt,omitempty"`
	Days        *int                `json:"days,omitempty"`
	Takes       string              `json:"takes,omitempty"` // such as 20s
	Holidays    []string            `json:"holidays,omitempty"`
	WorkingDays []string            `json:"workingDays,omitempty"`
	Hold        bool                `json:"hold,omitempty"`
}

// parse returns the schedule of a file, and false if takes is no duration.
func (s schedule) parse() (rail.Schedule, bool) {
	parsed := rail.Schedule{Rail: s.Rail, Zone: s.Zone, Calendar: s.Calendar, Opens: s.Opens, CutOff: s.CutOff, SettlesAt: s.SettlesAt, Days: s.Days,
		Holidays: s.Holidays, WorkingDays: s.WorkingDays, Hold: s.Hold}
	if s.Takes == "" {
		return parsed, true
	}
	var err error
	parsed.Takes, err = time.ParseDuration(s.Takes)
	return parsed, err == nil && parsed.Takes > 0
}

func scheduleFile(s rail.Schedule) schedule {
	file := schedule{Rail: s.Rail, Zone: s.Zone, Calendar: s.Calendar, Opens: s.Opens, CutOff: s.CutOff, SettlesAt: s.SettlesAt, Days: s.Days,
		Holidays: s.Holidays, WorkingDays: s.WorkingDays, Hold: s.Hold}
	if s.Takes != 0 {
		file.Takes = s.Takes.String()
	}
	return file
}

// ParseConnection returns the connection of a file, or INVALID_INPUT with every bad field.
func ParseConnection(name string, file []byte) (rail.Connection, error) {
	d, bad := decode(file)
	if len(bad) > 0 && bad[0].Field == "file" {
		return rail.Connection{}, fault.Invalid(bad...)
	}
	c := rail.Connection{Name: name, Adapter: d.Adapter, Rails: d.Rails, Currencies: d.Currencies, Countries: d.Countries, Priority: d.Priority, Settings: d.Settings}
	for _, l := range d.Limits {
		c.Limits = append(c.Limits, rail.Limit(l))
	}
	unread := bad
	for i, s := range d.Schedules {
		parsed, ok := s.parse()
		if !ok {
			bad = append(bad, fault.Field{Field: fmt.Sprintf("schedules[%d].takes", i), Message: "must be a duration above zero, such as 20s or 2h"})
		}
		c.Schedules = append(c.Schedules, parsed)
	}
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
	if f, ok := fault.As(c.Check(time.LoadLocation)); ok {
		for _, field := range f.Fields {
			// What could not be read is empty, which is not what is wrong with it.
			if !slices.ContainsFunc(unread, func(u fault.Field) bool { return isWithin(u.Field, field.Field) || isWithin(field.Field, u.Field) }) {
				bad = append(bad, field)
			}
		}
	}
	if len(bad) > 0 {
		return rail.Connection{}, fault.Invalid(bad...)
	}
	return c, nil
}

// isWithin reports whether a field is another one or a part of it, such as limits[0].rail of limits[0].
func isWithin(field, whole string) bool {
	rest, within := strings.CutPrefix(field, whole)
	return within && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// File returns the file of a connection.
func File(c rail.Connection) ([]byte, error) {
	d := document{Adapter: c.Adapter, Rails: c.Rails, Currencies: c.Currencies, Countries: c.Countries, Priority: c.Priority, Settings: c.Settings}
	for _, l := range c.Limits {
		d.Limits = append(d.Limits, limit(l))
	}
	for _, s := range c.Schedules {
		d.Schedules = append(d.Schedules, scheduleFile(s))
	}
	for _, p := range c.Platforms {
		d.Platforms = append(d.Platforms, p.String())
	}
	if !c.Unmatched.IsZero() {
		d.Unmatched = c.Unmatched.String()
	}
	return json.MarshalIndent(d, "", "  ")
}
