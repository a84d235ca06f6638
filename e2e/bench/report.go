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
