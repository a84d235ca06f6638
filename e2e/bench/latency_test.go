package main

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestLatencyOf(t *testing.T) {
	// A percentile is the smallest duration that so many of a hundred do not exceed.
	t.Parallel()
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(100 - i)
	}
	for name, c := range map[string]struct {
		took []time.Duration
		want latency
	}{
		"none":     {nil, latency{}},
		"one":      {[]time.Duration{7}, latency{7, 7, 7, 7}},
		"two":      {[]time.Duration{9, 1}, latency{1, 9, 9, 9}},
		"hundred":  {hundred, latency{50, 95, 99, 100}},
		"the same": {[]time.Duration{3, 3, 3}, latency{3, 3, 3, 3}},
	} {
		if got := latencyOf(c.took); got != c.want {
			t.Errorf("%s: got %v; want %v", name, got, c.want)
		}
	}
}

func TestPercentile(t *testing.T) {
	// For any durations, at least that many of a hundred are at most the percentile, and fewer
	// are below it.
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		took := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 50), func(n int) time.Duration { return time.Duration(n) }), 1, 300).Draw(t, "took")
		l := latencyOf(took)
		for percent, value := range map[int]time.Duration{50: l.p50, 95: l.p95, 99: l.p99} {
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
}

func TestMedian(t *testing.T) {
	// The median is the middle value, or the mean of the two in the middle.
	t.Parallel()
	for _, c := range []struct {
		values []float64
		want   float64
	}{{[]float64{5}, 5}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 3, 2}, 2.5}} {
		if got := median(c.values); got != c.want {
			t.Errorf("%v: got %v; want %v", c.values, got, c.want)
		}
	}
	if !math.IsNaN(median(nil)) {
		t.Error("no values have a median")
	}
}

func TestFormatMillis(t *testing.T) {
	// Milliseconds have three significant digits.
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0.00", 123456: "0.12", 9994 * time.Microsecond: "9.99", 9996 * time.Microsecond: "10.0",
		99949 * time.Microsecond: "99.9", 99951 * time.Microsecond: "100", 2 * time.Second: "2000",
	} {
		if got := formatMillis(d); got != want {
			t.Errorf("%s: got %s; want %s", d, got, want)
		}
	}
}
