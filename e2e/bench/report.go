package main

import (
	_ "embed"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"time"
)

// reportTemplate is the report with its words, and without the rows of its tables.
//
//go:embed report.md
var reportTemplate string

// section is the heading of a section of the report.
type section string

var (
	mainFigure         = newSection("Main figure")
	payments           = newSection("Payments")
	costOfPayment      = newSection("Cost of a payment")
	sizeOfPayment      = newSection("Size of a payment")
	hotAccount         = newSection("One hot account")
	agents             = newSection("Agents")
	quotes             = newSection("Quotes")
	hotRail            = newSection("One hot rail")
	platforms          = newSection("Three platforms")
	railsOfProduction  = newSection("Rails of production platforms")
	exports            = newSection("Exports")
	readsBeside        = newSection("Reads beside payments")
	onboarding         = newSection("Customers")
	besideBulk         = newSection("Beside an import and exports")
	ledgerLog          = newSection("Ledger log")
	ledgerCheck        = newSection("Ledger check")
	monthEnd           = newSection("Month end")
	exchangeResult     = newSection("Exchange result")
	booksOfYear        = newSection("Books")
	reconciliations    = newSection("Reconciliation")
	customerStatements = newSection("Customer statements")
	largePosting       = newSection("Posting to a large ledger")
	largeQueries       = newSection("Queries on a large ledger")
	consoleSection     = newSection("Console")
	tableSizes         = newSection("Size of a large ledger")
	memoryAndStart     = newSection("Memory and start")
	afterwards         = newSection("Afterwards")
	conditions         = newSection("Machine and conditions")
)

// newSection checks that the template has the section.
func newSection(heading string) section {
	if !strings.Contains(reportTemplate, "\n## "+heading+"\n") {
		panic("report.md has no section " + heading)
	}
	return section(heading)
}

const latencyColumn = "p50 / p95 / p99 ms"

// report has what follows the table head of each section.
type report map[section]string

// add adds a row to a table, and reports it as progress. A cell is text or a value that has a format:
// latency, time.Duration, byteSize, int or float64.
func (r report) add(s section, cells ...any) {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		switch cell := cell.(type) {
		case time.Duration:
			texts[i] = formatDuration(cell)
		case float64:
			texts[i] = fmt.Sprintf("%.0f", cell)
		default:
			texts[i] = fmt.Sprint(cell)
		}
	}
	row := strings.TrimRight(strings.Join(texts, " | "), " |") // empty cells at the end are optional
	logf("%s: %s", s, row)
	r[s] += "| " + row + " |\n"
}

// addText adds lines after the table, as they are.
func (r report) addText(s section, text string) {
	r[s] += "\n```text\n"
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		r[s] += strings.TrimRight(line, " \n") + "\n"
	}
	r[s] += "```\n"
}

// String returns the report without the sections that have no rows.
func (r report) String() string {
	intro, sections, _ := strings.Cut(reportTemplate, "\n## ")
	for words := range strings.SplitSeq(sections, "\n## ") {
		heading, _, _ := strings.Cut(words, "\n")
		if rows := r[section(heading)]; rows != "" {
			intro += "\n## " + strings.TrimSpace(words) + "\n" + rows
		}
	}
	return intro
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

// ratio is written with two decimals.
type ratio float64

func (r ratio) String() string { return fmt.Sprintf("%.2f", float64(r)) }

// formatDuration writes a duration with three significant digits.
func formatDuration(d time.Duration) string {
	if d < time.Second {
		return formatMillis(d) + " ms"
	}
	return threeDigits(d.Seconds()) + " s"
}

// formatMillis writes a duration in milliseconds with three significant digits.
func formatMillis(d time.Duration) string { return threeDigits(float64(d) / float64(time.Millisecond)) }

func threeDigits(v float64) string {
	switch {
	case v >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}

// formatRate writes a rate with three significant digits.
func formatRate(n int64, took time.Duration) string {
	rate := float64(n) / took.Seconds()
	step := math.Pow10(max(0, int(math.Log10(rate))-2))
	return fmt.Sprintf("%.0f", math.Round(rate/step)*step)
}

// goal is what a figure should be. The text is written beside the figure.
type goal struct {
	text string
	met  func(value float64) bool
}

// The goals, for two cores that Postgres, the service and the load share.
var (
	goalPaymentRatio   = atLeast(0.40) // payments for each pgbench transaction
	goalTransferRatio  = atLeast(0.60)
	goalFewInFlight    = atLeast(0.20) // as many ramps in flight as pgbench has
	goalAlone          = atLeast(250)  // ramps per second, one at a time
	goalStatements     = atMost(20, "")
	goalCommits        = atMost(5, "")
	goalQuoteAlone     = under(4*time.Millisecond, "p99 ", "")
	goalPlatforms      = atLeast(1.30) // of the ramps of one platform
	goalHotAccount     = atLeast(0.80) // of the payouts from many accounts
	goalHotRail        = atLeast(0.90) // of the ramps of few customers
	goalFirstStart     = under(3*time.Second, "", "")
	goalSecondStart    = under(3*time.Second, "", "")
	goalIdleMemory     = under(byteSize(60_000_000), "", "")
	goalQuotesBeside   = atMost(2, " times the p99 alone")
	goalListsBeside    = under(200*time.Millisecond, "p99 ", "")
	goalBusyMemory     = under(byteSize(160_000_000), "", "")
	goalExportMemory   = under(byteSize(64_000_000), "", "") // added, whatever the size of the ledger
	goalImport         = under(time.Minute, "", " for 100000 rows")
	goalReconciliation = under(30*time.Second, "", " for 100000 lines")
	goalBankFile       = under(time.Minute, "", "")
	goalDeposits       = under(10*time.Second, "", "")
	goalLargeLedger    = atMost(1.2, " times") // of what a commit takes on a small ledger
	goalPastQuery      = under(20*time.Millisecond, "p99 ", "")
	goalConsolePage    = under(150*time.Millisecond, "p99 ", "")
	goalTrialBalance   = under(2*time.Second, "p99 ", "")
)

// goalQuoteAtHalf is for POST /quotes at half load, on the processors of this machine.
func goalQuoteAtHalf() goal {
	if runtime.NumCPU() < 4 {
		return under(25*time.Millisecond, "p99 ", "")
	}
	return under(15*time.Millisecond, "p99 ", "")
}

func atLeast(limit float64) goal {
	return goal{"at least " + threeDigits(limit), func(value float64) bool { return value >= limit }}
}

func atMost(limit float64, unit string) goal {
	return goal{fmt.Sprint("at most ", limit, unit), func(value float64) bool { return value <= limit }}
}

func under[T byteSize | time.Duration](limit T, before, after string) goal {
	text := fmt.Sprint(before, "under ", limit, after)
	return goal{text, func(value float64) bool { return value < float64(limit) }}
}

// judge says what a figure should be and whether it is; nothing without a goal.
func judge[T float64 | byteSize | time.Duration](g goal, value T) string {
	if g.met == nil {
		return ""
	}
	if g.met(float64(value)) {
		return g.text + ": met"
	}
	return g.text + ": **missed**"
}
