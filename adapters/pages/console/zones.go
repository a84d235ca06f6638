package console

import (
	"html/template"
	"strings"
	"sync"
	"time"

	"causeway/core/period"
	"causeway/core/person"
)

// zone is how pages show times to the people of one time zone.
type zone struct {
	name      string
	location  *time.Location
	templates *template.Template
}

// maxZones bounds the zones that are kept: each has templates of its own.
const maxZones = 64

// zones are those that were used last.
var zones = struct {
	sync.Mutex
	byName map[string]*zone
}{byName: map[string]*zone{}}

// zoneOf returns the time zone of a person. One that is no longer known is UTC.
func zoneOf(p person.Person) (*zone, error) {
	name := p.Zone()
	zones.Lock()
	defer zones.Unlock()
	if z, ok := zones.byName[name]; ok {
		return z, nil
	}
	location, err := time.LoadLocation(name)
	if err != nil {
		name, location = person.UTC, time.UTC
	}
	parsed, err := templates()
	if err != nil {
		return nil, err
	}
	z := &zone{name: name, location: location}
	if z.templates, err = parsed.Clone(); err != nil {
		return nil, err
	}
	z.templates.Funcs(template.FuncMap{"moment": z.moment, "zone": func() string { return name }})
	for other := range zones.byName {
		if len(zones.byName) < maxZones {
			break
		}
		delete(zones.byName, other)
	}
	zones.byName[name] = z
	return z, nil
}

// zone returns the time zone of the person who has sent a request.
func (r *request) zone() *zone {
	if z, err := zoneOf(r.in.Person); err == nil {
		return z
	}
	return &zone{name: person.UTC, location: time.UTC}
}

// moment returns a time as people read it; empty for none.
func (z *zone) moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(z.location).Format("2006-01-02 15:04:05 MST")
}

// timeForm is that of a field for a time, in the zone of the person.
const timeForm = "2006-01-02T15:04"

// edge is which of two times a minute is that occurs twice, because clocks are put back.
type edge bool

const (
	first edge = false
	last  edge = true
)

// parse returns the time that was entered, or why it is none. A minute that does not occur, because clocks are put forward, is none.
func (z *zone) parse(text string, e edge) (found time.Time, problem string) {
	guess, err := time.ParseInLocation(timeForm, text, z.location)
	if err != nil {
		return found, "must be a date and a time, such as 2026-03-14T09:30, in the zone " + z.name
	}
	for shift := -2 * time.Hour; shift <= 2*time.Hour; shift += 15 * time.Minute {
		if t := guess.Add(shift); t.Format(timeForm) == text && (found.IsZero() || e == last) {
			found = t
		}
	}
	if found.IsZero() {
		problem = "does not occur in the zone " + z.name + ": clocks are put forward then"
	}
	return found.UTC(), problem
}

// interval returns the one of the fields from and to, whose minutes are part of it, and what is wrong with them.
func (z *zone) interval(get func(name string) string) (i period.Interval, problems []string) {
	for _, f := range []struct {
		name string
		edge edge
		at   *time.Time
	}{{"from", first, &i.From}, {"to", last, &i.To}} {
		if text := get(f.name); text != "" {
			var problem string
			if *f.at, problem = z.parse(text, f.edge); problem != "" {
				problems = append(problems, capital(f.name)+" "+problem+".")
			}
		}
	}
	if !i.To.IsZero() {
		if i.To = i.To.Add(time.Minute); !i.From.Before(i.To) {
			problems = append(problems, "From must not be after To.")
		}
	}
	return i, problems
}

// field returns a field for a time in the zone.
func (z *zone) field(name, label, value string) field {
	return field{Name: name, Label: label + " (" + z.name + ")", Kind: "datetime-local", Value: value}
}

// timeMark begins and ends a time in a text of a page. A text that comes from the database or a form has no NUL.
const timeMark = "\x00"

// moment returns a time as a part of a text, which pages show in the zone of the person; empty for none.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return timeMark + rfc3339(t) + timeMark
}

// piece is a part of a text: a time, if it is set.
type piece struct {
	Text string
	At   time.Time
}

// pieces splits a text at its times.
func pieces(text string) (all []piece) {
	for i, part := range strings.Split(text, timeMark) {
		at, err := time.Parse(time.RFC3339Nano, part)
		if i%2 == 1 && err == nil {
			all = append(all, piece{At: at})
		} else if part != "" {
			all = append(all, piece{Text: part})
		}
	}
	return all
}
