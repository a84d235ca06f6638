package settlement_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/settlement"
)

// zones are zones with whole and odd offsets, on both sides of Greenwich, with clocks that change at 1, 2 and 3 o'clock, at
// midnight and by half an hour, and that stay.
var zones = []string{"UTC", "Europe/Berlin", "Europe/London", "America/New_York", "America/Santiago", "America/Havana",
	"Africa/Cairo", "Asia/Beirut",
	"Asia/Kathmandu", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Chatham", "Pacific/Apia", "Pacific/Kiritimati",
	"America/St_Johns", "Asia/Tehran"}

func minute(of int) string {
	return time.Date(2000, 1, 1, 0, of, 0, 0, time.UTC).Format("15:04")
}

// drawSchedule returns any valid schedule.
func drawSchedule(t *rapid.T) settlement.Schedule {
	s := settlement.Schedule{Zone: rapid.SampledFrom(zones).Draw(t, "zone"), Calendar: rapid.SampledFrom(settlement.Calendars()).Draw(t,
		"calendar"), Hold: true}
	opens := rapid.IntRange(0, 24*60-2).Draw(t, "opens")
	if rapid.Bool().Draw(t, "has opening") {
		s.Opens = minute(opens)
	} else {
		opens = 0
	}
	if rapid.Bool().Draw(t, "has cut-off") {
		s.CutOff = minute(rapid.IntRange(opens+1, 24*60-1).Draw(t, "cut-off"))
	}
	if rapid.Bool().Draw(t, "has time") {
		s.SettlesAt, s.Days = minute(rapid.IntRange(0, 24*60-1).Draw(t, "settles at")), rapid.IntRange(0, 30).Draw(t, "days")
	} else {
		s.Takes = time.Duration(rapid.Int64Range(0, 5*24*3600).Draw(t, "takes")) * time.Second
	}
	for i := range rapid.IntRange(0, 12).Draw(t, "holidays") {
		day := time.Unix(start, 0).UTC().AddDate(0, 0, i+rapid.IntRange(0, 40).Draw(t, "holiday")*15).Format(time.DateOnly)
		if i%4 == 3 {
			s.WorkingDays = append(s.WorkingDays, day)
		} else {
			s.Holidays = append(s.Holidays, day)
		}
	}
	if len(s.Check("", time.LoadLocation)) > 0 { // a day was drawn twice
		s.Holidays, s.WorkingDays = nil, nil
	}
	return s
}

// start is 2026-01-01 in UTC.
const start = 1_767_225_600

func isBusinessDay(s settlement.Schedule, local time.Time) bool {
	for _, day := range s.Exceptions(local.Year()) {
		if day.Date.Format(time.DateOnly) == local.Format(time.DateOnly) {
			return day.Open
		}
	}
	weekday := local.Weekday()
	return s.Calendar == settlement.EveryDay || weekday != time.Saturday && weekday != time.Sunday
}

func TestTimetable_SettlesOnBusinessDays(t *testing.T) {
	t.Parallel()
	// In any zone, with any calendar and cut-off, over changes of the clocks and far beyond the present: a payment is executed
	// and settled on business days, not before it is handed over, and one that is handed over later is never ahead.
	made := timetable(t, func() (all []settlement.Schedule) {
		for _, zone := range zones {
			all = append(all, settlement.Schedule{Zone: zone})
		}
		return all
	}()...)
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchedule(t)
		zone, err := time.LoadLocation(s.Zone)
		if err != nil {
			t.Fatal(err)
		}
		from := rapid.SampledFrom([]int64{start, start + 10*365*86400, start + 370*365*86400}).Draw(t, "from")
		at := time.Unix(from+rapid.Int64Range(0, 2*365*86400).Draw(t, "at"), 0).UTC()
		later := at.Add(time.Duration(rapid.Int64Range(0, 4*86400).Draw(t, "later")) * time.Second)

		executed, settled := made.ExecutedAt(s, at), made.SettlesAt(s, at)

		if executed.Before(at) || settled.Before(executed) {
			t.Fatalf("handed over %s, executed %s, settled %s", at, executed, settled)
		}
		for _, day := range []time.Time{executed.In(zone), settled.In(zone)} {
			if !isBusinessDay(s, day) {
				t.Fatalf("%s is no business day of %+v", day, s)
			}
		}
		if made.ExecutedAt(s, later).Before(executed) || made.SettlesAt(s, later).Before(settled) {
			t.Fatalf("%s is ahead of %s: %+v", later, at, s)
		}
		if again := made.ExecutedAt(s, executed); !again.Equal(executed) {
			t.Fatalf("a payment of %s, the time of an execution, is executed at %s", executed, again)
		}
		opens, closed := made.IsClosed(s, at)
		if closed != !executed.Equal(at) || closed && !opens.Equal(executed) {
			t.Fatalf("closed %t until %s, and executed at %s", closed, opens, executed)
		}
	})
}

