package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files")

// exampleReport has a row with every kind of value, and leaves most sections empty.
func exampleReport() *report {
	l := latency{20 * time.Millisecond, 31500 * time.Microsecond, 44250 * time.Microsecond, 80 * time.Millisecond}
	r := &report{code: "12 rules over 34,000 postings: nothing wrong\n"}
	r.add(conditions, "Date", "2026-01-02 03:04 UTC")
	r.add(headline, "**Ramps per second**", "**1700**")
	r.add(headline, "Commits per ramp", "8.01", goal("at most 8", false))
	r.add(quoteSection, "Quotes only, per second, 128 in flight", 1700.4)
	r.add(loadSection, "Transfers out", 128, "**2000**", "0.308", l, latency{}, "`POST /transfer-out` "+l.String(), l)
	r.add(exportSection, "`GET /ledger/export?format=csv`", 5*time.Second, byteSize(220_000_000), formatRate(530_000, 5*time.Second), memoryGrowth{90_000_000, 110_000_000}, goal("under 64 MB", true))
	r.add(statements, "html", l, byteSize(243_000))
	r.add(hotAccount, "Payouts/s, one account", formatSpread([]float64{1300, 1500, 1400}))
	r.add(afterwards, "Webhooks accepted", int64(123456))
	return r
}

func TestReport(t *testing.T) {
	t.Parallel()
	// The report has every row in the order of the sections, and no section without rows.
	got, path := exampleReport().markdown(), filepath.Join("testdata", "benchmarks.md")
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

func TestSectionTexts_Complete(t *testing.T) {
	t.Parallel()
	// Every section has a title and columns.
	for id, s := range sectionTexts {
		if s.title == "" || s.columns == "" {
			t.Errorf("section %d: %+v", id, s)
		}
	}
}

func TestAlternate_ChangesOrder(t *testing.T) {
	t.Parallel()
	// Each function is first as often as the other, and the results are kept apart.
	var calls strings.Builder
	call := func(name string) func() (string, error) {
		return func() (string, error) { calls.WriteString(name); return name, nil }
	}
	results, err := alternate(2, call("a"), call("b"))
	if err != nil || calls.String() != "abba" || strings.Join(results[0], "") != "aa" || strings.Join(results[1], "") != "bb" {
		t.Errorf("%s, %v, %v", calls.String(), results, err)
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
