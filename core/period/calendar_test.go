package period_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
)

// now is late in November.
var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func month(text string) period.Month {
	m, err := period.ParseMonth(text)
	if err != nil {
		panic(err)
	}
	return m
}

// calendar has September closed and October held.
func calendar() period.Calendar {
	return period.Calendar{First: month("2026-09"), FirstUnclosed: month("2026-10"), FirstOpen: month("2026-11")}
}

func TestCalendar_Apply(t *testing.T) {
	t.Parallel()
	// Months are ended in their order, each when it is over; whatever else is asked is a
	// conflict that says why, and changes nothing.
	begun := period.Calendar{First: month("2026-09"), FirstUnclosed: month("2026-09"), FirstOpen: month("2026-10")}
	for name, c := range map[string]struct {
		from   period.Calendar
		action period.Action
		month  string
		want   period.Calendar
		reason string
	}{
		"the first month is held":          {period.Calendar{}, period.SoftClose, "2026-09", begun, ""},
		"the next is held":                 {begun, period.SoftClose, "2026-10", period.Calendar{First: month("2026-09"), FirstUnclosed: month("2026-09"), FirstOpen: month("2026-11")}, ""},
		"one is left out":                  {begun, period.SoftClose, "2026-11", begun, "Month is not over"},
		"one before the first":             {begun, period.SoftClose, "2026-08", begun, "Before the first month"},
		"the present month":                {period.Calendar{}, period.SoftClose, "2026-11", period.Calendar{}, "Month is not over"},
		"a month to come":                  {period.Calendar{}, period.SoftClose, "2027-01", period.Calendar{}, "Month is not over"},
		"held twice":                       {begun, period.SoftClose, "2026-09", begun, "Wrong state"},
		"the only one is reopened":         {begun, period.Reopen, "2026-09", period.Calendar{}, ""},
		"the last held one is reopened":    {calendar(), period.Reopen, "2026-10", period.Calendar{First: month("2026-09"), FirstUnclosed: month("2026-10"), FirstOpen: month("2026-10")}, ""},
		"one that is open is reopened":     {calendar(), period.Reopen, "2026-11", calendar(), "Wrong state"},
		"one that is closed is reopened":   {calendar(), period.Reopen, "2026-09", calendar(), "Wrong state"},
		"one before the last is reopened":  {period.Calendar{First: month("2026-09"), FirstUnclosed: month("2026-09"), FirstOpen: month("2026-11")}, period.Reopen, "2026-09", period.Calendar{First: month("2026-09"), FirstUnclosed: month("2026-09"), FirstOpen: month("2026-11")}, "Out of order"},
		"the held one is closed":           {calendar(), period.Close, "2026-10", period.Calendar{First: month("2026-09"), FirstUnclosed: month("2026-11"), FirstOpen: month("2026-11")}, ""},
		"one that is open is closed":       {calendar(), period.Close, "2026-11", calendar(), "Wrong state"},
		"one is closed twice":              {calendar(), period.Close, "2026-09", calendar(), "Wrong state"},
		"one after the first is closed":    {period.Calendar{First: month("2026-09"), FirstUnclosed: month("2026-09"), FirstOpen: month("2026-11")}, period.Close, "2026-10", period.Calendar{First: month("2026-09"), FirstUnclosed: month("2026-09"), FirstOpen: month("2026-11")}, "Out of order"},
		"nothing is held and one is ended": {period.Calendar{}, period.Close, "2026-09", period.Calendar{}, "Wrong state"},
	} {
		got, err := c.from.Apply(c.action, month(c.month), now)
		f, _ := fault.As(err)
		if got != c.want || (err == nil) != (c.reason == "") || f != nil && (f.Code != fault.Conflict || f.Reason != c.reason) {
			t.Errorf("%s: %v, %v; want %v, %q", name, got, err, c.want, c.reason)
		}
	}
	// Over from its very end on.
	if _, err := (period.Calendar{}).Apply(period.SoftClose, month("2026-11"), month("2026-11").End()); err != nil {
		t.Errorf("a month that is over cannot be held: %v", err)
	}
}

