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

// ExecutedAt returns when a payment that is handed over at a time is executed: at once on a business day before the
// cut-off, else at the beginning of the next business day.
func (t *Timetable) ExecutedAt(s Schedule, at time.Time) time.Time {
	local := at.In(t.zone(s))
	if s.isBusinessDay(local) && !s.isPastCutOff(local) {
		return at
	}
	return s.addBusinessDays(local, 1).UTC()
}

// SettlesAt returns when the beneficiary is expected to have a payment that is handed over at a time.
func (t *Timetable) SettlesAt(s Schedule, at time.Time) time.Time {
	executed := t.ExecutedAt(s, at)
	atDay, fixed := timeOfDay(s.SettlesAt)
	if !fixed {
		return executed.Add(s.Takes)
	}
	day := executed.In(t.zone(s))
	if s.Days > 0 {
		day = s.addBusinessDays(day, s.Days)
	}
	if settled := onDay(day, atDay); !settled.Before(executed) {
		return settled.UTC()
	}
	return onDay(s.addBusinessDays(day, 1), atDay).UTC()
}

func (t *Timetable) zone(s Schedule) *time.Location {
	if zone := t.zones[s.Zone]; zone != nil {
		return zone
	}
	return time.UTC // a schedule that the timetable was not made for
}

func (s Schedule) isPastCutOff(local time.Time) bool {
	cutOff, some := timeOfDay(s.CutOff)
	return some && !local.Before(onDay(local, cutOff))
}

func (s Schedule) isBusinessDay(local time.Time) bool {
	return s.Calendar.isBusinessDay(local) && !slices.Contains(s.Holidays, local.Format(time.DateOnly))
}

// addBusinessDays returns the beginning of the nth business day after the day of a time.
func (s Schedule) addBusinessDays(local time.Time, n int) time.Time {
	day := onDay(local, 0)
	for range maxClosedDays {
		if day = onDay(day.AddDate(0, 0, 1), 0); s.isBusinessDay(day) {
			if n--; n == 0 {
				break
			}
		}
	}
	return day
}

// onDay returns a time of day, by the clock, on the day of a time.
func onDay(local time.Time, atDay time.Duration) time.Time {
	year, month, day := local.Date()
	return time.Date(year, month, day, int(atDay/time.Hour), int(atDay%time.Hour/time.Minute), 0, 0, local.Location())
}
