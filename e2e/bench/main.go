// Command bench measures the service as it is deployed: the real program over HTTP, on a real Postgres with durable
// commits, used by a platform that creates quotes, pays them and receives the webhooks. In the same run it measures
// pgbench on the same Postgres, so that figures of different machines can be compared. It also measures what finance
// and auditors use, and what a large ledger costs. It writes docs/benchmarks.md.
//
// It fails if a request is refused, a payment does not complete, a webhook is missing or
// the ledger is wrong afterwards. A goal that is missed is reported and is no failure.
//
// The load generator shares the processors with what it measures. So it has plain connections instead of net/http's
// client and server, searches in messages instead of parsing them, and verifies signatures on a sample only.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	binary, part, profileDir, reportPath string
	seconds, inFlight, customerCount     int
	statementLines, ledgerEntries        int
	importRows                           int
	idempotencyKeys                      bool
}

// partNames are the values of --only.
var partNames = []string{"start", "rails", "ramps", "alone", "concurrency", "half", "rail", "platforms", "quotes", "payouts",
	"transfers-out", "transfers-in", "hot", "agents", "agent-hot", "wallets", "exports", "standby", "customers", "beside", "check", "proof",
	"reconciliation", "statements", "exchange", "months", "books", "large-ledger", "console"}

// parse reads the flags and writes help to usage.
func parse(args []string, usage io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(usage)
	numbers := []struct {
		value                  *int
		name                   string
		min, max, defaultValue int
		usage                  string
	}{
		{&o.seconds, "seconds", 2, 600, 20, "`seconds` to measure ramps for; other parts take half of it or less"},
		{&o.inFlight, "concurrency", 1, 4096, 128, "`ramps` at the same time"},
		{&o.customerCount, "customers", 10, 100_000, 1000, "`customers` to create"},
		{&o.importRows, "rows", 1000, 1_000_000, 100_000, "`rows` of the file of customers to import"},
		{&o.statementLines, "lines", 1000, 150_000, 100_000,
			"`lines` of the statements to reconcile; the ledger of that month has four times as many postings"},
		{&o.ledgerEntries, "entries", 2 * smallEntries, 100_000_000, 10_000_000, "`entries` of the large ledger"},
	}
	for _, n := range numbers {
		flags.IntVar(n.value, n.name, n.defaultValue, n.usage)
	}
	parts := strings.Join(partNames, ", ")
	flags.StringVar(&o.binary, "binary", cmp.Or(os.Getenv("CAUSEWAY_BIN"), "bin/causeway"),
		"the `program` to measure (CAUSEWAY_BIN)")
	flags.StringVar(&o.part, "only", "", "measure one `part` and write no file: "+parts)
	flags.StringVar(&o.profileDir, "profile", "",
		"write profiles of the ramps, or with --only of quotes, payouts, agents, transfers or customers, to this `folder`, and no report")
	flags.StringVar(&o.reportPath, "out", "docs/benchmarks.md", "the `file` to write the report to")
	flags.BoolVar(&o.idempotencyKeys, "keys", false, "send an idempotency key with every request, and write no file")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.part != "" && !slices.Contains(partNames, o.part) {
		return o, fmt.Errorf("--only must be one of %s, not %s", parts, o.part)
	}
	for _, n := range numbers {
		if *n.value < n.min || *n.value > n.max {
			return o, fmt.Errorf("--%s must be from %d to %d, not %d", n.name, n.min, n.max, *n.value)
		}
	}
	return o, nil
}

// includes reports whether one of the parts is measured.
func (o options) includes(parts ...string) bool {
	return o.part == "" || slices.Contains(parts, o.part)
}

func (o options) needsFundedAccounts() bool {
	return o.includes("payouts", "transfers-out", "transfers-in", "hot", "wallets") || o.needsAgents()
}

func (o options) needsAgents() bool { return o.includes("agents", "agent-hot") }

// partial reports whether the run prints its figures and writes no file.
func (o options) partial() bool { return o.part != "" || o.profileDir != "" || o.idempotencyKeys }

// timeout returns several times what a run should take.
func (o options) timeout() time.Duration {
	timeout := 10*time.Minute + 20*time.Duration(o.seconds)*time.Second
	if o.includes("large-ledger") {
		timeout += 10*time.Minute + time.Duration(o.ledgerEntries)*300*time.Microsecond
	}
	if o.includes("console") {
		timeout += 30 * time.Minute
	}
	if o.includes("rails") {
		timeout += 10 * time.Minute
	}
	return timeout + time.Duration(o.importRows)*2*time.Millisecond
}

func main() {
	o, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	debug.SetGCPercent(800) // the service needs the processors more
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout(), errors.New("the run took too long"))
	err = run(ctx, o)
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
