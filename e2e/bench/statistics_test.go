package main

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestLatencyOf(t *testing.T) {
	// For any durations, at least that many of a hundred are at most a percentile, and fewer
	// are below it.
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		duration := rapid.Map(rapid.IntRange(0, 50), func(n int) time.Duration { return time.Duration(n) })
		took := rapid.SliceOfN(duration, 1, 300).Draw(t, "took")
		l := latencyOf(took)
		for percent, value := range map[int]time.Duration{50: l.p50, 95: l.p95, 99: l.p99, 100: l.max} {
			atMost, below := 0, 0
			for _, d := range took {
				if d <= value {
					atMost++
				}
				if d < value {
					below++
				}
			}
			if atMost*100 < percent*len(took) || below*100 >= percent*len(took) {
				t.Fatalf("p%d is %d: %d of %d are at most that, %d below", percent, value, atMost, len(took), below)
			}
		}
	})
	if got := latencyOf(nil); got != (latency{}) {
		t.Errorf("nothing has the latency %v", got)
	}
}

func TestTimed_WarmUpIsNotCounted(t *testing.T) {
	// The first tenth is a warm-up.
	t.Parallel()
	calls := time.Duration(0)
	l := timed(20, func() time.Duration { calls++; return 100 / calls })
	if calls != 22 || l.max != 100/3 {
		t.Errorf("%d calls, maximum %d", calls, l.max)
	}
}

func TestCompareRates(t *testing.T) {
	// Each side is first as often as the other; the medians are compared.
	t.Parallel()
	var order strings.Builder
	side := func(name string, rates ...float64) ratedSide {
		return ratedSide{name, func() float64 {
			order.WriteString(name)
			rate := rates[0]
			rates = rates[1:]
			return rate
		}}
	}
	r := report{}

	r.compareRates(hotRail, 4, side("a", 9, 1, 2, 3), side("b", 4, 5, 1, 3), "b to a", goalHotRail)

	want := "| a | 2 (1 to 9) |\n| b | 4 (1 to 5) |\n| b to a | 1.40 | at least 0.90: met |\n"
	if got := r[hotRail]; got != want || order.String() != "abbaabba" {
		t.Errorf("order %s:\n%s\nwant\n%s", &order, got, want)
	}
}
