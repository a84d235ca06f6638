package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"time"

	"causeway/e2e/kit"
)

// The goals, for two cores that Postgres, the service and the load share.
const (
	goalRatio      = 0.15 // ramps for each pgbench transaction
	goalCommits    = 8    // for each ramp
	goalQuote      = 25 * time.Millisecond
	goalHotRail    = 0.90 // of the ramps of few customers
	goalHotAccount = 0.80 // of the payouts from many accounts
	goalIdleMemory = byteSize(60_000_000)

	maxOtherBusy = 0.1 // processors that other programs may use

	lowConcurrency = 8 // leaves the processors idle at times
)

// bench is one run.
type bench struct {
	options
	env             benchEnv
	customers       []customer
	doneByKind      [kindCount]int64
	pgbench         string    // URL of its database, once it is made
	baselineTPS     []float64 // transactions per second of pgbench
	rampsPerSecond  float64
	peakBeforeReset byteSize // memory of the service before its maximum was reset
	report          report
}

func run(ctx context.Context, o options) (err error) {
	disk, err := diskFolder()
	if err != nil {
		return err
	}
	if o.binary, err = filepath.Abs(o.binary); err != nil {
		return err
	}
	if _, err := os.Stat(o.binary); err != nil {
		return fmt.Errorf("there is no program to measure; run make build first: %w", err)
	}
	folder, err := os.MkdirTemp(disk, "causeway-bench-")
	if err != nil {
		return err
	}
	b := &bench{options: o, env: benchEnv{folder: folder, binary: o.binary}}
	defer func() { err = errors.Join(err, b.env.stop()) }()
	if o.includes("start") {
		if err := b.addStart(ctx); err != nil {
			return err
		}
	}
	if o.part != "start" {
		if err := b.measureAll(ctx); err != nil {
			return b.withDiagnostics(ctx, err)
		}
	}
	text := b.report.markdown()
	if o.partial() {
		_, err = os.Stdout.WriteString(text)
		return err
	}
	logf("writing %s", o.reportPath)
	return os.WriteFile(o.reportPath, []byte(text), 0o644)
}

// measureAll measures every part that is included.
func (b *bench) measureAll(ctx context.Context) error {
	if err := b.prepare(ctx); err != nil {
		return err
	}
	loadOnly := b.part == "" && b.partial()
	return runParts(ctx, []part{
		{true, b.warmUp},
		{b.part == "exports" || b.part == "check", func(ctx context.Context) error {
			_, err := b.runPhase(ctx, phase{name: "ramps to fill the ledger", inFlight: b.inFlight, duration: b.long()})
			return err
		}},
		{b.includes("ramps", "half"), b.measureRamps},
		{b.includes("payouts", "transfers-out", "transfers-in", "concurrency"), b.measureOtherLoads},
		{b.includes("hot"), b.measureHotAccount},
		{b.includes("half"), b.measureHalfLoad},
		{b.includes("rail"), b.measureHotRail},
		{b.includes("quotes"), b.measureQuotes},
		{b.includes("exports") && !loadOnly, b.measureExports},
		{b.needsClosedPeriods() && !loadOnly, b.measureClosedPeriods},
		{b.includes("books") && !loadOnly, b.measureLargeLedger},
		{true, b.checkAfterLoad},
	})
}

// part is one of the measurements of a run.
type part struct {
	included bool
	measure  func(context.Context) error
}

