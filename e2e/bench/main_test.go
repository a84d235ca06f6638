package main

import (
	"io"
	"strings"
	"testing"
)

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
	months, err := parse(strings.Fields("--only months --lines 1000"), io.Discard)
	if err != nil || months.statementLines != 1000 || months.needsFundedAccounts() || !months.partial() {
		t.Errorf("--only months: %+v, %v", months, err)
	}
	agents, err := parse([]string{"--only", "agent-hot"}, io.Discard)
	if err != nil || !agents.needsAgents() || !agents.needsFundedAccounts() || months.needsAgents() {
		t.Errorf("--only agent-hot: %+v, %v", agents, err)
	}
	large, err := parse(strings.Fields("--only large-ledger --entries 300000"), io.Discard)
	if err != nil || !large.includes("large-ledger") || large.includes("books") || large.ledgerEntries != 300_000 ||
		large.timeout() <= months.timeout() || all.timeout() <= large.timeout() {
		t.Errorf("--only large-ledger: %+v, %v", large, err)
	}
	one, err := parse([]string{"--only", "quotes"}, io.Discard)
	if err != nil || one.includes("rail") || !one.includes("quotes") || one.needsFundedAccounts() || !one.partial() {
		t.Errorf("--only quotes: %+v, %v", one, err)
	}
}

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
