package period_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/fault"
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

// calendar has September closed and October soft-closed.
func calendar() period.Calendar {
	return period.Calendar{First: month("2026-09"), FirstUnclosed: month("2026-10"), FirstOpen: month("2026-11")}
}

func TestCalendar_Apply(t *testing.T) {
	t.Parallel()
	// Months are soft-closed and closed in order, each when it is over; any other action is a
	// CONFLICT with its reason and changes nothing.
	started := period.Calendar{First: month("2026-09"), FirstUnclosed: month("2026-09"), FirstOpen: month("2026-10")}
	for name, c := range map[string]struct {
		from   period.Calendar
		action period.Action
		month  string
		want   period.Calendar
		reason string
	}{
		"soft close of the first month": {period.Calendar{}, period.SoftClose, "2026-09", started, ""},
		"soft close of the next month": {started, period.SoftClose, "2026-10", period.Calendar{First: month("2026-09"),
			FirstUnclosed: month("2026-09"), FirstOpen: month("2026-11")}, ""},
		"soft close of a later month":       {started, period.SoftClose, "2026-11", started, "Month is not over"},
		"soft close before the first month": {started, period.SoftClose, "2026-08", started, "Before the first month"},
		"soft close of the current month":   {period.Calendar{}, period.SoftClose, "2026-11", period.Calendar{}, "Month is not over"},
		"soft close of a future month":      {period.Calendar{}, period.SoftClose, "2027-01", period.Calendar{}, "Month is not over"},
		"soft close twice":                  {started, period.SoftClose, "2026-09", started, "Wrong state"},
		"reopening of the only month":       {started, period.Reopen, "2026-09", period.Calendar{}, ""},
		"reopening of the last soft-closed month": {calendar(), period.Reopen, "2026-10", period.Calendar{First: month("2026-09"),
			FirstUnclosed: month("2026-10"), FirstOpen: month("2026-10")}, ""},
		"reopening of an open month":  {calendar(), period.Reopen, "2026-11", calendar(), "Wrong state"},
		"reopening of a closed month": {calendar(), period.Reopen, "2026-09", calendar(), "Wrong state"},
		"reopening of an earlier month": {period.Calendar{First: month("2026-09"), FirstUnclosed: month("2026-09"),
			FirstOpen: month("2026-11")}, period.Reopen, "2026-09", period.Calendar{First: month("2026-09"), FirstUnclosed: month("2026-09"),
			FirstOpen: month("2026-11")}, "Out of order"},
		"closing of the soft-closed month": {calendar(), period.Close, "2026-10", period.Calendar{First: month("2026-09"),
			FirstUnclosed: month("2026-11"), FirstOpen: month("2026-11")}, ""},
		"closing of an open month": {calendar(), period.Close, "2026-11", calendar(), "Wrong state"},
		"closing twice":            {calendar(), period.Close, "2026-09", calendar(), "Wrong state"},
		"closing of a later month": {period.Calendar{First: month("2026-09"), FirstUnclosed: month("2026-09"),
			FirstOpen: month("2026-11")}, period.Close, "2026-10", period.Calendar{First: month("2026-09"), FirstUnclosed: month("2026-09"),
			FirstOpen: month("2026-11")}, "Out of order"},
		"closing without a soft close": {period.Calendar{}, period.Close, "2026-09", period.Calendar{}, "Wrong state"},
	} {
		got, err := c.from.Apply(c.action, month(c.month), now)
		f, _ := fault.As(err)
		if got != c.want || (err == nil) != (c.reason == "") || f != nil && (f.Code != fault.Conflict || f.Reason != c.reason) {
			t.Errorf("%s: %v, %v; want %v, %q", name, got, err, c.want, c.reason)
		}
	}
	// A month is over at its end.
	if _, err := (period.Calendar{}).Apply(period.SoftClose, month("2026-11"), month("2026-11").End()); err != nil {
		t.Errorf("a month that is over is not soft-closed: %v", err)
	}
}

func TestCalendar_FirstMonth(t *testing.T) {
	t.Parallel()
	// Months are listed from the calendar's first one on, also if there are earlier postings; without a calendar from
	// the first posting on.
	present, started := month("2026-11"), period.Calendar{First: month("2026-09"), FirstUnclosed: month("2026-09"),
		FirstOpen: month("2026-10")}
	for name, tt := range map[string]struct {
		calendar          period.Calendar
		firstPosted, want period.Month
	}{
		"nothing posted":          {period.Calendar{}, period.Month{}, present},
		"posted":                  {period.Calendar{}, month("2026-03"), month("2026-03")},
		"posted in the future":    {period.Calendar{}, month("2026-12"), present},
		"posted before any month": {period.Calendar{}, period.Earliest.Previous(), period.Earliest},
		"calendar":                {started, month("2026-03"), month("2026-09")},
		"calendar without posts":  {started, period.Month{}, month("2026-09")},
	} {
		if got := tt.calendar.FirstMonth(tt.firstPosted, present); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

func TestCalendar_RandomActions(t *testing.T) {
	t.Parallel()
	// After any actions the months are in the order closed, soft-closed, open, each transition is one
	// of the table, a month that is not over is open, and a closed month stays closed.
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
	// A posting keeps its effective time if its month accepts it, and otherwise gets the earliest one
	// that is accepted, which is never earlier than its own and never in the future.
	rapid.Check(t, func(t *rapid.T) {
		c := calendar()
		if rapid.Bool().Draw(t, "all open") {
			c = period.Calendar{}
		}
		authorised := rapid.Bool().Draw(t, "authorised")
		at := time.UnixMicro(rapid.Int64Range(month("2026-07").Start().UnixMicro(), now.UnixMicro()).Draw(t, "at")).UTC()
		p := posting(at)

		redated := c.Redate(p, authorised)

		accepts := func(s period.State) bool { return s == period.Open || s == period.SoftClosed && authorised }
		if !accepts(c.State(period.MonthOf(redated.Effective))) {
			t.Errorf("%s is redated to %s", at, redated.Effective)
		}
		if accepts(c.State(period.MonthOf(at))) != redated.Equal(p) {
			t.Errorf("%s, authorised %t, becomes %v", at, authorised, redated)
		}
		if !redated.Equal(p) && (redated.Effective != c.EarliestEffective(authorised) || redated.Memo != "rent (for "+
			at.Format(time.DateOnly)+")") {
			t.Errorf("%s becomes %s, %q", at, redated.Effective, redated.Memo)
		}
		if redated.Effective.Before(at) || redated.Effective.After(now) {
			t.Errorf("%s becomes %s", at, redated.Effective)
		}
	})
}

func posting(at time.Time) ledger.Posting {
	h := ledger.Header{ID: uuid.UUID{1}, Effective: at, Memo: "rent"}
	h.Platform.SetUUID(uuid.UUID{2})
	return ledger.FeePaid(h, ledger.Rail("RTP"), money.Amount{Minor: 5, Currency: money.USD})
}
