package cli

import (
	"cmp"
	"context"
	"reflect"
	"strconv"
	"strings"
	"time"

	"causeway/adapters/cli/table"
	"causeway/app/rails"
	"causeway/core/settlement"
)

type railsCalendarCommand struct {
	DatabaseFlags
	outputFlag
	Name string `arg:"" help:"Name of a connection, or a rail such as SEPA for its usual schedule."`
	Year int    `help:"Year of the holidays; the present one if it is omitted." placeholder:"YEAR"`
}

func (c railsCalendarCommand) Run(ctx context.Context, env *Env) error {
	return c.withRails(ctx, env, func(service *rails.Service) error {
		calendars, err := service.Calendars(ctx, c.Name, c.Year)
		if err != nil {
			return settingErrors("there is nothing to show", err)
		}
		var page table.Page
		page.Table("schedules", schedulesTable(calendars), "")
		days := table.New("rail", "date", "day", "state", "why")
		for i, shown := range calendars {
			addYear(&page, calendars[:i], shown)
			for _, day := range shown.Exceptions {
				days.Add(shown.Rail, day.Date.Format(time.DateOnly), day.Date.Weekday(), openOrClosed[day.Open], day.Why)
			}
		}
		page.Data("days", days)
		return c.print(env, &page)
	})
}

func schedulesTable(calendars []rails.RailCalendar) *table.Table {
	t := table.New("rail", "calendar", "zone", "opens", "cut-off", "settles", "held back", "executed now (UTC)", "settled (UTC)")
	for _, c := range calendars {
		s := c.Schedule
		held := "no"
		if s.Hold {
			held = "yes"
		}
		t.Add(c.Rail, s.Calendar, s.Zone, cmp.Or(s.Opens, "00:00"), cmp.Or(s.CutOff, "none"), settlesText(s), held, table.Minute(c.Executed),
			table.Minute(c.Settled))
	}
	return t
}

func settlesText(s settlement.Schedule) string {
	switch {
	case s.SettlesAt == "":
		return "after " + s.Takes.String()
	case s.Days == 0:
		return "same day, " + s.SettlesAt
	case s.Days == 1:
		return "1 day later, " + s.SettlesAt
	default:
		return strconv.Itoa(s.Days) + " days later, " + s.SettlesAt
	}
}

var openOrClosed = map[bool]string{true: "open", false: "closed"}

// addYear adds for people the business days of a rail in a year, unless one before has the same.
func addYear(page *table.Page, before []rails.RailCalendar, c rails.RailCalendar) {
	page.Line("\n%s has %d business days in %d. Calendar: %s.", c.Rail, c.BusinessDays, c.Year, c.Schedule.Calendar.Source())
	for _, earlier := range before {
		if len(c.Exceptions) > 0 && earlier.Schedule.Calendar == c.Schedule.Calendar && reflect.DeepEqual(earlier.Exceptions, c.Exceptions) {
			page.Line("The days are those of %s.", earlier.Rail)
			return
		}
	}
	if len(c.Exceptions) == 0 {
		return
	}
	t := table.New("date", "day", "|state", "why")
	for _, day := range c.Exceptions {
		t.Add(day.Date.Format(time.DateOnly), day.Date.Weekday(), openOrClosed[day.Open], day.Why)
	}
	page.Line("%s", strings.Join(t.Lines(), "\n"))
}