func TestTimetable_OpensWhenTheClocksFirstShowIt(t *testing.T) {
	t.Parallel()
	// The opening of a day is the first minute of it at which the clocks show the time or, if they skip it, a later one. This
	// compares with a search of every minute around the changes of the clocks.
	for _, name := range zones {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		changes := []time.Time{instant(t, "2026-06-01T00:00:00Z")}
		for day := instant(t, "2026-01-01T00:00:00Z"); day.Year() == 2026; day = day.AddDate(0, 0, 1) {
			if _, end := day.In(zone).ZoneBounds(); !end.IsZero() && end.Before(day.AddDate(0, 0, 1)) {
				changes = append(changes, end.UTC())
			}
		}
		for _, change := range changes {
			for _, of := range []int{0, 1, 20, 60, 90, 119, 120, 150, 179, 180, 720, 23*60 + 15, 23*60 + 59} {
				s := settlement.Schedule{Zone: name, Calendar: settlement.EveryDay, Opens: minute(of)}
				made := timetable(t, s)
				date := change.In(zone).Add(12 * time.Hour).Format(time.DateOnly)
				var want, before time.Time
				for at := change.Add(-40 * time.Hour); want.IsZero(); at = at.Add(time.Minute) {
					local := at.In(zone)
					if local.Format(time.DateOnly) < date {
						before = at // the last minute of the day before
					}
					if local.Format(time.DateOnly) == date && local.Format("15:04") >= s.Opens {
						want = at
					}
				}
				yesterday := settlement.Schedule{Zone: name, Calendar: settlement.EveryDay, Opens: s.Opens,
					Holidays: []string{before.In(zone).Format(time.DateOnly)}}
				if got := made.ExecutedAt(yesterday, before); !got.Equal(want) {
					t.Errorf("%s opens at %s on %s: %s, want %s", name, s.Opens, date, got.In(zone), want.In(zone))
				}
			}
		}
	}
}

