package main

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files")

func TestReport(t *testing.T) {
	t.Parallel()
	// The report has every row in the order of the sections, and no section without rows. There is
	// a row with every kind of value.
	l := latency{20 * time.Millisecond, 31500 * time.Microsecond, 44250 * time.Microsecond, 80 * time.Millisecond}
	r := report{}
	r.add(conditions, "Date", "2026-01-02 03:04 UTC")
	r.add(mainFigure, "**Ramps per second**", "**1700**")
	r.add(mainFigure, "Commits of one", "5.01", judge(goalCommits, 5.01))
	r.add(quotes, "Quotes only, per second, 128 in flight", 1700.4)
	r.add(agents, "Transfers/s refused after it reached the limit", 3100.4)
	r.add(payments, transfersOut, 128, "**2000**", "0.308", l, latency{}, "`POST /transfer-out` "+l.String(), l,
		judge(goalTransferRatio, 0.308))
	r.add(exports, "`GET /ledger/export?format=csv`", 5*time.Second, byteSize(220_000_000), formatRate(530_000, 5*time.Second),
		memoryGrowth{90_000_000, 110_000_000}, judge(goalExportMemory, byteSize(20_000_000)))
	r.add(customerStatements, "html", l, byteSize(243_000))
	r.add(afterwards, "Webhooks accepted", int64(123456))
	r.addText(afterwards, "\nrule  checked \n\nAll 12 rules passed.\n\n")

	got, path := r.String(), filepath.Join("testdata", "benchmarks.md")
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
		t.Errorf("%s differs (run with -update if that is right); got:\n%s", path, got)
	}
}

func TestFormat_ThreeSignificantDigits(t *testing.T) {
	t.Parallel()
	// Durations and rates have three significant digits.
	for took, want := range map[time.Duration]string{
		0: "0.00 ms", 123456: "0.12 ms", 1234 * time.Microsecond: "1.23 ms", 9994 * time.Microsecond: "9.99 ms",
		9996 * time.Microsecond: "10.0 ms", 99949 * time.Microsecond: "99.9 ms", 99951 * time.Microsecond: "100 ms",
		time.Second: "1.00 s", 9870 * time.Millisecond: "9.87 s", 64_321 * time.Millisecond: "64.3 s", 125 * time.Second: "125 s",
	} {
		if got := formatDuration(took); got != want {
			t.Errorf("%s: %s; want %s", took, got, want)
		}
	}
	for n, want := range map[int64]string{1: "1", 999: "999", 1234: "1230", 98_765: "98800"} {
		if got := formatRate(n, time.Second); got != want {
			t.Errorf("%d: %s; want %s", n, got, want)
		}
	}
	if got := formatMillis(2 * time.Second); got != "2000" {
		t.Errorf("two seconds in ms: %s", got)
	}
}

func TestJudge_Limits(t *testing.T) {
	// Each goal is met up to its limit, which is part of "at least" and "at most" only.
	t.Parallel()
	below := func(limit float64) float64 { return math.Nextafter(limit, 0) }
	above := func(limit float64) float64 { return math.Nextafter(limit, math.MaxFloat64) }
	const ms = float64(time.Millisecond)
	for _, c := range []struct {
		goal        goal
		met, missed float64
		text        string
	}{
		{goalPaymentRatio, 0.4, below(0.4), "at least 0.40"}, {goalCommits, 5, above(5), "at most 5"},
		{goalHotAccount, 0.8, below(0.8), "at least 0.80"}, {goalHotRail, 0.9, below(0.9), "at least 0.90"},
		{goalQuoteAlone, below(4 * ms), 4 * ms, "p99 under 4ms"}, {goalFirstStart, below(3e3 * ms), 3e3 * ms, "under 3s"},
		{goalSecondStart, below(3e3 * ms), 3e3 * ms, "under 3s"}, {goalIdleMemory, below(60e6), 60e6, "under 60 MB"},
		{goalBusyMemory, below(160e6), 160e6, "under 160 MB"},
		{goalQuotesBeside, 2, above(2), "at most 2 times the p99 alone"},
		{goalListsBeside, below(200 * ms), 200 * ms, "p99 under 200ms"}, {goalExportMemory, below(64e6), 64e6, "under 64 MB"},
		{goalLargeLedger, 1.2, above(1.2), "at most 1.2 times"},
		{goalImport, below(6e4 * ms), 6e4 * ms, "under 1m0s for 100000 rows"},
		{goalReconciliation, below(3e4 * ms), 3e4 * ms, "under 30s for 100000 lines"},
		{goalPastQuery, below(20 * ms), 20 * ms, "p99 under 20ms"}, {goalTrialBalance, below(2e3 * ms), 2e3 * ms, "p99 under 2s"},
	} {
		if got, want := judge(c.goal, c.met), c.text+": met"; got != want {
			t.Errorf("%v: %q; want %q", c.met, got, want)
		}
		if got, want := judge(c.goal, c.missed), c.text+": **missed**"; got != want {
			t.Errorf("%v: %q; want %q", c.missed, got, want)
		}
	}
	if got := judge(goal{}, 1.0); got != "" {
		t.Errorf("without a goal: %q", got)
	}
}
