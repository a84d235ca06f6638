package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files anew")

// measured are results in which everything was measured.
func measured() results {
	ms := func(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }
	l := latency{ms(20), ms(31.5), ms(44.25), ms(80)}
	c := cost{server: 320 * time.Microsecond, postgres: 480 * time.Microsecond, generator: 100 * time.Microsecond,
		others: 0.04, busy: 1.93, commits: 1.25, writes: 0.9, walSyncs: 0.6, walBytes: 9876}
	return results{
		machine: machine{cores: 2, processor: "Example Processor", memory: 24e9, kernel: "6.1.0", filesystem: "ext4", golang: "1.26.8", postgres: "15.18", sync: ms(0.4)},
		when:    time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		options: options{seconds: 20, customers: 1000, inFlight: 64},
		financed: financed{
			exporting: exporting{postings: 530_000, files: []exported{
				{name: "`causeway ledger export --format csv`", bytes: 220_000_000, took: 5500 * time.Millisecond, memory: grown{peak: 40_000_000}},
				{name: "`GET /ledger/export?format=csv`", bytes: 220_000_000, took: 5 * time.Second, memory: grown{before: 90_000_000, peak: 110_000_000}}}},
			proof: proof{postings: 500_000, sealing: 7 * time.Second, sealed: 85_000_000, tiles: 35.25, file: 190_000_000, inclusion: l, proved: 2000,
				verify: task{took: 6 * time.Second, peak: 41_000_000}, export: task{took: 3 * time.Second, peak: 51_000_000}, outside: task{took: 4 * time.Second, peak: 42_000_000}},
			months: months{hold: ms(6), close: ms(1320), lines: 8, usual: l, meanwhile: l, free: []float64{45000, 46000, 44000}, ended: []float64{44000, 45500, 43000}},
			stated: stated{movements: 1000, page: l, pdf: l, sizes: [2]int64{243_000, 105_000}},
			reconciled: []reconciled{{format: "camt053", bytes: 34_000_000, lines: 100_000, matched: 99_600, breaks: 500, took: 5 * time.Second, again: 1800 * time.Millisecond,
				memory: grown{before: 50_000_000, peak: 400_000_000}}},
			large: large{
				small: written{entries: 10_000, postings: 5_800, accounts: 620, took: 600 * time.Millisecond, after: 33_000},
				large: written{entries: 10_000_000, postings: 5_900_000, accounts: 930, took: 400 * time.Second, after: 10_023_000},
				posting: []posted{
					{"One ramp", spent{[]float64{500, 510, 490}, []float64{300, 310, 290}}, spent{[]float64{550, 540, 590}, []float64{330, 320, 350}}},
					{"32 ramps", spent{[]float64{5000, 5100}, []float64{4000, 4100}}, spent{[]float64{5500, 5600}, []float64{4400, 4500}}}},
				asked: []asked{{"A balance at a moment, by recorded time", 1000, latency{ms(2), ms(3), ms(12.5), ms(30)}, goalPast},
					{"Postings up to a moment", 1000, l, 0}},
				trials: []asked{{"Of a month, by effective time", 12, latency{ms(300), ms(400), ms(500), ms(612)}, goalTrial}},
				sizes:  []tableSize{{"ledger_entries", 90.25, 110.5}, {"ledger_postings", 120, 150}},
			},
		},
		startup: startup{first: 1900 * time.Millisecond, again: 310 * time.Millisecond, stop: 120 * time.Millisecond},
		idle:    31_500_000, yardstick: []float64{7000, 6600, 6400},
		main:    figures{inFlight: 64, perSecond: 1700.4, whole: l, quote: l, send: l, webhook: l, completed: 34000, cost: c},
		levels:  []figures{{inFlight: 8, perSecond: 900, whole: l, quote: l, send: l, webhook: l, completed: 4500}},
		half:    figures{inFlight: 512, perSecond: 850, whole: l, quote: l, completed: 8500},
		rail:    rail{many: []float64{1800, 1750, 1850}, few: []float64{1900, 1880, 1950}},
		alone:   figures{inFlight: 64, perSecond: 4000, quote: latency{ms(10), ms(20), ms(24.9), ms(30)}, completed: 40000, cost: c},
		payouts: []figures{{inFlight: 64, perSecond: 1400, whole: l, quote: l, send: l, webhook: l, completed: 14000, cost: c}},
		out:     figures{inFlight: 64, perSecond: 2000.2, whole: l, send: l, webhook: l, completed: 20000, cost: c},
		in:      figures{inFlight: 64, perSecond: 2500, whole: l, send: l, webhook: l, completed: 25000, cost: c},
		hot:     hot{many: []float64{1400, 1500, 1450}, one: []float64{1300, 1400, 1500}},
		closing: closing{webhooks: 123456, repeated: 3, completed: 120000, accounts: 1000, signatures: 300, books: "12 rules over 34,000 postings: nothing wrong", peak: 90_000_000,
			postings: 540_000, check: task{took: 8 * time.Second, peak: 44_000_000}},
	}
}

