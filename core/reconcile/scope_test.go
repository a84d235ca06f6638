package reconcile_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/reconcile"
)

// scopeOf describes, in days from Monday, what a statement of Monday to the fourth day after is compared with.
func scopeOf(added []reconcile.Line, open ...reconcile.DayRange) string {
	breaks := make([]reconcile.OpenBreak, len(open))
	for i, days := range open {
		breaks[i].Days = reconcile.DayRange{First: monday + days.First, Last: monday + days.Last}
	}
	s := reconcile.ScopeOf(reconcile.DayRange{First: monday, Last: monday + 4}, added, breaks)
	return fmt.Sprintf("%d to %d, %d again", s.Days.First-monday, s.Days.Last-monday, len(s.Open))
}

func TestScopeOf(t *testing.T) {
	t.Parallel()
	// A statement is compared with its days, those of its lines, and those of open breaks of the last 31 days.
	for _, c := range []struct {
		name  string
		added []reconcile.Line
		open  []reconcile.DayRange
		want  string
	}{
		{"its days", []reconcile.Line{line(0, 1), line(4, 1)}, nil, "-5 to 9, 0 again"},
		{"valued nearby", []reconcile.Line{valued(0, -5, 1), valued(4, 9, 1)}, nil, "-10 to 14, 0 again"},
		{"valued weeks away", []reconcile.Line{valued(0, -31, 1), valued(4, 35, 1)}, nil, "-36 to 40, 0 again"},
		{"valued too far away", []reconcile.Line{valued(0, -32, 1), valued(4, 36, 1)}, nil, "-5 to 9, 0 again"},
		{"an open break", nil, []reconcile.DayRange{{First: -31, Last: -31}}, "-36 to 9, 1 again"},
		{"an older break", nil, []reconcile.DayRange{{First: -32, Last: -32}}, "-5 to 9, 0 again"},
		{"a break of a line that was valued before", nil, []reconcile.DayRange{{First: -60, Last: -31}}, "-65 to 9, 1 again"},
		{"breaks of a later statement", nil, []reconcile.DayRange{{First: 9, Last: 20}, {First: 10, Last: 10}}, "-5 to 25, 1 again"},
		{"a break of nearly a year", nil, []reconcile.DayRange{{First: -300, Last: 0}}, "-5 to 9, 0 again"},
		{"a break near a line that was valued before", []reconcile.Line{valued(0, -30, 1)}, []reconcile.DayRange{{First: -35, Last: -35}},
			"-40 to 9, 1 again"},
	} {
		if got := scopeOf(c.added, c.open...); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestScopeOf_HasWhatLinesCanMatch(t *testing.T) {
	t.Parallel()
	// Every entry that a line of the statement or of a break that is compared again can be matched with is of the days of the scope.
	rapid.Check(t, func(t *rapid.T) {
		days := reconcile.DayRange{First: monday, Last: monday + 9}
		lines := rapid.SliceOf(rapid.Custom(anyLine)).Draw(t, "lines")
		var added []reconcile.Line
		var open []reconcile.OpenBreak
		for i, l := range lines {
			if days.Contains(l.Booked) && i%2 == 0 {
				added = append(added, l)
				continue
			}
			entry := reconcile.NoDay
			if rapid.Bool().Draw(t, "with an entry") {
				entry = l.Value
			}
			open = append(open, reconcile.OpenBreak{Days: reconcile.BreakDays(l.Booked, l.Value, entry)})
		}
		scope := reconcile.ScopeOf(days, added, open)

		known := func(r reconcile.DayRange) bool {
			return scope.Days.First+reconcile.Window <= r.First && r.Last <= scope.Days.Last-reconcile.Window
		}
		for _, l := range added {
			if !known(l.ComparedDays()) {
				t.Fatalf("the line booked on %s and valued on %s is compared with %s to %s", l.Booked, l.Value, scope.Days.First, scope.Days.Last)
			}
		}
		for _, b := range scope.Open {
			if !known(b.Days) {
				t.Fatalf("the break of %s to %s is compared with %s to %s", b.Days.First, b.Days.Last, scope.Days.First, scope.Days.Last)
			}
		}
		if len(scope.Open)+len(scope.Aside) != len(open) {
			t.Fatalf("of %d breaks %d are compared and %d are not", len(open), len(scope.Open), len(scope.Aside))
		}
	})
}
