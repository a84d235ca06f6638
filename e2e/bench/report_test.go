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

// fullResults are results in which everything was measured.
func fullResults() results {
	ms := func(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }
	l := latency{ms(20), ms(31.5), ms(44.25), ms(80)}
	c := cost{server: 320 * time.Microsecond, postgres: 480 * time.Microsecond, generator: 100 * time.Microsecond,
		otherBusy: 0.04, busy: 1.93, commits: 1.25, writes: 0.9, walSyncs: 0.6, walBytes: 9876}
	return results{
		machine:   machine{cores: 2, processor: "Example Processor", memory: 24e9, kernel: "6.1.0", filesystem: "ext4", goVersion: "1.26.8", postgres: "15.18", syncTime: ms(0.4)},
		startedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		options:   options{seconds: 20, customers: 1000, inFlight: 64},
		financeResults: financeResults{
			exportResults: exportResults{postings: 530_000, files: []exportResult{
				{name: "`causeway ledger export --format csv`", bytes: 220_000_000, duration: 5500 * time.Millisecond, memory: memoryGrowth{peak: 40_000_000}},
				{name: "`GET /ledger/export?format=csv`", bytes: 220_000_000, duration: 5 * time.Second, memory: memoryGrowth{before: 90_000_000, peak: 110_000_000}}}},
			proofResults: proofResults{postings: 500_000, sealDuration: 7 * time.Second, sealMemory: 85_000_000, tileBytesPerPosting: 35.25, exportBytes: 190_000_000, inclusionLatency: l, proofCount: 2000,
				verify: commandResult{duration: 6 * time.Second, peakMemory: 41_000_000}, export: commandResult{duration: 3 * time.Second, peakMemory: 51_000_000}, verifyExport: commandResult{duration: 4 * time.Second, peakMemory: 42_000_000}},
			monthEnd:         monthEndResults{softClose: ms(6), close: ms(1320), trialBalanceLines: 8, latencyBefore: l, latencyDuring: l, openRates: []float64{45000, 46000, 44000}, closedRates: []float64{44000, 45500, 43000}},
			statementResults: statementResults{movements: 1000, html: l, pdf: l, sizes: [2]int64{243_000, 105_000}},
			reconciliations: []reconciliationResult{{format: "camt053", bytes: 34_000_000, lines: 100_000, matched: 99_600, breaks: 500, duration: 5 * time.Second, repeatDuration: 1800 * time.Millisecond,
				memory: memoryGrowth{before: 50_000_000, peak: 400_000_000}}},
			largeLedger: largeLedgerResults{
				small: ledgerStats{entries: 10_000, postings: 5_800, accounts: 620, duration: 600 * time.Millisecond, entriesAfter: 33_000},
				large: ledgerStats{entries: 10_000_000, postings: 5_900_000, accounts: 930, duration: 400 * time.Second, entriesAfter: 10_023_000},
				postingCosts: []postingComparison{
					{"One ramp", commitTimes{[]float64{500, 510, 490}, []float64{300, 310, 290}}, commitTimes{[]float64{550, 540, 590}, []float64{330, 320, 350}}},
					{"32 ramps", commitTimes{[]float64{5000, 5100}, []float64{4000, 4100}}, commitTimes{[]float64{5500, 5600}, []float64{4400, 4500}}}},
				queries: []queryResult{{"A balance at a moment, by recorded time", 1000, latency{ms(2), ms(3), ms(12.5), ms(30)}, goalHistoricalQuery},
					{"Postings up to a moment", 1000, l, 0}},
				trialBalances: []queryResult{{"Of a month, by effective time", 12, latency{ms(300), ms(400), ms(500), ms(612)}, goalTrialBalance}},
				tableSizes:    []tableSize{{"ledger_entries", 90.25, 110.5}, {"ledger_postings", 120, 150}},
			},
		},
		startup:    startup{firstStart: 1900 * time.Millisecond, restart: 310 * time.Millisecond, stop: 120 * time.Millisecond},
		idleMemory: 31_500_000, baselineTPS: []float64{7000, 6600, 6400},
		mainPhase:          measurement{inFlight: 64, perSecond: 1700.4, total: l, quote: l, send: l, webhook: l, completed: 34000, cost: c},
		otherConcurrencies: []measurement{{inFlight: 8, perSecond: 900, total: l, quote: l, send: l, webhook: l, completed: 4500}},
		halfLoad:           measurement{inFlight: 512, perSecond: 850, total: l, quote: l, completed: 8500},
		hotRail:            railComparison{many: []float64{1800, 1750, 1850}, few: []float64{1900, 1880, 1950}},
		quotesOnly:         measurement{inFlight: 64, perSecond: 4000, quote: latency{ms(10), ms(20), ms(24.9), ms(30)}, completed: 40000, cost: c},
		payouts:            []measurement{{inFlight: 64, perSecond: 1400, total: l, quote: l, send: l, webhook: l, completed: 14000, cost: c}},
		transfersOut:       measurement{inFlight: 64, perSecond: 2000.2, total: l, send: l, webhook: l, completed: 20000, cost: c},
		transfersIn:        measurement{inFlight: 64, perSecond: 2500, total: l, send: l, webhook: l, completed: 25000, cost: c},
		hotAccount:         accountComparison{many: []float64{1400, 1500, 1450}, one: []float64{1300, 1400, 1500}},
		finalChecks: finalChecks{webhooks: 123456, repeatedWebhooks: 3, completed: 120000, accountsChecked: 1000, signaturesVerified: 300, ledgerReport: "12 rules over 34,000 postings: nothing wrong", peakMemory: 90_000_000,
			postings: 540_000, ledgerCheck: commandResult{duration: 8 * time.Second, peakMemory: 44_000_000}},
	}
}

