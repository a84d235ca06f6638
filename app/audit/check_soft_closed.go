package audit

import (
	"context"
	"time"

	"causeway/core/ident"
	"causeway/core/period"
	"causeway/ports"
)

// checkSoftClosed goes through what was done to the months of a platform, and between each of
// it and the next looks for postings that the months did not take then: effective in a
// held month with nobody's authorisation, or before the first month. What came into a
// closed month is found by number, beside what was kept of it.
func checkSoftClosed(ctx context.Context, view ports.AuditView, report *Report, platform ident.Platform, months ports.AuditMonths) error {
	changes, err := view.MonthChanges(ctx, platform)
	if err != nil {
		return err
	}
	var calendar period.Calendar
	for i, change := range changes {
		report.countChecked(RuleSoftClosedMonths)
		next, err := calendar.Apply(change.Action, change.Month, change.At)
		if err != nil {
			report.addFinding(RuleSoftClosedMonths, "on %s it is said that of %s to %s was done at %s, which cannot be: %s",
				platform, change.Month, change.Action, change.At.Format(time.DateTime), err)
			return nil
		}
		if calendar = next; !calendar.Started() {
			continue
		}
		many, first, err := view.Unauthorised(ctx, platform, newCalendarInForce(calendar, changes[i:]))
		if err != nil {
			return err
		}
		if many > 0 {
			report.addFinding(RuleSoftClosedMonths, "%d postings on %s are effective before %s, which was the first month that was not held from %s on, and nobody authorised them; the first is number %d",
				many, platform, calendar.FirstOpen, change.At.Format(time.DateTime), first)
		}
	}
	if calendar.FirstUnclosed != months.FirstUnclosed || calendar.FirstOpen != months.FirstOpen {
		report.addFinding(RuleSoftClosedMonths, "by what was done to them, the months of %s are %s; the clock says %s",
			platform, describeCalendar(calendar), describeCalendar(period.Calendar{FirstUnclosed: months.FirstUnclosed, FirstOpen: months.FirstOpen}))
	}
	return nil
}

// newCalendarInForce is the calendar from the first of the changes to the one after it. A
// posting recorded at the very time of a change was recorded before it.
func newCalendarInForce(c period.Calendar, changes []period.Change) ports.AuditCalendar {
	inForce := ports.AuditCalendar{Recorded: period.Interval{From: changes[0].At.Add(time.Microsecond)}, AuthorisedFrom: c.FirstUnclosed.Start(), OpenFrom: c.FirstOpen.Start()}
	if len(changes) > 1 {
		inForce.Recorded.To = changes[1].At.Add(time.Microsecond)
	}
	if c.First.Before(c.FirstUnclosed) {
		inForce.After = c.FirstUnclosed.Start()
	}
	return inForce
}

func describeCalendar(c period.Calendar) string {
	if c.FirstOpen.IsZero() {
		return "all open"
	}
	return "closed before " + c.FirstUnclosed.String() + " and held before " + c.FirstOpen.String()
}