func TestCalendar_RandomActions(t *testing.T) {
	t.Parallel()
	// Whatever is tried in whatever order: months stay in the order closed, held, open;
	// what is done has the state that the machine says; no month that is not over leaves
	// OPEN; and what is closed stays closed.
	rapid.Check(t, func(t *rapid.T) {
		var c period.Calendar
		closed := map[period.Month]bool{}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			m := month("2026-01")
			for range rapid.IntRange(0, 11).Draw(t, "month") {
				m = m.Next()
			}
			action := rapid.SampledFrom(period.Actions()).Draw(t, "action")
			next, err := c.Apply(action, m, now)
			if err != nil {
				if next != c {
					t.Fatalf("%s of %s was refused and changed %v to %v", action, m, c, next)
				}
				continue
			}
			if want, _ := c.State(m).Next(action); next.State(m) != want {
				t.Fatalf("%s of %s leaves it %s, want %s", action, m, next.State(m), want)
			}
			if closed[m] {
				t.Fatalf("%s of %s, which is closed", action, m)
			}
			closed[m] = action == period.Close
			c = next
		}
		rank := map[period.State]int{period.Closed: 0, period.SoftClosed: 1, period.Open: 2}
		for m := month("2026-01"); m.Before(month("2027-01")); m = m.Next() {
			if rank[c.State(m)] > rank[c.State(m.Next())] {
				t.Errorf("%s is %s and %s after it is %s", m, c.State(m), m.Next(), c.State(m.Next()))
			}
			if !m.Before(period.MonthOf(now)) && c.State(m) != period.Open {
				t.Errorf("%s is not over and is %s", m, c.State(m))
			}
			if closed[m] != (c.State(m) == period.Closed && !m.Before(c.First)) {
				t.Errorf("%s was closed: %t, and is %s", m, closed[m], c.State(m))
			}
		}
	})
}

func TestCalendar_Redate(t *testing.T) {
	t.Parallel()
	// A posting is effective when it says, if its month takes it, or else at the first
	// moment that does; never earlier than it says, and never in the future because of it.
	rapid.Check(t, func(t *rapid.T) {
		c := calendar()
		if rapid.Bool().Draw(t, "nothing is held") {
			c = period.Calendar{}
		}
		authorised := rapid.Bool().Draw(t, "authorised")
		at := time.UnixMicro(rapid.Int64Range(month("2026-07").Start().UnixMicro(), now.UnixMicro()).Draw(t, "at")).UTC()
		p := posting(at)

		placed := c.Redate(p, authorised)

		takes := func(s period.State) bool { return s == period.Open || s == period.SoftClosed && authorised }
		if !takes(c.State(period.MonthOf(placed.Effective))) {
			t.Errorf("%s is put into %s", at, placed.Effective)
		}
		if takes(c.State(period.MonthOf(at))) != placed.Equal(p) {
			t.Errorf("%s, authorised %t, becomes %v", at, authorised, placed)
		}
		if !placed.Equal(p) && (placed.Effective != c.EarliestEffective(authorised) || placed.Memo != "rent (for "+at.Format(time.DateOnly)+")") {
			t.Errorf("%s becomes %s, %q", at, placed.Effective, placed.Memo)
		}
		if placed.Effective.Before(at) || placed.Effective.After(now) {
			t.Errorf("%s becomes %s", at, placed.Effective)
		}
	})
}

func posting(at time.Time) ledger.Posting {
	h := ledger.Header{ID: uuid.UUID{1}, Effective: at, Memo: "rent"}
	ident.SetUUID(&h.Platform, uuid.UUID{2})
	return ledger.FeePaid(h, ledger.Rail("RTP"), money.Amount{Minor: 5, Currency: money.USD})
}
