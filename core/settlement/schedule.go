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
	// CutOff is the time of day, such as "15:30", until which a payment is executed on the same business day.
	// Without one, payments are executed at any time of a business day.
	CutOff string
	// Days is the number of business days from the execution to the settlement, and SettlesAt the time of that day
	// by which the beneficiary has the money. Without SettlesAt, it takes Takes from the execution.
	Days      int
	SettlesAt string
	Takes     time.Duration
	// Holidays are further days, such as "2026-12-24", on which the partner executes nothing.
	Holidays []string
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

// maxHolidays is the largest number of further holidays.
const maxHolidays = 200

// Check returns what is wrong with a schedule; zone finds a time zone by its name. The fields have the names below, in camel case,
// after a prefix.
func (s Schedule) Check(prefix string, zone func(name string) (*time.Location, error)) []fault.Field {
	var bad []fault.Field
	refuse := func(field, format string, args ...any) {
		bad = append(bad, fault.Field{Field: prefix + field, Message: fmt.Sprintf(format, args...)})
	}
	if s.Zone == "" {
		refuse("zone", "must be a time zone such as Europe/Berlin")
	} else if _, err := zone(s.Zone); err != nil {
		refuse("zone", "must be a time zone of the IANA database, such as Europe/Berlin; %.40q is none", s.Zone)
	}
	if !slices.Contains(Calendars(), s.Calendar) {
		refuse("calendar", "must be one of %v", Calendars())
	}
	for field, text := range map[string]string{"cutOff": s.CutOff, "settlesAt": s.SettlesAt} {
		if _, ok := timeOfDay(text); text != "" && !ok {
			refuse(field, "must be a time of day such as 15:30")
		}
	}
	if s.Days < 0 || s.Days > maxDays {
		refuse("days", "must be a number of business days from 0 to %d", maxDays)
	}
	if s.Days > 0 && s.SettlesAt == "" {
		refuse("settlesAt", "must be given with days: the time of day such as 18:00 by which the beneficiary has the money")
	}
	if len(s.Holidays) > maxHolidays {
		refuse("holidays", "must be at most %d days", maxHolidays)
	}
	for _, day := range s.Holidays {
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			refuse("holidays", "must be days such as 2026-12-24; %.20q is none", day)
		}
	}
	slices.SortFunc(bad, func(a, b fault.Field) int { return strings.Compare(a.Field, b.Field) })
	return bad
}

// timeOfDay parses a time of day such as "15:30".
func timeOfDay(text string) (time.Duration, bool) {
	t, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		return 0, false
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, true
}