func TestTimetable_OpeningAndHolidaysOfPartner(t *testing.T) {
	t.Parallel()
	// A partner opens in the morning, closes on days beside weekends and holidays, and works on a Saturday.
	s := settlement.Schedule{Zone: "Europe/Berlin", Calendar: settlement.TARGET, Opens: "08:00", CutOff: "15:30", Days: 1,
		SettlesAt: "12:00", Hold: true,
		Holidays: []string{"2026-04-02", "2026-04-07", "2026-12-24", "2026-12-31"}, WorkingDays: []string{"2026-10-24", "2026-04-03"}}
	made := timetable(t, s)
	tests := []struct{ name, at, executed, settled string }{
		{"at opening", "2026-03-03T08:00:00+01:00", "2026-03-03T08:00:00+01:00", "2026-03-04T12:00:00+01:00"},
		{"at night", "2026-03-03T02:00:00+01:00", "2026-03-03T08:00:00+01:00", "2026-03-04T12:00:00+01:00"},
		{"after the cut-off", "2026-03-03T15:30:00+01:00", "2026-03-04T08:00:00+01:00", "2026-03-05T12:00:00+01:00"},
		{"before Easter: Good Friday is worked, Tuesday is not", "2026-04-01T16:00:00+02:00", "2026-04-03T08:00:00+02:00",
			"2026-04-08T12:00:00+02:00"},
		{"before Christmas and a weekend", "2026-12-23T16:00:00+01:00", "2026-12-28T08:00:00+01:00", "2026-12-29T12:00:00+01:00"},
		{"before New Year's Day, a Friday", "2026-12-30T16:00:00+01:00", "2027-01-04T08:00:00+01:00", "2027-01-05T12:00:00+01:00"},
		{"over the change to winter time, with a Saturday that is worked", "2026-10-23T16:00:00+02:00", "2026-10-24T08:00:00+02:00",
			"2026-10-26T12:00:00+01:00"},
	}
	for _, tt := range tests {
		at := instant(t, tt.at)
		if got := made.ExecutedAt(s, at); !got.Equal(instant(t, tt.executed)) {
			t.Errorf("%s: executed at %s, want %s", tt.name, got, tt.executed)
		}
		if got := made.SettlesAt(s, at); !got.Equal(instant(t, tt.settled)) {
			t.Errorf("%s: settled at %s, want %s", tt.name, got, tt.settled)
		}
		if got, want := made.ExecutionDate(s, at).Format(time.DateOnly), tt.executed[:10]; got != want {
			t.Errorf("%s: executed on %s, want %s", tt.name, got, want)
		}
	}
}

func TestTimetable_ClocksSkipAllHoursOfADay(t *testing.T) {
	t.Parallel()
	// On Sunday, March 29, 2026, the clocks in Berlin go from 2 to 3: a partner that works in between does not on that day.
	s := settlement.Schedule{Zone: "Europe/Berlin", Calendar: settlement.EveryDay, Opens: "02:00", CutOff: "02:45"}
	made := timetable(t, s)
	for _, at := range []string{"2026-03-28T12:00:00+01:00", "2026-03-29T00:30:00+01:00", "2026-03-29T12:00:00+02:00"} {
		if got, want := made.ExecutedAt(s, instant(t, at)), instant(t, "2026-03-30T02:00:00+02:00"); !got.Equal(want) {
			t.Errorf("%s is executed at %s, want %s", at, got, want)
		}
	}
}

func TestSchedule_Exceptions(t *testing.T) {
	t.Parallel()
	// A year is listed with the reason of each day that is not worked, and those that are although the calendar is closed. It
	// does not end with the data of the calendar.
	s := settlement.Schedule{Zone: "Europe/Berlin", Calendar: settlement.TARGET, Holidays: []string{"2026-12-24", "2026-12-26"},
		WorkingDays: []string{"2026-05-01", "2026-10-24"}}
	want := []string{"2026-01-01 false New Year's Day", "2026-04-03 false Good Friday", "2026-04-06 false Easter Monday",
		"2026-05-01 true working day of the partner, although it is closed otherwise: Labour Day",
		"2026-10-24 true working day of the partner, although it is closed otherwise: Saturday",
		"2026-12-24 false holiday of the partner", "2026-12-25 false Christmas Day", "2026-12-26 false holiday of the partner"}
	days := s.Exceptions(2026)
	for i, day := range days {
		if got := day.Date.Format(time.DateOnly) + map[bool]string{true: " true ", false: " false "}[day.Open] + day.Why; i >= len(want) ||
			got != want[i] {
			t.Errorf("day %d is %s", i, got)
		}
	}
	if len(days) != len(want) {
		t.Errorf("%d days, want %d", len(days), len(want))
	}
	// 261 days from Monday to Friday, five holidays of which none is worked except May 1, and two Saturdays' changes.
	if got := s.BusinessDays(2026); got != 261-4-1+1 {
		t.Errorf("%d business days", got)
	}
	if got := settlement.DefaultFor("SEPA").Exceptions(2500); len(got) == 0 {
		t.Error("no holiday in 2500")
	}
	for _, c := range settlement.Calendars() {
		if c.Source() == "" {
			t.Errorf("%s has no source", c)
		}
	}
}