// runParts measures the parts that are included, in order.
func runParts(ctx context.Context, parts []part) error {
	for _, p := range parts {
		if p.included {
			if err := p.measure(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// The durations of phases, from --seconds.
func (b *bench) long() time.Duration  { return time.Duration(b.seconds) * time.Second }
func (b *bench) brief() time.Duration { return max(2*time.Second, b.long()/4) }

// prepare starts everything and creates the customers.
func (b *bench) prepare(ctx context.Context) error {
	logf("starting Postgres and the service")
	idleMemory, err := b.env.start(ctx, b.profileDir != "")
	if err != nil {
		return err
	}
	b.report.add(memoryAndStart, "Memory of the service at rest, before any load", idleMemory, goal("under "+goalIdleMemory.String(), idleMemory < goalIdleMemory))
	var version string
	if err := b.env.meter.conn.QueryRow(ctx, "SELECT split_part(current_setting('server_version'), ' ', 1)").Scan(&version); err != nil {
		return err
	}
	if err := b.addConditions(version); err != nil {
		return err
	}
	logf("creating %d customers", b.customerCount)
	if b.customers, err = b.env.createCustomers(ctx, b.customerCount); err != nil || !b.needsFundedAccounts() {
		return err
	}
	return b.env.fundCustomers(ctx, b.customers)
}

// warmUp lets the service prepare its statements and Postgres analyze its tables. Some
// webhooks are kept to verify their signatures.
func (b *bench) warmUp(ctx context.Context) error {
	main := map[string]kind{"quotes": quotesOnly, "payouts": payouts, "hot": payouts, "transfers-out": transfersOut, "transfers-in": transfersIn}[b.part]
	b.env.receiver.sampling.Store(true)
	_, err := b.runPhase(ctx, phase{name: "warm-up", inFlight: b.inFlight, kind: main, duration: 4 * time.Second})
	b.env.receiver.sampling.Store(false)
	if err != nil {
		return err
	}
	if err := b.env.meter.execIn(ctx, b.env.meter.database, "ANALYZE"); err != nil {
		return err
	}
	_, err = b.runPhase(ctx, phase{name: "warm-up after ANALYZE", inFlight: b.inFlight, kind: main, duration: 2 * time.Second})
	return err
}

// load is a kind of payment in a phase; each has a row in the report.
type load struct {
	part, name, request string
	kind                kind
	inFlight            int
	duration            time.Duration
}

// measureRamps measures the main figure.
func (b *bench) measureRamps(ctx context.Context) error {
	results, err := b.measureLoads(ctx, []load{{"ramps", "Ramps", "`POST /sandbox/send`", ramps, b.inFlight, b.long()}})
	if err != nil {
		return err
	}
	m := results[0]
	b.rampsPerSecond = m.perSecond
	ratio := m.perSecond / mean(b.baselineTPS)
	b.report.add(headline, "**Ramps per second**", "**"+formatNumber(m.perSecond)+"**")
	b.report.add(headline, "pgbench, transactions per second", fmt.Sprintf("%.0f (%.0f before, %.0f after)", mean(b.baselineTPS), b.baselineTPS[0], b.baselineTPS[1]))
	b.report.add(headline, "**Ramps per pgbench transaction**", fmt.Sprintf("**%.3f**", ratio), goal(fmt.Sprintf("at least %.2f", goalRatio), ratio >= goalRatio))
	b.report.add(headline, "Commits per ramp", fmt.Sprintf("%.2f", m.cost.commits), goal(fmt.Sprintf("at most %d", goalCommits), m.cost.commits <= goalCommits))
	return nil
}

// measureOtherLoads measures payouts and transfers, and ramps of other concurrency.
func (b *bench) measureOtherLoads(ctx context.Context) error {
	const execute, send = "`POST /quotes/{id}/execute`", "`POST /sandbox/send`"
	loads := []load{
		{"payouts", "Payouts", execute, payouts, b.inFlight, b.long() / 2},
		{"payouts", "Payouts", execute, payouts, lowConcurrency, b.long() / 4},
		{"transfers-out", "Transfers out", "`POST /transfer-out`", transfersOut, b.inFlight, b.long() / 2},
		{"transfers-in", "Transfers in", "`POST /transfer-in`", transfersIn, b.inFlight, b.long() / 2},
		{"concurrency", "Ramps", send, ramps, lowConcurrency, b.brief()},
		{"concurrency", "Ramps", send, ramps, 256, b.brief()},
	}
	_, err := b.measureLoads(ctx, slices.DeleteFunc(loads, func(l load) bool { return !b.includes(l.part) }))
	return err
}

// measureLoads measures loads between two runs of pgbench.
func (b *bench) measureLoads(ctx context.Context, loads []load) (results []measurement, err error) {
	if len(b.baselineTPS) == 0 {
		if err := b.measureBaseline(ctx); err != nil {
			return nil, err
		}
	}
	for _, l := range loads {
		p := phase{name: fmt.Sprintf("%s, %d in flight", l.name, l.inFlight), inFlight: l.inFlight, kind: l.kind, warmUp: 2 * time.Second, duration: l.duration}
		m, err := b.runProfiled(ctx, l.part, p)
		if err != nil {
			return nil, err
		}
		results = append(results, m)
	}
	if err := b.measureBaseline(ctx); err != nil {
		return nil, err
	}
	for i, m := range results {
		l, c := loads[i], m.cost
		otherBusy := fmt.Sprintf("%.2f", c.otherBusy)
		if c.otherBusy >= maxOtherBusy {
			otherBusy = "**" + otherBusy + ": the figures are too low**"
		}
		perBaseline := fmt.Sprintf("%.3f", m.perSecond/mean(b.baselineTPS[len(b.baselineTPS)-2:])) // those before and after
		b.report.add(loadSection, l.name, l.inFlight, "**"+formatNumber(m.perSecond)+"**", perBaseline, m.total, m.quote, l.request+" "+m.send.String(), m.webhook)
		b.report.add(loadCost, l.name, l.inFlight, formatMicros(c.server), formatMicros(c.postgres), formatMicros(c.generator), fmt.Sprintf("%.2f", c.commits),
			fmt.Sprintf("%.2f", c.writes), fmt.Sprintf("%.2f", c.walSyncs), byteSize(c.walBytes), fmt.Sprintf("%.2f of %d", c.busy, runtime.NumCPU()), otherBusy)
	}
	return results, nil
}

// measureHotAccount compares payouts from all accounts with payouts from one.
func (b *bench) measureHotAccount(ctx context.Context) error {
	rates, err := b.compareCustomers(ctx, phase{name: "one hot account", kind: payouts, maxCustomers: 1})
	if err != nil {
		return err
	}
	ratio := median(rates[1]) / median(rates[0])
	b.report.add(hotAccount, "Payouts/s, all accounts", formatSpread(rates[0]))
	b.report.add(hotAccount, "Payouts/s, one account", formatSpread(rates[1]))
	b.report.add(hotAccount, "One to all", fmt.Sprintf("%.2f", ratio), goal(fmt.Sprintf("at least %.2f", goalHotAccount), ratio >= goalHotAccount))
	return nil
}

// measureHotRail compares ramps of many customers with ramps of few.
func (b *bench) measureHotRail(ctx context.Context) error {
	rates, err := b.compareCustomers(ctx, phase{name: "one hot rail", maxCustomers: 10})
	if err != nil {
		return err
	}
	ratio := median(rates[0]) / median(rates[1])
	b.report.add(hotRail, "Ramps/s, all customers", formatSpread(rates[0]))
	b.report.add(hotRail, "Ramps/s, 10 customers", formatSpread(rates[1]))
	b.report.add(hotRail, "All to ten", fmt.Sprintf("%.2f", ratio), goal(fmt.Sprintf("at least %.2f", goalHotRail), ratio >= goalHotRail))
	return nil
}

// compareCustomers runs a phase with all customers and with its limit in turn, and returns both
// rates.
func (b *bench) compareCustomers(ctx context.Context, limited phase) ([2][]float64, error) {
	limited.inFlight, limited.warmUp, limited.duration = b.inFlight, time.Second, b.brief()
	unlimited := limited
	unlimited.maxCustomers = 0
	rate := func(p phase) func() (float64, error) {
		return func() (float64, error) {
			m, err := b.runPhase(ctx, p)
			return m.perSecond, err
		}
	}
	return alternate(3, rate(unlimited), rate(limited))
}

func (b *bench) measureHalfLoad(ctx context.Context) error {
	m, err := b.runPhase(ctx, phase{name: "ramps at half the rate", inFlight: 512, rate: b.rampsPerSecond / 2, warmUp: 2 * time.Second, duration: b.long() / 2})
	if err != nil {
		return err
	}
	b.report.add(quoteSection, fmt.Sprintf("`POST /quotes` at %.0f ramps/s, %s", m.perSecond, latencyColumn), m.quote, goal("p99 under "+goalQuote.String(), m.quote.p99 < goalQuote))
	b.report.add(quoteSection, "Ramp at that rate, "+latencyColumn, m.total)
	return nil
}

func (b *bench) measureQuotes(ctx context.Context) error {
	m, err := b.runProfiled(ctx, "quotes", phase{name: "quotes only", inFlight: b.inFlight, kind: quotesOnly, warmUp: 2 * time.Second, duration: b.long() / 2})
	if err != nil {
		return err
	}
	b.report.add(quoteSection, fmt.Sprintf("Quotes only, per second, %d in flight", m.inFlight), m.perSecond)
	b.report.add(quoteSection, "`POST /quotes` then, "+latencyColumn, m.quote)
	b.report.add(quoteSection, "Processor time of one quote: service, Postgres, load generator",
		formatMicros(m.cost.server)+", "+formatMicros(m.cost.postgres)+", "+formatMicros(m.cost.generator))
	return nil
}

// runPhase measures a phase and reports its progress.
func (b *bench) runPhase(ctx context.Context, p phase) (measurement, error) {
	m, err := b.measure(ctx, p)
	if err == nil {
		logf("%s: %.0f/s, first response %s ms; service %s, Postgres %s, generator %s", p.name, m.perSecond, cmp.Or(m.quote, m.send),
			formatMicros(m.cost.server), formatMicros(m.cost.postgres), formatMicros(m.cost.generator))
	}
	return m, err
}

// runProfiled is runPhase, with profiles if they are wanted of this part.
func (b *bench) runProfiled(ctx context.Context, part string, p phase) (m measurement, err error) {
	finish := func() error { return nil }
	if b.profileDir != "" && (b.part == part || p.kind == ramps) {
		if finish, err = b.startProfiles(ctx, p.warmUp+p.duration); err != nil {
			return m, err
		}
	}
	if m, err = b.runPhase(ctx, p); err != nil {
		return m, err
	}
	return m, finish()
}

// pgbenchScale must be at least the number of clients: each transaction of pgbench updates a row
// of one of as many branches.
const pgbenchClients, pgbenchThreads, pgbenchScale = "8", "2", "10"

var tpsPattern = regexp.MustCompile(`(?m)^tps = ([0-9.]+) `)

// measureBaseline runs pgbench while nothing else runs.
func (b *bench) measureBaseline(ctx context.Context) error {
	// The pgbench of the measured Postgres is in the same folder.
	postgres, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", b.env.meter.postgresPID))
	if err != nil {
		return err
	}
	program := filepath.Join(filepath.Dir(postgres), "pgbench")
	pgbench := func(args ...string) (string, error) {
		result, err := kit.MustSucceed(ctx, kit.Command{Program: program, Args: append(args, b.pgbench)})
		return result.Output, err
	}
	if b.pgbench == "" {
		logf("preparing pgbench")
		if b.pgbench, err = b.env.createDatabase(ctx, "pgbench"); err != nil {
			return err
		}
		if _, err := pgbench("--initialize", "--quiet", "--scale", pgbenchScale); err != nil {
			return err
		}
	}
	if err := b.awaitWebhooks(ctx); err != nil {
		return err
	}
	if err := b.env.meter.exec(ctx, "CHECKPOINT"); err != nil {
		return err
	}
	output, err := pgbench("--protocol=prepared", "--client", pgbenchClients, "--jobs", pgbenchThreads, "--time", strconv.Itoa(max(2, b.seconds/2)))
	if err != nil {
		return err
	}
	tps, err := parseTPS(output)
	logf("pgbench: %.0f transactions/s", tps)
	b.baselineTPS = append(b.baselineTPS, tps)
	return err
}

// parseTPS reads "tps = 7061.4 (without initial connection time)".
func parseTPS(output string) (float64, error) {
	found := tpsPattern.FindStringSubmatch(output)
	if found == nil {
		return 0, fmt.Errorf("the output of pgbench has no tps:\n%s", output)
	}
	return strconv.ParseFloat(found[1], 64)
}
