// Package settlement says on which days payment systems work, and when a payment that is sent now is expected to
// reach its beneficiary.
package settlement

import (
	"time"

	"github.com/rickar/cal/v2"
	"github.com/rickar/cal/v2/br"
	"github.com/rickar/cal/v2/ecb"
	"github.com/rickar/cal/v2/gb"
	"github.com/rickar/cal/v2/mx"
	"github.com/rickar/cal/v2/us"
)

// Calendar names the business days of a payment system.
type Calendar string

// The calendars.
const (
	EveryDay       Calendar = "EVERY_DAY"       // also on weekends and holidays
	Weekdays       Calendar = "WEEKDAYS"        // Monday to Friday
	TARGET         Calendar = "TARGET"          // T2 of the European Central Bank
	FederalReserve Calendar = "FEDERAL_RESERVE" // FedACH and Fedwire
	England        Calendar = "ENGLAND"         // CHAPS and Bacs: bank holidays in England and Wales
	Brazil         Calendar = "BRAZIL"          // national holidays
	Mexico         Calendar = "MEXICO"          // national holidays
)

// Calendars lists every calendar.
func Calendars() []Calendar {
	return []Calendar{EveryDay, Weekdays, TARGET, FederalReserve, England, Brazil, Mexico}
}

// holidays are the holidays of the calendars that have any.
var holidays = map[Calendar]*cal.Calendar{
	TARGET:         calendarOf(ecb.Holidays...),
	FederalReserve: calendarOf(federalReserveHolidays()...),
	England:        calendarOf(gb.Holidays...),
	Brazil:         calendarOf(br.Holidays...),
	Mexico:         calendarOf(mx.Holidays...),
}

func calendarOf(days ...*cal.Holiday) *cal.Calendar { return &cal.Calendar{Holidays: days} }

// federalReserveHolidays are the federal holidays. One that falls on a Sunday is kept on Monday; on the Friday before
// one that falls on a Saturday the Reserve Banks are open (Federal Reserve Financial Services, Holiday Schedules), as
// other offices are not.
func federalReserveHolidays() []*cal.Holiday {
	kept := make([]*cal.Holiday, len(us.Holidays))
	for i, holiday := range us.Holidays {
		kept[i] = holiday
		if holiday.Observed != nil {
			kept[i] = holiday.Clone(&cal.Holiday{Observed: []cal.AltDay{{Day: time.Sunday, Offset: 1}}})
		}
	}
	return kept
}

// isBusinessDay reports whether the calendar has no holiday on the date of day, in the zone of day.
func (c Calendar) isBusinessDay(day time.Time) bool {
	if c == EveryDay {
		return true
	}
	if weekday := day.Weekday(); weekday == time.Saturday || weekday == time.Sunday {
		return false
	}
	known, some := holidays[c]
	if !some {
		return true
	}
	actual, observed, _ := known.IsHoliday(day)
	return !actual && !observed
}
