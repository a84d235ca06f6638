// Command bench measures the service as it is deployed: the real program over HTTP,
// on a real Postgres that makes every commit durable, with a platform that asks for
// quotes, pays them and receives the webhooks. Beside it, on the same Postgres in
// the same run, it measures pgbench, so that figures of different machines can be
// compared. Then it measures what finance and auditors use: exports, checks, proofs,
// months, reconciliation and statements; and what all of it costs on large books.
//
// It fails when a request is refused, a payment does not complete, a webhook is
// missing or the books do not balance afterwards. A goal that is missed is shown,
// and is no failure: machines differ.
//
// It shares the processors with what it measures, so it is lean: it never parses
// what it can search, and never checks in the hot loop what it can check on a sample.
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
	"strings"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	binary          string
	seconds         int
	inFlight        int
	customers       int
	statementLines  int
	ledgerEntries   int
	part            string
	profileDir      string
	reportPath      string
	idempotencyKeys bool
}

// partNames are what --only may name.
var partNames = []string{"start", "ramps", "concurrency", "half", "rail", "quotes", "payouts", "transfers-out", "transfers-in", "hot",
	"exports", "check", "proof", "reconciliation", "statements", "months", "books"}

// parse reads the flags; help goes to usage.
func parse(args []string, usage io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(usage)
	flags.StringVar(&o.binary, "binary", cmp.Or(os.Getenv("CAUSEWAY_BIN"), "bin/causeway"), "the `program` to measure (CAUSEWAY_BIN)")
	flags.IntVar(&o.seconds, "seconds", 20, "`seconds` that the ramps are measured for; other parts take half of it or less")
	flags.IntVar(&o.inFlight, "concurrency", 128, "`ramps` that are under way at once; fewer leave the processors idle")
	flags.IntVar(&o.customers, "customers", 1000, "`customers` to make")
	flags.IntVar(&o.statementLines, "lines", 100_000, "`lines` of the statements to reconcile; the books of that month have four times as many postings")
	flags.IntVar(&o.ledgerEntries, "entries", 10_000_000, "`entries` of the large books; a quick run makes do with fewer")
	flags.StringVar(&o.part, "only", "", "measure one `part` and write no file: "+strings.Join(partNames, ", "))
	flags.StringVar(&o.profileDir, "profile", "", "write profiles of the ramps, or with --only of quotes, payouts or transfers, to this `folder`, and no file of results")
	flags.StringVar(&o.reportPath, "out", "docs/benchmarks.md", "the `file` to write the results to")
	flags.BoolVar(&o.idempotencyKeys, "keys", false, "send an idempotency key with every request, and write no file")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	return o, o.validate()
}

func (o options) validate() error {
	known := o.part == ""
	for _, part := range partNames {
		known = known || part == o.part
	}
	switch {
	case !known:
		return fmt.Errorf("--only must be one of %s, not %s", strings.Join(partNames, ", "), o.part)
	case o.seconds < 2 || o.seconds > 600:
		return fmt.Errorf("--seconds must be from 2 to 600, not %d", o.seconds)
	case o.inFlight < 1 || o.inFlight > 4096:
		return fmt.Errorf("--concurrency must be from 1 to 4096, not %d", o.inFlight)
	case o.statementLines < 1000 || o.statementLines > 150_000:
		return fmt.Errorf("--lines must be from 1000 to 150000, not %d", o.statementLines)
	case o.ledgerEntries < 2*smallEntries || o.ledgerEntries > 100_000_000:
		return fmt.Errorf("--entries must be from %d to 100000000, not %d", 2*smallEntries, o.ledgerEntries)
	case o.customers < 10 || o.customers > 100_000:
		return fmt.Errorf("--customers must be from 10 to 100000, not %d", o.customers)
	}
	return nil
}

// includesPart tells whether a part is to be measured.
func (o options) includesPart(part string) bool { return o.part == "" || o.part == part }

// needsFundedAccounts tells whether a part is to be measured that needs accounts with money.
func (o options) needsFundedAccounts() bool {
	return o.includesPart("payouts") || o.includesPart("transfers-out") || o.includesPart("transfers-in") || o.includesPart("hot")
}

// needsClosedPeriods tells whether a part is to be measured that needs the books of a month that is over.
func (o options) needsClosedPeriods() bool {
	return o.includesPart("proof") || o.includesPart("reconciliation") || o.includesPart("statements") || o.includesPart("months")
}

// partial runs show their figures and write no file.
func (o options) partial() bool { return o.part != "" || o.profileDir != "" || o.idempotencyKeys }

func main() {
	o, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeoutCause(ctx, runTimeout(o), errors.New("the run took too long"))
	err = run(ctx, o)
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// runTimeout is when a run is given up: several times what it should take.
func runTimeout(o options) time.Duration {
	most := 10*time.Minute + 20*time.Duration(o.seconds)*time.Second
	if o.includesPart("books") {
		most += 10*time.Minute + time.Duration(o.ledgerEntries)*300*time.Microsecond
	}
	return most
}
