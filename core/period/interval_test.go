package period_test

import (
	"testing"
	"time"

	"causeway/core/period"
)

func TestInterval_HalfOpen(t *testing.T) {
	t.Parallel()
	// The lower bound is in the interval, the upper bound is not, and a zero bound is open.
	from := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	to := from.AddDate(0, 1, 0)
	for name, c := range map[string]struct {
		interval  period.Interval
		want      [3]bool // contains the instant before from, from, to
		empty     bool
		unbounded bool
	}{
		"bounded":      {interval: period.Interval{From: from, To: to}, want: [3]bool{false, true, false}},
		"from":         {interval: period.Interval{From: from}, want: [3]bool{false, true, true}},
		"to":           {interval: period.Interval{To: to}, want: [3]bool{true, true, false}},
		"all of time":  {want: [3]bool{true, true, true}, unbounded: true},
		"empty":        {interval: period.Interval{From: from, To: from}, empty: true},
		"reversed":     {interval: period.Interval{From: to, To: from}, empty: true},
		"a single one": {interval: period.Interval{From: from, To: from.Add(time.Microsecond)}, want: [3]bool{false, true, false}},
	} {
		for i, moment := range []time.Time{from.Add(-time.Microsecond), from, to} {
			if got := c.interval.Contains(moment); got != c.want[i] {
				t.Errorf("%s contains %s: %t", name, moment, got)
			}
		}
		if c.interval.IsEmpty() != c.empty || c.interval.IsUnbounded() != c.unbounded {
			t.Errorf("%s: empty %t, unbounded %t", name, c.interval.IsEmpty(), c.interval.IsUnbounded())
		}
	}
	march := period.Interval{From: from, To: to}
	if !march.Contains(march.Last()) || march.Contains(march.BeforeFrom()) || march.Contains(march.Last().Add(time.Microsecond)) {
		t.Errorf("the last time of %v is %s, the one before it %s", march, march.Last(), march.BeforeFrom())
	}
	if all := (period.Interval{}); !all.Last().IsZero() || !all.BeforeFrom().IsZero() {
		t.Error("an unbounded interval has no first or last time")
	}
}