func TestReport(t *testing.T) {
	// The file and the terminal show every figure, its goal, and whether it is met.
	t.Parallel()
	var shown strings.Builder
	if err := measured().show(&shown); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{"benchmarks.md": measured().markdown(), "terminal.txt": shown.String()} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs (run with -update when that is right); got:\n%s", name, got)
		}
	}
}

func TestReportGoals(t *testing.T) {
	// A goal that is missed is called missed, in its own row.
	t.Parallel()
	for row, worsen := range map[string]func(r *results){
		"Ramps per pgbench transaction": func(r *results) { r.main.perSecond = 900 },
		"Commits per ramp":              func(r *results) { r.main.cost.commits = 8.01 },
		"`POST /quotes` at":             func(r *results) { r.half.quote.p99 = goalQuote },
		"One to many":                   func(r *results) { r.hot.one = []float64{1100} },
		"Many to ten":                   func(r *results) { r.rail.many = []float64{1000} },
		"Memory of the service at rest": func(r *results) { r.idle = goalIdle },
		"First start":                   func(r *results) { r.startup.first = goalFirst },
		"`GET /ledger/export":           func(r *results) { r.exporting.files[1].memory.peak = 90_000_000 + goalExport },
		"| 32 ramps":                    func(r *results) { r.large.posting[1].large.processor = []float64{5000, 5000} },
		"| One ramp":                    func(r *results) { r.large.posting[0].large.wall = []float64{601, 601} },
		"| A balance":                   func(r *results) { r.large.asked[0].took.p99 = goalPast },
		"| Of a month":                  func(r *results) { r.large.trials[0].took.worst = goalTrial },
		"| camt053":                     func(r *results) { r.reconciled[0].took = goalWeek },
		"Start again":                   func(r *results) { r.startup.again = goalAgain },
	} {
		r := measured()
		r.half.quote.p99 = 20 * time.Millisecond
		worsen(&r)
		for line := range strings.Lines(r.markdown()) {
			if missed := strings.Contains(line, "missed"); missed != strings.Contains(line, row) && (missed || strings.Contains(line, "met")) {
				t.Errorf("%s: %s", row, line)
			}
		}
		if !strings.Contains(r.markdown(), "missed") {
			t.Errorf("%s: nothing is missed", row)
		}
	}
}

func TestReportOfAPart(t *testing.T) {
	// What was not measured is not shown.
	t.Parallel()
	whole := measured()
	part := results{machine: whole.machine, idle: whole.idle, options: whole.options, rail: whole.rail}

	text := part.markdown()

	for _, absent := range []string{"NaN", "Inf", "## Ramps", "## Quotes", "## Payouts", "hot account", "First start", "Afterwards", "arge books"} {
		if strings.Contains(text, absent) {
			t.Errorf("%s is shown:\n%s", absent, text)
		}
	}
	if !strings.Contains(text, "hot rail") {
		t.Errorf("the rail is not shown:\n%s", text)
	}
}
