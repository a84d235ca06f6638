package main

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// latency is the distribution of durations. 95 of 100 are not above p95, and so on.
type latency struct{ p50, p95, p99, max time.Duration }

// latencyOf sorts the durations in place.
func latencyOf(durations []time.Duration) latency {
	if len(durations) == 0 {
		return latency{}
	}
	slices.Sort(durations)
	return latency{percentile(durations, 50), percentile(durations, 95), percentile(durations, 99), durations[len(durations)-1]}
}

// percentile returns the smallest duration that at least percent of all do not exceed.
func percentile(sorted []time.Duration, percent int) time.Duration {
	return sorted[(len(sorted)*percent+99)/100-1]
}

// timed calls do n times after a warm-up of a tenth, and returns the durations it reports.
func timed(n int, do func() (time.Duration, error)) (latency, error) {
	warmUp := max(1, n/10)
	durations := make([]time.Duration, 0, n)
	for i := range n + warmUp {
		duration, err := do()
		if err != nil {
			return latency{}, err
		}
		if i >= warmUp {
			durations = append(durations, duration)
		}
	}
	return latencyOf(durations), nil
}

// alternate calls both functions n times, each first in every second round, so that other
// load on the machine affects both. It returns what each reported.
func alternate[T any](rounds int, a, b func() (T, error)) (results [2][]T, err error) {
	for round := range rounds {
		for i := range 2 {
			side := (round + i) % 2
			result, err := []func() (T, error){a, b}[side]()
			if err != nil {
				return results, err
			}
			results[side] = append(results[side], result)
		}
	}
	return results, nil
}

func sortedValues(values []float64) []float64 { return slices.Sorted(slices.Values(values)) }

// median returns the middle value, or the mean of the two in the middle.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := sortedValues(values)
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

func mean(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total / float64(len(values))
}

// String writes p50 / p95 / p99 in milliseconds; nothing if nothing was measured.
func (l latency) String() string {
	if l == (latency{}) {
		return ""
	}
	return formatMillis(l.p50) + " / " + formatMillis(l.p95) + " / " + formatMillis(l.p99)
}

// formatMillis writes a duration in milliseconds with three significant digits.
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
