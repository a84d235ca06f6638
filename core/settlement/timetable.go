package settlement

import (
	"fmt"
	"slices"
	"time"

	"causeway/core/corridor"
)

// Timetable answers when payments are executed and settled. It is never changed.
type Timetable struct {
	zones map[string]*time.Location
}

// NewTimetable returns a timetable of the schedules of all rails and of others; zone finds a time zone by its name.
func NewTimetable(zone func(name string) (*time.Location, error), others ...Schedule) (*Timetable, error) {
	t := &Timetable{zones: map[string]*time.Location{}}
	for _, rail := range corridor.Rails() {
		others = append(others, DefaultFor(rail))
	}
	for _, s := range others {
		if t.zones[s.Zone] != nil {
			continue
		}
		found, err := zone(s.Zone)
		if err != nil {
			return nil, fmt.Errorf("time zone %q: %w", s.Zone, err)
		}
		t.zones[s.Zone] = found
	}
	return t, nil
}

// maxClosedDays bounds the search for a business day: no calendar is closed for so long.
const maxClosedDays = 2 * maxHolidays

// ExecutedAt returns when a payment that is handed over at a time is executed: at once on a business day from its opening to
// the cut-off, else when the next business day opens.
func (t *Timetable) ExecutedAt(s Schedule, at time.Time) time.Time {
	zone := t.zone(s)
	date := dateOf(at.In(zone))
	if s.isBusinessDay(date) {
		if opens := s.opensOn(date, zone); at.Before(opens) {
			if !s.isPastCutOff(opens, date, zone) { // the clocks may skip all of its hours
				return opens.UTC()
			}
		} else if !s.isPastCutOff(at, date, zone) {
			return at
		}
	}
	return s.nextOpening(date, zone).UTC()
}

// IsClosed reports whether payments that are handed over at a time have to wait, and until when.
func (t *Timetable) IsClosed(s Schedule, at time.Time) (opens time.Time, closed bool) {
	if !s.Hold {
		return time.Time{}, false
	}
	opens = t.ExecutedAt(s, at)
	return opens.In(t.zone(s)), !opens.Equal(at)
}

// SettlesAt returns when the beneficiary is expected to have a payment that is handed over at a time.
func (t *Timetable) SettlesAt(s Schedule, at time.Time) time.Time {
	executed := t.ExecutedAt(s, at)
	atDay, fixed := timeOfDay(s.SettlesAt)
	zone := t.zone(s)
	if !fixed {
		settled := executed.Add(s.Takes)
		if date := dateOf(settled.In(zone)); !s.isBusinessDay(date) {
			return s.nextOpening(date, zone).UTC()
		}
		return settled
	}
	date := s.addBusinessDays(dateOf(executed.In(zone)), s.Days)
	if settled := clockOn(date, atDay, zone); !settled.Before(executed) {
		return settled.UTC()
	}
	return clockOn(s.addBusinessDays(date, 1), atDay, zone).UTC()
}

// ExecutionDate returns the day, at midnight of UTC, on which a payment that is handed over at a time is executed.
func (t *Timetable) ExecutionDate(s Schedule, at time.Time) time.Time {
	return dateOf(t.ExecutedAt(s, at).In(t.zone(s)))
}

func (t *Timetable) zone(s Schedule) *time.Location {
	if zone := t.zones[s.Zone]; zone != nil {
		return zone
	}
	return time.UTC // a schedule that the timetable was not made for
}

func (s Schedule) opensOn(date time.Time, zone *time.Location) time.Time {
	opens, _ := timeOfDay(s.Opens)
	return clockOn(date, opens, zone)
}

func (s Schedule) isPastCutOff(at, date time.Time, zone *time.Location) bool {
	cutOff, some := timeOfDay(s.CutOff)
	return some && !at.Before(clockOn(date, cutOff, zone))
}

// nextOpening returns when the first business day after a date opens. If the clocks skip all hours of a day, it is the
// next one.
func (s Schedule) nextOpening(date time.Time, zone *time.Location) time.Time {
	date = s.addBusinessDays(date, 1)
	opens := s.opensOn(date, zone)
	if s.isPastCutOff(opens, date, zone) {
		opens = s.opensOn(s.addBusinessDays(date, 1), zone)
	}
	return opens
}

func (s Schedule) isBusinessDay(date time.Time) bool { return s.closedBy(date) == "" }

// closedBy returns why nothing is executed on a date; empty on a business day.
func (s Schedule) closedBy(date time.Time) string {
	day := date.Format(time.DateOnly)
	switch {
	case slices.Contains(s.Holidays, day):
		return "holiday of the partner"
	case slices.Contains(s.WorkingDays, day):
		return ""
	}
	return s.Calendar.closedBy(date)
}

// addBusinessDays returns the nth business day after a date; the date itself for none.
func (s Schedule) addBusinessDays(date time.Time, n int) time.Time {
	for range maxClosedDays {
		if n == 0 {
			break
		}
		if date = date.AddDate(0, 0, 1); s.isBusinessDay(date) {
			n--
		}
	}
	return date
}

// dateOf returns the date that a time shows, at midnight of UTC, in which every day has 24 hours.
func dateOf(local time.Time) time.Time {
	year, month, day := local.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// clockOn returns the first time at which the clocks of a zone show a time of day on a date or, if they skip it, a later one.
func clockOn(date time.Time, atDay time.Duration, zone *time.Location) time.Time {
	year, month, day := date.Date()
	at := time.Date(year, month, day, int(atDay/time.Hour), int(atDay%time.Hour/time.Minute), 0, 0, zone)
	start, end := at.ZoneBounds()
	hour, minute, _ := at.Clock()
	shown := dateOf(at).Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute)
	switch wanted := date.Add(atDay); {
	case shown.Before(wanted): // skipped
		return end
	case shown.After(wanted):
		return start
	case start.IsZero():
		return at
	}
	_, before := start.Add(-time.Second).Zone()
	_, offset := at.Zone()
	if first := at.Add(time.Duration(offset-before) * time.Second); first.Before(start) {
		return first // the clocks were set back, and show it twice
	}
	return at
}
