package main

import (
	_ "embed"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"
)

// reportTemplate is the report with its words, and without the rows of its tables.
//
//go:embed report.md
var reportTemplate string

// section is a section of the report.
type section struct {
	heading string
	columns int
}

var (
	mainFigure         = newSection("Main figure")
	payments           = newSection("Payments")
	costOfPayment      = newSection("Cost of a payment")
	hotAccount         = newSection("One hot account")
	quotes             = newSection("Quotes")
	hotRail            = newSection("One hot rail")
	exports            = newSection("Exports")
	ledgerLog          = newSection("Ledger log")
	ledgerCheck        = newSection("Ledger check")
	monthEnd           = newSection("Month end")
	reconciliations    = newSection("Reconciliation")
	customerStatements = newSection("Customer statements")
	largePosting       = newSection("Posting to a large ledger")
	largeQueries       = newSection("Queries on a large ledger")
	tableSizes         = newSection("Size of a large ledger")
	memoryAndStart     = newSection("Memory and start")
	afterwards         = newSection("Afterwards")
	conditions         = newSection("Machine and conditions")
)

// newSection finds a section of the template by its heading.
func newSection(heading string) section {
	_, text, found := strings.Cut(reportTemplate, "\n## "+heading+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	if !found {
		panic("report.md has no section " + heading)
	}
	return section{heading, strings.Count(text, "---")}
}

const latencyColumn = "p50 / p95 / p99 ms"

// report has what follows the table head of each section, by heading.
type report map[string]string

// add adds a row to a table, and reports it as progress. A cell is text or a value that has a format:
// latency, time.Duration, byteSize, int or float64.
func (r report) add(s section, cells ...any) {
	texts := make([]string, s.columns)
	for i, cell := range cells {
		switch cell := cell.(type) {
		case time.Duration:
			texts[i] = formatDuration(cell)
		case float64:
			texts[i] = formatNumber(cell)
		default:
			texts[i] = fmt.Sprint(cell)
		}
	}
	row := strings.Join(texts, " | ")
	logf("%s: %s", s.heading, row)
	r[s.heading] += "| " + row + " |\n"
}

// addText adds lines after the table, as they are.
func (r report) addText(s section, lines string) {
	r[s.heading] += "\n```text\n"
	for line := range strings.Lines(strings.Trim(lines, "\n")) {
		r[s.heading] += strings.TrimRight(line, " \n") + "\n"
	}
	r[s.heading] += "```\n"
}

// String returns the report without the sections that have no rows.
func (r report) String() string {
	sections := strings.Split(reportTemplate, "\n## ")
	text := sections[0]
	for _, words := range sections[1:] {
		heading, _, _ := strings.Cut(words, "\n")
		if rows := r[heading]; rows != "" {
			text += "\n## " + strings.TrimSpace(words) + "\n" + rows
		}
	}
	return text
}

// logf reports the progress of the run.
func logf(format string, args ...any) { fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...) }

// byteSize is a number of bytes, written in MB or kB.
type byteSize int64

func (b byteSize) String() string {
	if b < 1_000_000 {
		return fmt.Sprintf("%.1f kB", float64(b)/1e3)
	}
	return fmt.Sprintf("%.0f MB", float64(b)/1e6)
}

func formatNumber(v float64) string { return strconv.FormatFloat(math.Round(v), 'f', 0, 64) }

// formatDuration writes a duration with three significant digits.
func formatDuration(d time.Duration) string {
	if d < time.Second {
		return formatMillis(d) + " ms"
	}
	return fmt.Sprintf("%.*f s", max(0, 2-int(math.Log10(d.Seconds()))), d.Seconds())
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

// formatRate writes a rate with three significant digits.
func formatRate(n int64, took time.Duration) string {
	rate := float64(n) / took.Seconds()
	step := math.Pow10(max(0, int(math.Log10(rate))-2))
	return formatNumber(math.Round(rate/step) * step)
}
