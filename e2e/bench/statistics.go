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
	// The smallest duration that at least percent of all do not exceed.
	percentile := func(percent int) time.Duration { return durations[(len(durations)*percent+99)/100-1] }
	return latency{percentile(50), percentile(95), percentile(99), durations[len(durations)-1]}
}

// String writes p50 / p95 / p99 in milliseconds; nothing if nothing was measured.
func (l latency) String() string {
	if l == (latency{}) {
		return ""
	}
	return formatMillis(l.p50) + " / " + formatMillis(l.p95) + " / " + formatMillis(l.p99)
}

// timed calls do n times after a warm-up of a tenth, and returns the durations it reports.
func timed(n int, do func() time.Duration) latency {
	var durations []time.Duration
	warmUp := max(1, n/10)
	for range n + warmUp {
		durations = append(durations, do())
	}
	return latencyOf(durations[warmUp:])
}

// alternate calls both functions in each round, each first in every second one, so that other
// load on the machine affects both. It returns what each reported.
func alternate[T any](rounds int, a, b func() T) (results [2][]T) {
	for round := range rounds {
		for i := range 2 {
			side := (round + i) % 2
			results[side] = append(results[side], []func() T{a, b}[side]())
		}
	}
	return results
}

// ratedSide is one of two rates that are compared.
type ratedSide struct {
	name string
	rate func() float64 // per second, of a short run
}

// compareRates measures two rates in turn, and adds them and the ratio of their medians.
func (r report) compareRates(s section, rounds int, base, compared ratedSide, ratioName string, g goal) {
	rates := alternate(rounds, base.rate, compared.rate)
	for i, name := range []string{base.name, compared.name} {
		r.add(s, name, fmt.Sprintf("%.0f (%.0f to %.0f)", median(rates[i]), slices.Min(rates[i]), slices.Max(rates[i])))
	}
	quotient := median(rates[1]) / median(rates[0])
	r.add(s, ratioName, ratio(quotient), judge(g, quotient))
}

// median returns the middle value, or the mean of the two in the middle.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted, half := slices.Sorted(slices.Values(values)), len(values)/2
	return (sorted[(len(sorted)-1)/2] + sorted[half]) / 2
}