func TestReport_ShowsAllResults(t *testing.T) {
	// The file and the terminal show every figure, its goal, and whether it is met.
	t.Parallel()
	var shown strings.Builder
	if err := fullResults().writeTerminal(&shown); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{"benchmarks.md": fullResults().markdown(), "terminal.txt": shown.String()} {
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

func TestReport_MissedGoal(t *testing.T) {
	// A goal that is missed is called missed, in its own row.
	t.Parallel()
	for row, worsen := range map[string]func(r *results){
		"Ramps per pgbench transaction": func(r *results) { r.mainPhase.perSecond = 900 },
		"Commits per ramp":              func(r *results) { r.mainPhase.cost.commits = 8.01 },
		"`POST /quotes` at":             func(r *results) { r.halfLoad.quote.p99 = goalQuote },
		"One to many":                   func(r *results) { r.hotAccount.one = []float64{1100} },
		"Many to ten":                   func(r *results) { r.hotRail.many = []float64{1000} },
		"Memory of the service at rest": func(r *results) { r.idleMemory = goalIdleMemory },
		"First start":                   func(r *results) { r.startup.firstStart = goalFirstStart },
		"`GET /ledger/export":           func(r *results) { r.exportResults.files[1].memory.peak = 90_000_000 + goalExportMemory },
		"| 32 ramps":                    func(r *results) { r.largeLedger.postingCosts[1].large.cpu = []float64{5000, 5000} },
		"| One ramp":                    func(r *results) { r.largeLedger.postingCosts[0].large.wall = []float64{601, 601} },
		"| A balance":                   func(r *results) { r.largeLedger.queries[0].latency.p99 = goalHistoricalQuery },
		"| Of a month":                  func(r *results) { r.largeLedger.trialBalances[0].latency.longest = goalTrialBalance },
		"| camt053":                     func(r *results) { r.reconciliations[0].duration = goalReconciliation },
		"Start again":                   func(r *results) { r.startup.restart = goalRestart },
	} {
		r := fullResults()
		r.halfLoad.quote.p99 = 20 * time.Millisecond
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

func TestReport_OmitsUnmeasuredParts(t *testing.T) {
	// What was not measured is not shown.
	t.Parallel()
	whole := fullResults()
	part := results{machine: whole.machine, idleMemory: whole.idleMemory, options: whole.options, hotRail: whole.hotRail}

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
