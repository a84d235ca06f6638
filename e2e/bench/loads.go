package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"causeway/e2e/kit"
)

// lowConcurrency leaves the processors idle at times.
const lowConcurrency = 8

// measureRamps measures the main figure.
func (b *bench) measureRamps(ctx context.Context) {
	m := b.measureLoads(ctx, []phase{{part: "ramps", kind: ramps, inFlight: b.inFlight, duration: b.long(), goal: goalPaymentRatio}})[0]
	b.rampsPerSecond = m.perSecond
	tps := median(b.baselines)
	b.report.add(mainFigure, "**Ramps per second**", fmt.Sprintf("**%.0f**", m.perSecond))
	b.report.add(mainFigure, "pgbench, transactions per second",
		fmt.Sprintf("%.0f (%.0f before, %.0f after)", tps, b.baselines[0], b.baselines[1]))
	b.report.add(mainFigure, "**Ramps per pgbench transaction**", fmt.Sprintf("**%.3f**", m.perSecond/tps),
		judge(goalPaymentRatio, m.perSecond/tps))
	b.report.add(mainFigure, "Commits per ramp", ratio(m.cost.each[commits]))
	b.meter.execIn(ctx, b.meter.database, "VACUUM")
	b.report.addTableSizes(sizeOfPayment, b.tableSizes(ctx, b.meter.database, "%"), b.sizesBefore, float64(b.done[ramps]))
}

// measureAlone measures ramps one at a time, where nothing can be done together.
func (b *bench) measureAlone(ctx context.Context) {
	p := phase{part: "alone", name: "ramps alone", kind: ramps, inFlight: 1, warmUp: time.Second, duration: b.brief()}
	m := b.runPhase(ctx, p)
	counted := b.countStatements(ctx, func() measurement { return b.runPhase(ctx, p) }).cost.each
	b.report.add(mainFigure, "Ramps per second, one at a time", m.perSecond, judge(goalAlone, m.perSecond))
	b.report.add(mainFigure, "Statements of one, without `BEGIN` and `COMMIT`", ratio(counted[statementCalls]),
		judge(goalStatements, counted[statementCalls]))
	b.report.add(mainFigure, "Commits of one", ratio(m.cost.each[commits]), judge(goalCommits, m.cost.each[commits]))
	b.report.add(mainFigure, "Processor time of one: service, Postgres, load generator", strings.Join(m.cost.processorTimes(), ", "))
	b.report.add(quotes, "`POST /quotes` of ramps one at a time, "+latencyColumn, m.quote, judge(goalQuoteAlone, m.quote.p99))
}

// countStatements counts the statements of the service during a measurement, which it makes slower.
func (b *bench) countStatements(ctx context.Context, measure func() measurement) measurement {
	b.trackStatements(ctx, "top")
	defer b.trackStatements(ctx, "none")
	return measure()
}

// trackStatements sets which statements Postgres counts, unless the whole run has profiles.
func (b *bench) trackStatements(ctx context.Context, which string) {
	b.meter.exec(ctx, "ALTER SYSTEM SET pg_stat_statements.track = "+which)
	b.meter.exec(ctx, "SELECT pg_reload_conf()")
}

// measureOtherLoads measures payouts and transfers, and ramps of other concurrency.
func (b *bench) measureOtherLoads(ctx context.Context) {
	loads := []phase{
		{part: "payouts", kind: payouts, inFlight: b.inFlight, duration: b.long() / 2, goal: goalPaymentRatio},
		{part: "payouts", kind: payouts, inFlight: lowConcurrency, duration: b.long() / 4},
		{part: "agents", kind: agentPayouts, inFlight: b.inFlight, duration: b.long() / 2, goal: goalPaymentRatio},
		{part: "wallets", kind: walletPayouts, inFlight: b.inFlight, duration: b.long() / 2, goal: goalPaymentRatio},
		{part: "transfers-out", kind: transfersOut, inFlight: b.inFlight, duration: b.long() / 2, goal: goalTransferRatio},
		{part: "transfers-in", kind: transfersIn, inFlight: b.inFlight, duration: b.long() / 2, goal: goalTransferRatio},
		{part: "concurrency", kind: ramps, inFlight: lowConcurrency, duration: b.brief(), goal: goalFewInFlight},
		{part: "concurrency", kind: ramps, inFlight: 256, duration: b.brief()},
	}
	b.measureLoads(ctx, slices.DeleteFunc(loads, func(p phase) bool { return !b.includes(p.part) }))
	if b.includes("wallets") {
		one := phase{part: "wallets", name: "payouts from embedded wallets alone", kind: walletPayouts, inFlight: 1, warmUp: time.Second,
			duration: b.brief()}
		each := b.countStatements(ctx, func() measurement { return b.runPhase(ctx, one) }).cost.each
		b.report.add(mainFigure, "Statements of a payout from an embedded wallet, one at a time, without `BEGIN` and `COMMIT`",
			ratio(each[statementCalls]))
		b.report.add(mainFigure, "Commits of one", ratio(each[commits]))
	}
}

