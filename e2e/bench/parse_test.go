package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestParseTPS(t *testing.T) {
	// The rate is read from the output of pgbench; without one it is an error.
	t.Parallel()
	output := "pgbench (15.18)\ntransaction type: <builtin: TPC-B (sort of)>\nscaling factor: 10\nlatency average = 1.130 ms\n" +
		"initial connection time = 11.1 ms\ntps = 7061.442 (without initial connection time)\n"
	if got, err := parseTPS(output); err != nil || got != 7061.442 {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := parseTPS("pgbench: error: connection failed\n"); err == nil {
		t.Error("a failed run has a rate")
	}
}

func TestCPUTime(t *testing.T) {
	// The time of a process tree includes children that have ended.
	t.Parallel()
	before, err := processTreeCPUTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}

	if err := exec.Command("sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done").Run(); err != nil {
		t.Fatal(err)
	}

	after, err := processTreeCPUTime(os.Getpid())
	if err != nil || after-before < clockTick {
		t.Errorf("the process tree used %s, %v", after-before, err)
	}
	if _, err := cpuTime(1 << 30); err == nil {
		t.Error("a process that does not exist has used time")
	}
}

func TestPreciseCPUTime(t *testing.T) {
	// The time is more precise than a tick.
	t.Parallel()
	before, err := preciseCPUTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); time.Since(begin) < 50*time.Millisecond; {
	}
	if after, err := preciseCPUTime(os.Getpid()); err != nil || after < before || after == 0 {
		t.Errorf("%s, and then %s, %v", before, after, err)
	}
	if _, err := preciseCPUTime(1 << 30); err == nil {
		t.Error("a process that does not exist has used time")
	}
}

func TestCostOf(t *testing.T) {
	// The cost of one piece of work is the difference of the readings divided by their number;
	// other programs used the rest of the busy time.
	t.Parallel()
	begin := time.Unix(0, 0)
	from := reading{at: begin, server: time.Second, postgres: 2 * time.Second, generator: 3 * time.Second, machine: 100 * time.Second,
		commits: 10, writes: 20, walBytes: 30, walSyncs: 40}
	to := reading{at: begin.Add(10 * time.Second), server: 5 * time.Second, postgres: 8 * time.Second, generator: 4 * time.Second,
		machine: 115 * time.Second, commits: 410, writes: 220, walBytes: 1030, walSyncs: 140}

	got := costOf(from, to, 100)

	want := cost{server: 40 * time.Millisecond, postgres: 60 * time.Millisecond, generator: 10 * time.Millisecond,
		otherBusy: 0.4, busy: 1.5, commits: 4, writes: 2, walSyncs: 1, walBytes: 10}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestOptions(t *testing.T) {
	// An error names the wrong flag; right ones select what is measured.
	t.Parallel()
	for args, want := range map[string]string{
		"--only nothing": "--only", "--seconds 0": "--seconds", "--concurrency 0": "--concurrency", "--customers 1": "--customers",
		"--lines 999": "--lines", "--lines 150001": "--lines", "--entries 19999": "--entries", "--entries 100000001": "--entries",
		"--seconds 601": "--seconds", "--unknown": "-unknown",
	} {
		if _, err := parse(strings.Fields(args), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
	all, err := parse(nil, io.Discard)
	if err != nil || !all.includes("rail") || !all.includes("quotes") || !all.includes("hot") || !all.needsFundedAccounts() || all.partial() {
		t.Errorf("without flags: %+v, %v", all, err)
	}
	if !all.needsClosedPeriods() {
		t.Error("without flags closed periods are measured")
	}
	months, err := parse(strings.Fields("--only months --lines 1000"), io.Discard)
	if err != nil || !months.needsClosedPeriods() || months.statementLines != 1000 || months.needsFundedAccounts() || !months.partial() {
		t.Errorf("--only months: %+v, %v", months, err)
	}
	large, err := parse(strings.Fields("--only books --entries 300000"), io.Discard)
	if err != nil || !large.includes("books") || large.ledgerEntries != 300_000 || large.needsClosedPeriods() || runTimeout(large) <= runTimeout(months) || runTimeout(all) <= runTimeout(large) {
		t.Errorf("--only books: %+v, %v", large, err)
	}
	one, err := parse([]string{"--only", "quotes"}, io.Discard)
	if err != nil || one.includes("rail") || !one.includes("quotes") || one.needsFundedAccounts() || one.needsClosedPeriods() || !one.partial() {
		t.Errorf("--only quotes: %+v, %v", one, err)
	}
}

func TestMeasureMemoryGrowth(t *testing.T) {
	// Memory used during the operation is measured, and memory used before is not.
	var used []byte
	const large = 64 << 20
	g, err := measureMemoryGrowth(os.Getpid(), func() error {
		used = bytes.Repeat([]byte{1}, large)
		return nil
	})
	if err != nil || g.before <= 0 || g.peak-g.before < large/2 {
		t.Errorf("%+v, %v: %d bytes were used", g, err, len(used))
	}
	if _, err := measureMemoryGrowth(1<<30, func() error { return nil }); err == nil {
		t.Error("the memory of a process that does not exist was measured")
	}
}
