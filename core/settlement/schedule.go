package settlement

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"causeway/core/corridor"
	"causeway/core/fault"
)

// Schedule says when payments are executed and settled. Times of day are those of clocks in the zone.
type Schedule struct {
	// Zone is a time zone of the IANA database, such as "Europe/Berlin".
	Zone     string
	Calendar Calendar
	// Opens is the time of day, such as "08:00", from which payments are executed, and CutOff that until which they are
	// on the same business day, "24:00" at the latest. Without them, payments are executed at any time of a business day.
	Opens, CutOff string
	// Days is the number of business days from the execution to the settlement, and SettlesAt the time of that day
	// by which the beneficiary has the money. Without SettlesAt, it takes Takes from the execution.
	Days      int
	SettlesAt string
	Takes     time.Duration
	// Holidays are further days, such as "2026-12-24", on which the partner executes nothing, and WorkingDays those
	// on which it does although the calendar is closed.
	Holidays, WorkingDays []string
	// Hold: payments are not handed over while nothing is executed.
	Hold bool
}

// defaults are the schedules of the rails unless a connection has one of its own: those of the payment systems, with
// cut-offs that banks commonly give their customers. A rail that is not listed has the schedule of a bank transfer.
var defaults = map[corridor.Rail]Schedule{
	// Credit transfers reach the beneficiary's bank by the end of the next business day (Directive 2015/2366,
	// article 83).
	corridor.SEPA: {Zone: "Europe/Berlin", Calendar: TARGET, CutOff: "15:00", Days: 1, SettlesAt: "18:00"},
	// Fedwire is open to third-party payments until 18:45 Eastern Time, for settlement on the same day.
	corridor.Wire: {Zone: "America/New_York", Calendar: FederalReserve, CutOff: "17:00", SettlesAt: "18:45"},
	// FedACH settles entries of the next day at 8:30 Eastern Time.
	corridor.ACH:          {Zone: "America/New_York", Calendar: FederalReserve, CutOff: "17:00", Days: 1, SettlesAt: "08:30"},
	corridor.SWIFT:        {Zone: "UTC", Calendar: Weekdays, CutOff: "14:00", Days: 2, SettlesAt: "18:00"},
	corridor.BankTransfer: {Zone: "UTC", Calendar: Weekdays, CutOff: "14:00", Days: 1, SettlesAt: "18:00"},
	corridor.MobileMoney:  {Zone: "UTC", Calendar: EveryDay, Takes: time.Minute},
}

const (
	// instantTakes is what instant rails of banks take at most: ten seconds in SEPA (Regulation 2024/886), twenty in
	// FedNow.
	instantTakes = 20 * time.Second
	// chainTakes is what a payment on a chain commonly takes until it is confirmed. Adapters know better.
	chainTakes = 15 * time.Minute
)

// DefaultFor returns the schedule of a rail.
func DefaultFor(rail corridor.Rail) Schedule {
	if s, listed := defaults[rail]; listed {
		return s
	}
	switch {
	case rail.IsChain():
		return Schedule{Zone: "UTC", Calendar: EveryDay, Takes: chainTakes}
	case rail.IsInstant():
		return Schedule{Zone: "UTC", Calendar: EveryDay, Takes: instantTakes}
	default:
		return defaults[corridor.BankTransfer]
	}
}

// maxDays is the largest number of business days that a schedule may have.
const maxDays = 30

// maxHolidays is the largest number of further holidays, and of further working days.
const maxHolidays = 200

// maxTakes is the longest time from the execution to the settlement.
const maxTakes = maxDays * 24 * time.Hour

// Check returns what is wrong with a schedule; zone finds a time zone by its name. The fields have the names below, in camel case,
// after a prefix.
func (s Schedule) Check(prefix string, zone func(name string) (*time.Location, error)) []fault.Field {
	var bad []fault.Field
	refuse := func(field, format string, args ...any) {
		bad = append(bad, fault.Field{Field: prefix + field, Message: fmt.Sprintf(format, args...)})
	}
	if s.Zone == "" {
		refuse("zone", "must be a time zone such as Europe/Berlin")
	} else if _, err := zone(s.Zone); err != nil || s.Zone == "Local" { // the zone of a machine differs between machines
		refuse("zone", "must be a time zone of the IANA database, such as Europe/Berlin; %.40q is none", s.Zone)
	}
	if !slices.Contains(Calendars(), s.Calendar) {
		refuse("calendar", "must be one of %s", strings.Trim(strings.ReplaceAll(fmt.Sprint(Calendars()), " ", ", "), "[]"))
	}
	s.checkTimes(refuse)
	s.checkDates(refuse)
	slices.SortFunc(bad, func(a, b fault.Field) int { return strings.Compare(a.Field, b.Field) })
	return bad
}

func (s Schedule) checkTimes(refuse func(field, format string, args ...any)) {
	for field, text := range map[string]string{"opens": s.Opens, "cutOff": s.CutOff, "settlesAt": s.SettlesAt} {
		if of, ok := timeOfDay(text); text != "" && (!ok || of == endOfDay && field != "cutOff") {
			refuse(field, "must be a time of day such as 15:30")
		}
	}
	opens, _ := timeOfDay(s.Opens)
	if cutOff, some := timeOfDay(s.CutOff); some && opens >= cutOff {
		refuse("cutOff", "must be after opens, or after 00:00 without it")
	}
	if s.Days < 0 || s.Days > maxDays {
		refuse("days", "must be a number of business days from 0 to %d", maxDays)
	}
	if s.Days > 0 && s.SettlesAt == "" {
		refuse("settlesAt", "must be given with days: the time of day such as 18:00 by which the beneficiary has the money")
	}
	if s.Takes < 0 || s.Takes > maxTakes {
		refuse("takes", "must be from 0s to %s", maxTakes)
	}
}

func (s Schedule) checkDates(refuse func(field, format string, args ...any)) {
	for field, days := range map[string][]string{"holidays": s.Holidays, "workingDays": s.WorkingDays} {
		if len(days) > maxHolidays {
			refuse(field, "must be at most %d days", maxHolidays)
		}
		for i, day := range days {
			if _, err := time.Parse(time.DateOnly, day); err != nil {
				refuse(field, "must be days such as 2026-12-24; %.20q is none", day)
			} else if slices.Index(days, day) < i {
				refuse(field, "must have %s once", day)
			}
		}
	}
	for _, day := range s.WorkingDays {
		if slices.Contains(s.Holidays, day) {
			refuse("workingDays", "must not have %s, which is one of holidays", day)
		}
	}
}

const endOfDay = 24 * time.Hour

// timeOfDay parses a time of day such as "15:30".
func timeOfDay(text string) (time.Duration, bool) {
	if text == "24:00" {
		return endOfDay, true
	}
	t, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		return 0, false
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, true
}