// measureLoads measures loads between two runs of pgbench. Each has a row in the report.
func (b *bench) measureLoads(ctx context.Context, loads []phase) (results []measurement) {
	if len(b.baselines) == 0 {
		b.measureBaseline(ctx)
	}
	for _, p := range loads {
		p.name, p.warmUp = fmt.Sprintf("%s, %d in flight", p.kind, p.inFlight), 2*time.Second
		results = append(results, b.runPhase(ctx, p))
	}
	b.measureBaseline(ctx)
	baseline := median(b.baselines[len(b.baselines)-2:]) // before and after
	for i, m := range results {
		p, c, times := loads[i], m.cost, m.cost.processorTimes()
		b.report.add(payments, p.kind, p.inFlight, fmt.Sprintf("**%.0f**", m.perSecond), fmt.Sprintf("%.3f", m.perSecond/baseline),
			m.total, m.quote, work[p.kind].request+" "+m.send.String(), m.webhook, judge(p.goal, m.perSecond/baseline))
		otherBusy := fmt.Sprint(ratio(c.otherBusy))
		if c.otherBusy >= 0.1 {
			otherBusy = "**" + otherBusy + ": the figures are too low**"
		}
		b.report.add(costOfPayment, p.kind, p.inFlight, times[0], times[1], times[2], ratio(c.each[commits]), ratio(c.each[writes]),
			ratio(c.each[walSyncs]), byteSize(c.each[walBytes]), fmt.Sprintf("%.2f of %d", c.busy, runtime.NumCPU()), otherBusy)
	}
	return results
}

// measureBaseline runs pgbench while nothing else runs.
func (b *bench) measureBaseline(ctx context.Context) {
	// The pgbench of the measured Postgres is in the same folder.
	program := filepath.Join(filepath.Dir(must(os.Readlink(fmt.Sprintf("/proc/%d/exe", b.meter.postgresPID)))), "pgbench")
	pgbench := func(args ...string) string {
		return must(kit.MustSucceed(ctx, kit.Command{Program: program, Args: append(args, b.pgbenchURL)})).Output
	}
	if b.pgbenchURL == "" {
		logf("preparing pgbench")
		b.pgbenchURL = b.createDatabase(ctx, "pgbench")
		// The scale is at least the number of clients: each transaction updates a row of one of as many branches.
		pgbench("--initialize", "--quiet", "--scale", "10")
	}
	b.awaitWebhooks(ctx)
	b.meter.exec(ctx, "CHECKPOINT")
	output := pgbench("--protocol=prepared", "--client", "8", "--jobs", "2", "--time", strconv.Itoa(max(2, b.seconds/2)))
	b.baselines = append(b.baselines, must(parseTPS(output)))
	logf("pgbench: %.0f transactions/s", b.baselines[len(b.baselines)-1])
}

// parseTPS reads "tps = 7061.4 (without initial connection time)".
func parseTPS(output string) (tps float64, err error) {
	_, figure, _ := strings.Cut(output, "\ntps = ")
	if _, err = fmt.Sscan(figure, &tps); err != nil {
		err = fmt.Errorf("the output of pgbench has no tps:\n%s", output)
	}
	return tps, err
}

// compareOneAccount compares payouts from all accounts with payouts from one.
func (b *bench) compareOneAccount(ctx context.Context) {
	b.report.compareRates(hotAccount, 3, b.customersSide(ctx, "Payouts/s, all accounts", payouts, nil),
		b.customersSide(ctx, "Payouts/s, one account", payouts, b.customers[:1]), "One to all", goalHotAccount)
}

// compareFewCustomers compares ramps of few customers with ramps of all.
func (b *bench) compareFewCustomers(ctx context.Context) {
	b.report.compareRates(hotRail, 3, b.customersSide(ctx, "Ramps/s, 10 customers", ramps, b.customers[:10]),
		b.customersSide(ctx, "Ramps/s, all customers", ramps, nil), "All to ten", goalHotRail)
}

// comparePlatforms compares ramps of one platform with those of three platforms that pay at once.
func (b *bench) comparePlatforms(ctx context.Context) {
	all := slices.Clone(b.customers)
	for range 2 {
		p := b.service.createPlatform(ctx)
		b.receiveWebhooks(ctx, p, unsampledPath)
		all = append(all, b.createCustomersOf(ctx, p, len(b.customers))...)
	}
	b.report.compareRates(platforms, 3, b.customersSide(ctx, "Ramps/s of one platform", ramps, nil),
		b.customersSide(ctx, "Ramps/s of three platforms together", ramps, all), "Three to one", goalPlatforms)
}

// customersSide is the rate of work for some customers; nil is all of the platform.
func (b *bench) customersSide(ctx context.Context, name string, k kind, customers []*customer) ratedSide {
	p := phase{name: name, inFlight: b.inFlight, kind: k, customers: customers,
		warmUp: time.Second, duration: b.brief()}
	return ratedSide{name, func() float64 { return b.runPhase(ctx, p).perSecond }}
}

// measureHalfRate measures ramps at half the rate of the main figure.
func (b *bench) measureHalfRate(ctx context.Context) {
	m := b.runPhase(ctx, phase{name: "ramps at half the rate", kind: ramps, inFlight: 512, rate: b.rampsPerSecond / 2,
		warmUp: 2 * time.Second, duration: b.long() / 2})
	name := fmt.Sprintf("`POST /quotes` at %.0f ramps/s, %s", m.perSecond, latencyColumn)
	b.report.add(quotes, name, m.quote, judge(goalQuoteAtHalf(), m.quote.p99))
	b.report.add(quotes, "Ramp at that rate, "+latencyColumn, m.total)
}

// measureQuotes measures quotes that nobody pays.
func (b *bench) measureQuotes(ctx context.Context) {
	m := b.runPhase(ctx, phase{part: "quotes", name: "quotes only", kind: unpaidQuotes, inFlight: b.inFlight,
		warmUp: 2 * time.Second, duration: b.long() / 2})
	b.report.add(quotes, fmt.Sprintf("Quotes only, per second, %d in flight", b.inFlight), m.perSecond)
	b.report.add(quotes, "`POST /quotes` then, "+latencyColumn, m.quote)
	const name = "Processor time of one quote: service, Postgres, load generator"
	b.report.add(quotes, name, strings.Join(m.cost.processorTimes(), ", "))
}
