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

func init() {
	// The days of a calendar do not depend on the zone of the machine, in which a day may begin at another time than midnight.
	cal.DefaultLoc = time.UTC
}

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

// Source says where the days of a calendar come from, in words for operators.
func (c Calendar) Source() string { return sources[c] }

const library = "rules of github.com/rickar/cal"

var sources = map[Calendar]string{
	EveryDay:       "every day",
	Weekdays:       "Monday to Friday, without holidays",
	TARGET:         library + " (ecb): closing days of T2, European Central Bank",
	FederalReserve: library + " (us), as the Holiday Schedules of Federal Reserve Financial Services move them",
	England:        library + " (gb): bank holidays in England and Wales; later proclamations are not in it",
	Brazil:         library + " (br): national holidays; banks may close on further days, such as those of Carnival",
	Mexico:         library + " (mx): statutory holidays; banks may close on further days of the CNBV",
}

// closedBy returns why the calendar is closed on a date; empty if it is not.
func (c Calendar) closedBy(date time.Time) string {
	if c == EveryDay {
		return ""
	}
	if known, some := holidays[c]; some {
		if actual, observed, holiday := known.IsHoliday(date); actual || observed {
			return holiday.Name
		}
	}
	if weekday := date.Weekday(); weekday == time.Saturday || weekday == time.Sunday {
		return weekday.String()
	}
	return ""
}
