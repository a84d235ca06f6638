package rails

import (
	"context"
	"fmt"
	"time"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/rail"
	"causeway/core/settlement"
)

// The years of which the days can be shown.
const (
	minYear = 2000
	maxYear = 2200
)

// RailCalendar is when payments of a rail are executed and settled.
type RailCalendar struct {
	Rail     corridor.Rail
	Schedule settlement.Schedule
	// Executed and Settled are when a payment that is handed over now is.
	Executed, Settled time.Time
	// Exceptions and BusinessDays are those of Year.
	Year         int
	Exceptions   []settlement.Day
	BusinessDays int
}

// Calendars returns the calendars of a connection, or that of a rail without a connection, for a year; of the present one if
// it is zero. INVALID_INPUT: there is none with the name, or the year is out of range.
func (s *Service) Calendars(ctx context.Context, name string, year int) ([]RailCalendar, error) {
	now := s.Clock.Now()
	if year == 0 {
		year = now.UTC().Year()
	}
	if year < minYear || year > maxYear {
		return nil, fault.Invalid(fault.Field{Field: "year", Message: fmt.Sprintf("must be from %d to %d", minYear, maxYear)})
	}
	c := rail.Connection{Rails: []corridor.Rail{corridor.Rail(name)}}
	if !c.Rails[0].Known() {
		shown, err := s.Show(ctx, name)
		if err != nil {
			return nil, err
		}
		c = shown.Connection
	}
	times, err := c.Timetable(time.LoadLocation)
	if err != nil {
		return nil, err
	}
	all := make([]RailCalendar, len(c.Rails))
	for i, r := range c.Rails {
		schedule := c.ScheduleOf(r)
		all[i] = RailCalendar{Rail: r, Schedule: schedule, Executed: times.ExecutedAt(schedule, now), Settled: times.SettlesAt(schedule, now),
			Year: year, Exceptions: schedule.Exceptions(year), BusinessDays: schedule.BusinessDays(year)}
	}
	return all, nil
}
