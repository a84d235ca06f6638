package settlement_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/corridor"
	"causeway/core/settlement"
)

func timetable(t interface{ Fatal(...any) }, others ...settlement.Schedule) *settlement.Timetable {
	made, err := settlement.NewTimetable(time.LoadLocation, others...)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func instant(t interface{ Fatal(...any) }, text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UTC()
}

func TestTimetable_SettlesAt(t *testing.T) {
	t.Parallel()
	// Days are closed by weekends and holidays, the zone's clock counts, and a cut-off ends the day.
	tests := []struct {
		name, at, want string
		rail           corridor.Rail
	}{
		{"SEPA reaches the next business day", "2026-03-03T10:00:00+01:00", "2026-03-04T18:00:00+01:00", corridor.SEPA},
		{"SEPA at the cut-off is of the next day", "2026-03-03T15:00:00+01:00", "2026-03-05T18:00:00+01:00", corridor.SEPA},
		{"SEPA before a weekend", "2026-03-06T14:59:59+01:00", "2026-03-09T18:00:00+01:00", corridor.SEPA},
		{"SEPA over Easter 2026, which ends on Monday, April 6", "2026-04-02T16:00:00+02:00", "2026-04-08T18:00:00+02:00", corridor.SEPA},
		{"SEPA on Christmas Eve, which is a business day", "2026-12-24T10:00:00+01:00", "2026-12-28T18:00:00+01:00", corridor.SEPA},
		{"SEPA over the change to summer time", "2026-03-27T16:00:00+01:00", "2026-03-31T18:00:00+02:00", corridor.SEPA},
		{"ACH settles in the morning", "2026-03-03T12:00:00-05:00", "2026-03-04T08:30:00-05:00", corridor.ACH},
		{"ACH on the eve of Thanksgiving", "2026-11-25T12:00:00-05:00", "2026-11-27T08:30:00-05:00", corridor.ACH},
		// July 4, 2026 is a Saturday: federal offices close on Friday, and the Reserve Banks do not.
		{"ACH before a holiday on a Saturday", "2026-07-02T12:00:00-04:00", "2026-07-03T08:30:00-04:00", corridor.ACH},
		// July 4, 2027 is a Sunday, which is kept on Monday.
		{"ACH before a holiday on a Sunday", "2027-07-02T12:00:00-04:00", "2027-07-06T08:30:00-04:00", corridor.ACH},
		{"wire on the same day", "2026-03-03T12:00:00-05:00", "2026-03-03T18:45:00-05:00", corridor.Wire},
		{"wire after the cut-off", "2026-03-03T17:30:00-05:00", "2026-03-04T18:45:00-05:00", corridor.Wire},
		{"wire on a Saturday", "2026-03-07T12:00:00-05:00", "2026-03-09T18:45:00-04:00", corridor.Wire},
		{"SWIFT takes two days", "2026-03-05T10:00:00Z", "2026-03-09T18:00:00Z", corridor.SWIFT},
		{"RTP at night", "2026-12-25T03:00:00Z", "2026-12-25T03:00:20Z", corridor.RTP},
		{"a chain", "2026-12-25T03:00:00Z", "2026-12-25T03:15:00Z", corridor.Ethereum},
	}
	times := timetable(t)
	for _, tt := range tests {
		got := times.SettlesAt(settlement.DefaultFor(tt.rail), instant(t, tt.at))
		if want := instant(t, tt.want); !got.Equal(want) {
			t.Errorf("%s: %s, want %s", tt.name, got, want)
		}
	}
}

func TestTimetable_HolidaysOfPartner(t *testing.T) {
	t.Parallel()
	// A partner closes on days of its own.
	s := settlement.Schedule{Zone: "Europe/London", Calendar: settlement.England, CutOff: "16:00", SettlesAt: "17:00",
		Holidays: []string{"2026-06-01"}}
	times := timetable(t, s)

	got := times.ExecutedAt(s, instant(t, "2026-05-29T16:30:00+01:00"))

	if want := instant(t, "2026-06-02T00:00:00+01:00"); !got.Equal(want) {
		t.Errorf("executed at %s, want %s", got, want)
	}
}

func TestTimetable_NeverBackwards(t *testing.T) {
	t.Parallel()
	// A payment is executed when it is handed over or later, settles after that, and one that is handed over later
	// is never ahead.
	times := timetable(t)
	rapid.Check(t, func(t *rapid.T) {
		s := settlement.DefaultFor(rapid.SampledFrom(corridor.Rails()).Draw(t, "rail"))
		s.Calendar = rapid.SampledFrom(settlement.Calendars()).Draw(t, "calendar")
		at := time.Unix(rapid.Int64Range(1_700_000_000, 2_500_000_000).Draw(t, "at"), 0).UTC()
		later := at.Add(time.Duration(rapid.Int64Range(0, 10*24*3600).Draw(t, "later")) * time.Second)

		executed, settled := times.ExecutedAt(s, at), times.SettlesAt(s, at)

		if executed.Before(at) || settled.Before(executed) {
			t.Fatalf("handed over %s, executed %s, settled %s", at, executed, settled)
		}
		if times.ExecutedAt(s, later).Before(executed) || times.SettlesAt(s, later).Before(settled) {
			t.Fatalf("%s is ahead of %s", later, at)
		}
		if again := times.ExecutedAt(s, executed); !again.Equal(executed) {
			t.Fatalf("a payment of %s, the time of an execution, is executed at %s", executed, again)
		}
	})
}

func TestSchedule_Check(t *testing.T) {
	t.Parallel()
	// Every bad field is listed; the schedules of all rails are good.
	for _, rail := range corridor.Rails() {
		if bad := settlement.DefaultFor(rail).Check("", time.LoadLocation); len(bad) > 0 {
			t.Errorf("%s: %v", rail, bad)
		}
	}
	bad := settlement.Schedule{Zone: "Europe/Atlantis", Calendar: "LUNAR", Opens: "24:00", CutOff: "3 pm", Days: 40, Takes: -time.Second,
		Holidays:    []string{"24.12.2026", "2026-12-31"},
		WorkingDays: []string{"2026-12-31"}}.Check("schedule.", time.LoadLocation)
	var fields []string
	for _, field := range bad {
		fields = append(fields, field.Field)
	}
	want := []string{"schedule.calendar", "schedule.cutOff", "schedule.days", "schedule.holidays", "schedule.opens", "schedule.settlesAt",
		"schedule.takes", "schedule.workingDays", "schedule.zone"}
	if !slices.Equal(fields, want) {
		t.Errorf("fields %v, want %v", fields, want)
	}
}

func TestSchedule_CheckOfTimesAndDates(t *testing.T) {
	t.Parallel()
	// A cut-off may be the end of the day, and comes after the opening. A day is listed once.
	tests := map[string]struct {
		change func(*settlement.Schedule)
		want   string // the bad field
	}{
		"no change":                   {func(*settlement.Schedule) {}, ""},
		"cut-off at the end":          {func(s *settlement.Schedule) { s.CutOff = "24:00" }, ""},
		"cut-off at the opening":      {func(s *settlement.Schedule) { s.Opens = "15:00" }, "cutOff"},
		"cut-off at midnight":         {func(s *settlement.Schedule) { s.CutOff = "00:00" }, "cutOff"},
		"settlement after the day":    {func(s *settlement.Schedule) { s.SettlesAt = "24:00" }, "settlesAt"},
		"a day twice":                 {func(s *settlement.Schedule) { s.Holidays = []string{"2026-12-24", "2026-12-24"} }, "holidays"},
		"a day that does not exist":   {func(s *settlement.Schedule) { s.WorkingDays = []string{"2026-02-29"} }, "workingDays"},
		"more days than can be bound": {func(s *settlement.Schedule) { s.Holidays = make([]string, 201) }, "holidays"},
		"no zone":                     {func(s *settlement.Schedule) { s.Zone = "" }, "zone"},
		"the zone of the machine":     {func(s *settlement.Schedule) { s.Zone = "Local" }, "zone"},
	}
	for name, tt := range tests {
		s := settlement.DefaultFor(corridor.SEPA)
		tt.change(&s)
		bad := s.Check("", time.LoadLocation)
		if tt.want == "" && len(bad) > 0 || tt.want != "" && (len(bad) == 0 || bad[0].Field != tt.want) {
			t.Errorf("%s: %v", name, bad)
		}
	}
}
