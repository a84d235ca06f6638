package rail_test

import (
	"reflect"
	"testing"
	"time"

	"causeway/core/corridor"
	"causeway/core/rail"
	"causeway/core/settlement"
)

func TestScheduleOf(t *testing.T) {
	t.Parallel()
	// A connection has the schedule of the rail, except for what it says itself. A duration replaces the days until the
	// settlement, and days replace a duration.
	none, two := 0, 2
	c := bank()
	c.Schedules = []rail.Schedule{
		{Rail: corridor.SEPA, CutOff: "13:30", Holidays: []string{"2026-12-24"}, Hold: true},
		{Rail: corridor.SEPAInstant, Days: &two, SettlesAt: "09:00", Calendar: settlement.TARGET, Opens: "06:00",
			WorkingDays: []string{"2026-12-25"}},
		{Rail: corridor.ACH, Days: &none},
		{Rail: corridor.SWIFT, Takes: time.Hour, Zone: "Asia/Kolkata"},
	}
	sepa, instant, ach, swift := settlement.DefaultFor(corridor.SEPA), settlement.DefaultFor(corridor.SEPAInstant),
		settlement.DefaultFor(corridor.ACH), settlement.DefaultFor(corridor.SWIFT)
	sepa.CutOff, sepa.Holidays, sepa.Hold = "13:30", []string{"2026-12-24"}, true
	instant.Days, instant.SettlesAt, instant.Calendar, instant.Opens, instant.WorkingDays = 2, "09:00", settlement.TARGET, "06:00",
		[]string{"2026-12-25"}
	ach.Days = 0
	swift.Takes, swift.Days, swift.SettlesAt, swift.Zone = time.Hour, 0, "", "Asia/Kolkata"
	for r, want := range map[corridor.Rail]settlement.Schedule{corridor.SEPA: sepa, corridor.SEPAInstant: instant, corridor.ACH: ach,
		corridor.SWIFT: swift, corridor.Wire: settlement.DefaultFor(corridor.Wire)} {
		if got := c.ScheduleOf(r); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", r, got, want)
		}
	}

	made, err := c.Timetable(time.LoadLocation)
	if err != nil {
		t.Fatal(err)
	}
	// 14:00 in Berlin is after the cut-off, and the next day is a holiday of the bank.
	at := time.Date(2026, 12, 23, 13, 0, 0, 0, time.UTC)
	if got, want := made.SettlesAt(c.ScheduleOf(corridor.SEPA), at), time.Date(2026, 12, 29, 17, 0, 0, 0, time.UTC); !got.Equal(want) {
		t.Errorf("settles at %s, want %s", got, want)
	}
	c.Schedules[3].Zone = "Europe/Atlantis"
	if _, err := c.Timetable(time.LoadLocation); err == nil {
		t.Error("a zone that does not exist was found")
	}
}
