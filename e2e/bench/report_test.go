package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files")

// exampleReport has a row with every kind of value, and leaves most sections empty.
func exampleReport() report {
	l := latency{20 * time.Millisecond, 31500 * time.Microsecond, 44250 * time.Microsecond, 80 * time.Millisecond}
	r := report{}
	r.add(conditions, "Date", "2026-01-02 03:04 UTC")
	r.add(mainFigure, "**Ramps per second**", "**1700**")
	r.add(mainFigure, "Commits per ramp", "8.01", judge(goalCommits, 8.01))
	r.add(quotes, "Quotes only, per second, 128 in flight", 1700.4)
	r.add(payments, transfersOut, 128, "**2000**", "0.308", l, latency{}, "`POST /transfer-out` "+l.String(), l)
	r.add(exports, "`GET /ledger/export?format=csv`", 5*time.Second, byteSize(220_000_000), formatRate(530_000, 5*time.Second),
		memoryGrowth{90_000_000, 110_000_000}, judge(goalExportMemory, byteSize(20_000_000)))
	r.add(customerStatements, "html", l, byteSize(243_000))
	r.add(afterwards, "Webhooks accepted", int64(123456))
	r.addText(afterwards, "\nrule  checked \n\nAll 12 rules passed.\n\n")
	return r
}

func TestReport(t *testing.T) {
	t.Parallel()
	// The report has every row in the order of the sections, and no section without rows.
	got, path := exampleReport().String(), filepath.Join("testdata", "benchmarks.md")
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

func TestFormatDurationAndRate(t *testing.T) {
	t.Parallel()
	// Durations and rates have three significant digits.
	for took, want := range map[time.Duration]string{
		1234 * time.Microsecond: "1.23 ms", 45 * time.Millisecond: "45.0 ms", 999 * time.Millisecond: "999 ms", time.Second: "1.00 s",
		9870 * time.Millisecond: "9.87 s", 64_321 * time.Millisecond: "64.3 s", 125 * time.Second: "125 s",
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
}

func TestFormatMillis(t *testing.T) {
	// Milliseconds have three significant digits.
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0.00", 123456: "0.12", 9994 * time.Microsecond: "9.99", 9996 * time.Microsecond: "10.0",
		99949 * time.Microsecond: "99.9", 99951 * time.Microsecond: "100", 2 * time.Second: "2000",
	} {
		if got := formatMillis(d); got != want {
			t.Errorf("%s: got %s; want %s", d, got, want)
		}
	}
}
