package rail

import (
	"fmt"
	"slices"
	"time"

	"causeway/core/corridor"
	"causeway/core/settlement"
)

// Schedule is what differs for payments of a rail from settlement.DefaultFor. What is empty does not differ.
type Schedule struct {
	Rail      corridor.Rail
	Zone      string
	Calendar  settlement.Calendar
	Opens     string
	CutOff    string
	SettlesAt string
	Days      *int
	// Takes is how long a payment takes from its execution; it replaces the days and the time of the settlement.
	Takes       time.Duration
	Holidays    []string
	WorkingDays []string
	Hold        bool
}

// Zones finds a time zone by its name.
type Zones = func(name string) (*time.Location, error)

// ScheduleOf returns when the connection executes and settles payments of a rail.
func (c Connection) ScheduleOf(r corridor.Rail) settlement.Schedule {
	s := settlement.DefaultFor(r)
	if i := slices.IndexFunc(c.Schedules, func(own Schedule) bool { return own.Rail == r }); i >= 0 {
		return c.Schedules[i].over(s)
	}
	return s
}

// over returns a schedule with what differs.
func (own Schedule) over(s settlement.Schedule) settlement.Schedule {
	replace(&s.Zone, own.Zone)
	replace(&s.Calendar, own.Calendar)
	replace(&s.Opens, own.Opens)
	replace(&s.CutOff, own.CutOff)
	if own.Takes != 0 {
		s.Takes, s.Days, s.SettlesAt = own.Takes, 0, ""
	}
	replace(&s.SettlesAt, own.SettlesAt)
	if own.Days != nil {
		s.Days = *own.Days
	}
	s.Holidays, s.WorkingDays, s.Hold = own.Holidays, own.WorkingDays, own.Hold
	return s
}

func replace[T ~string](value *T, own T) {
	if own != "" {
		*value = own
	}
}

// Timetable returns the timetable of the schedules of the connection.
func (c Connection) Timetable(zones Zones) (*settlement.Timetable, error) {
	var all []settlement.Schedule
	for _, s := range c.Schedules {
		all = append(all, c.ScheduleOf(s.Rail))
	}
	return settlement.NewTimetable(zones, all...)
}

func (c Connection) checkSchedule(i int, zones Zones, refuse func(field, format string, args ...any)) {
	s, field := c.Schedules[i], fmt.Sprintf("schedules[%d]", i)
	switch {
	case !slices.Contains(c.Rails, s.Rail):
		refuse(field+".rail", "must be one of rails")
	case slices.IndexFunc(c.Schedules, func(other Schedule) bool { return other.Rail == s.Rail }) < i:
		refuse(field+".rail", "has a schedule already")
	}
	if s.Takes != 0 && (s.SettlesAt != "" || s.Days != nil) {
		refuse(field+".takes", "must not be given with days or settlesAt")
	}
	for _, bad := range s.over(settlement.DefaultFor(s.Rail)).Check(field+".", zones) {
		refuse(bad.Field, "%s", bad.Message)
	}
}
