package main

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// latency is how long something took: half, 95 and 99 of a hundred took no longer
// than that, and none longer than worst.
type latency struct{ p50, p95, p99, longest time.Duration }

// latencyOf sorts the durations in place.
func latencyOf(took []time.Duration) latency {
	if len(took) == 0 {
		return latency{}
	}
	slices.Sort(took)
	return latency{percentile(took, 50), percentile(took, 95), percentile(took, 99), took[len(took)-1]}
}

// percentile is the smallest duration that at least percent of all do not exceed.
func percentile(sorted []time.Duration, percent int) time.Duration {
	return sorted[(len(sorted)*percent+99)/100-1]
}

// median is the middle value, or the mean of the two in the middle.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// String writes p50 / p95 / p99 in milliseconds.
func (l latency) String() string {
	return formatMillis(l.p50) + " / " + formatMillis(l.p95) + " / " + formatMillis(l.p99)
}

// formatMillis writes a duration with three digits that mean something.
func formatMillis(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms >= 99.95:
		return fmt.Sprintf("%.0f", ms)
	case ms >= 9.995:
		return fmt.Sprintf("%.1f", ms)
	default:
		return fmt.Sprintf("%.2f", ms)
	}
}
