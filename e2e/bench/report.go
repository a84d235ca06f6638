package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// report collects the figures of a run, as rows of its sections.
type report struct {
	rows [sectionCount][][]string
	code string // output of ledger check, shown as it is
}

// add adds a row. A cell is text or a value that has a format: latency, time.Duration,
// byteSize, int or float64.
func (r *report) add(id sectionID, cells ...any) {
	row := make([]string, strings.Count(sectionTexts[id].columns, "|")+1)
	for i, cell := range cells {
		switch cell := cell.(type) {
		case time.Duration:
			row[i] = formatDuration(cell)
		case float64:
			row[i] = formatNumber(cell)
		default:
			row[i] = fmt.Sprint(cell)
		}
	}
	r.rows[id] = append(r.rows[id], row)
}

// goal says what a figure should be and whether it is.
func goal(want string, met bool) string {
	if met {
		return want + ": met"
	}
	return want + ": **missed**"
}

// markdown returns the whole report.
func (r *report) markdown() string {
	var text strings.Builder
	text.WriteString("# Benchmarks\n\nWritten by `make bench`; do not edit. Every figure is of one run on the machine described at the end, " +
		"where Postgres, the service and the load generator share the processors.\n")
	for id, rows := range r.rows {
		if len(rows) == 0 {
			continue
		}
		section := sectionTexts[id]
		fmt.Fprintf(&text, "\n## %s\n\n", section.title)
		if section.note != "" {
			fmt.Fprintf(&text, "%s\n\n", section.note)
		}
		columns := strings.Split(section.columns, "|")
		for _, row := range append([][]string{columns, slices.Repeat([]string{"---"}, len(columns))}, rows...) {
			fmt.Fprintf(&text, "| %s |\n", strings.Join(row, " | "))
		}
		if sectionID(id) == afterwards && r.code != "" {
			fmt.Fprintf(&text, "\n```text\n%s```\n", r.code)
		}
	}
	return text.String()
}

// byteSize is a number of bytes, written in MB or kB.
type byteSize int64

func (b byteSize) String() string {
	if b < 1_000_000 {
		return fmt.Sprintf("%.1f kB", float64(b)/1e3)
	}
	return fmt.Sprintf("%.0f MB", float64(b)/1e6)
}

func formatNumber(v float64) string { return strconv.FormatFloat(math.Round(v), 'f', 0, 64) }

// formatSpread returns the median of rates, with the lowest and the highest.
func formatSpread(rates []float64) string {
	sorted := sortedValues(rates)
	return fmt.Sprintf("%.0f (%.0f to %.0f)", median(rates), sorted[0], sorted[len(sorted)-1])
}

func formatMicros(d time.Duration) string { return fmt.Sprintf("%d µs", d.Microseconds()) }

// formatDuration writes a duration with three significant digits.
func formatDuration(d time.Duration) string {
	if d < time.Second {
		return formatMillis(d) + " ms"
	}
	return fmt.Sprintf("%.*f s", max(0, 2-int(math.Log10(d.Seconds()))), d.Seconds())
}

// formatRate writes a rate with three significant digits.
func formatRate(n int64, took time.Duration) string {
	rate := float64(n) / took.Seconds()
	step := math.Pow10(max(0, int(math.Log10(rate))-2))
	return formatNumber(math.Round(rate/step) * step)
}

// logf reports the progress of the run.
func logf(format string, args ...any) { fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...) }

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
