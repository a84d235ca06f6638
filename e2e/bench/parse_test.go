package main

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestParseTPS(t *testing.T) {
	// The rate is read from what pgbench says, and its absence is an error.
	t.Parallel()
	said := "pgbench (15.18)\ntransaction type: <builtin: TPC-B (sort of)>\nscaling factor: 10\nlatency average = 1.130 ms\n" +
		"initial connection time = 11.1 ms\ntps = 7061.442 (without initial connection time)\n"
	if got, err := parseTPS(said); err != nil || got != 7061.442 {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := parseTPS("pgbench: error: connection failed\n"); err == nil {
		t.Error("a failed run has a rate")
	}
}

func TestParseStat(t *testing.T) {
	// A process is read whatever it is called; what is not one is refused.
	t.Parallel()
	line := "42 (a) b (c) S 7 42 42 0 -1 4194560 100 200 0 0 150 50 30 20 20 0 5 0 12345 1000000 500 18446744073709551615"
	got, err := parseStat(line)
	want := stat{parent: 7, cpuTime: 2 * time.Second, childCPUTime: 500 * time.Millisecond, programTitle: "a) b (c"}
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	for _, wrong := range []string{"", "42 (x) S 1", "42 x S 1", "42 (x) S a b c d e f g h i j k l m n o"} {
		if got, err := parseStat(wrong); err == nil {
			t.Errorf("%q is read as %+v", wrong, got)
		}
	}
}

func TestCPUTime(t *testing.T) {
	// The time of a process that works grows; a family counts children that have ended.
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
		t.Errorf("the family took %s, %v", after-before, err)
	}
	if _, err := cpuTime(1 << 30); err == nil {
		t.Error("a process that does not exist has used time")
	}
}

func TestPreciseCPUTime(t *testing.T) {
	// What a process has worked is told in less than ticks.
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
		t.Error("a process that does not exist has worked")
	}
}

func TestParseMachineCPUTime(t *testing.T) {
	// Idle and waiting processors are not busy; time taken by other machines is.
	t.Parallel()
	got, err := parseMachineCPUTime("cpu  100 10 200 9999 888 5 15 30 0 0\ncpu0 1 2 3\n")
	if want := 360 * clockTick; err != nil || got != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	for _, wrong := range []string{"", "cpu 1 2", "intr 1 2 3 4 5 6 7 8 9", "cpu a b c d e f g h"} {
		if _, err := parseMachineCPUTime(wrong); err == nil {
			t.Errorf("%q is read", wrong)
		}
	}
}

func TestParseMemory(t *testing.T) {
	// A size is found by its name, in bytes.
	t.Parallel()
	text := "Name:\tx\nVmHWM:\t   60000 kB\nVmRSS:\t   51234 kB\n"
	if got, err := parseMemory(text, "VmRSS"); err != nil || got != 51234*1024 {
		t.Errorf("got %d, %v", got, err)
	}
	for _, name := range []string{"VmSwap", "Name"} {
		if got, err := parseMemory(text, name); err == nil {
			t.Errorf("%s is %d", name, got)
		}
	}
}

func TestCostOf(t *testing.T) {
	// What a unit costs is the difference of the readings, shared among the units; what
	// the machine did beyond our processes was done by others.
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
	// Wrong flags are refused by their name; right ones say what is measured.
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
	if err != nil || !all.includesPart("rail") || !all.includesPart("quotes") || !all.includesPart("hot") || !all.needsFundedAccounts() || all.partial() {
		t.Errorf("without flags: %+v, %v", all, err)
	}
	if !all.needsClosedPeriods() {
		t.Error("without flags the books of a month that is over are needed")
	}
	few, err := parse(strings.Fields("--only months --lines 1000"), io.Discard)
	if err != nil || !few.needsClosedPeriods() || few.statementLines != 1000 || few.needsFundedAccounts() || !few.partial() {
		t.Errorf("--only months: %+v, %v", few, err)
	}
	large, err := parse(strings.Fields("--only books --entries 300000"), io.Discard)
	if err != nil || !large.includesPart("books") || large.ledgerEntries != 300_000 || large.needsClosedPeriods() || runTimeout(large) <= runTimeout(few) || runTimeout(all) <= runTimeout(large) {
		t.Errorf("--only books: %+v, %v", large, err)
	}
	one, err := parse([]string{"--only", "quotes"}, io.Discard)
	if err != nil || one.includesPart("rail") || !one.includesPart("quotes") || one.needsFundedAccounts() || one.needsClosedPeriods() || !one.partial() {
		t.Errorf("--only quotes: %+v, %v", one, err)
	}
}
