package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"time"

	"causeway/app/rails"
	"causeway/core/settlement"
)

type railsCalendarCommand struct {
	databaseFlags
	Name string `arg:"" help:"Name of a connection, or a rail such as SEPA for its usual schedule."`
	Year int    `help:"Year of the holidays; the present one if it is omitted." placeholder:"YEAR"`
}

func (c railsCalendarCommand) Run(ctx context.Context, out io.Writer) error {
	return c.withRails(ctx, func(service *rails.Service) error {
		calendars, err := service.Calendars(ctx, c.Name, c.Year)
		if err != nil {
			return settingErrors("there is nothing to show", err)
		}
		if err := writeSchedules(out, calendars); err != nil {
			return err
		}
		for i, shown := range calendars {
			if err := writeYear(out, calendars[:i], shown); err != nil {
				return err
			}
		}
		return nil
	})
}

func writeSchedules(out io.Writer, calendars []rails.RailCalendar) error {
	var t table
	for _, c := range calendars {
		s := c.Schedule
		held := "no"
		if s.Hold {
			held = "yes"
		}
		t.add(string(c.Rail), string(s.Calendar), s.Zone, cmp.Or(s.Opens, "00:00"), cmp.Or(s.CutOff, "none"), settlesText(s), held, formatMinute(c.Executed), formatMinute(c.Settled))
	}
	return t.write(out, "rail", "calendar", "zone", "opens", "cut-off", "settles", "held back", "executed now (UTC)", "settled (UTC)")
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

// writeYear writes the business days of a rail in a year, unless one before has the same.
func writeYear(out io.Writer, before []rails.RailCalendar, c rails.RailCalendar) error {
	if _, err := fmt.Fprintf(out, "\n%s has %d business days in %d. Calendar: %s.\n", c.Rail, c.BusinessDays, c.Year, c.Schedule.Calendar.Source()); err != nil {
		return err
	}
	for _, earlier := range before {
		if len(c.Exceptions) > 0 && earlier.Schedule.Calendar == c.Schedule.Calendar && reflect.DeepEqual(earlier.Exceptions, c.Exceptions) {
			_, err := fmt.Fprintf(out, "The days are those of %s.\n", earlier.Rail)
			return err
		}
	}
	if len(c.Exceptions) == 0 {
		return nil
	}
	var t table
	for _, day := range c.Exceptions {
		t.add(day.Date.Format(time.DateOnly), day.Date.Weekday().String(), map[bool]string{true: "open", false: "closed"}[day.Open], day.Why)
	}
	return t.write(out, "date", "day", "", "why")
}
