package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// The goals, for two cores that Postgres, the service and the load share.
const (
	goalRatio           = 0.15 // ramps per transaction of pgbench
	stretchRatio        = 0.25
	goalCommits         = 8
	goalQuote           = 25 * time.Millisecond // p99 at half load
	goalHotRail         = 0.10
	goalHotAccount      = 0.80       // of the payouts from many accounts
	goalIdleMemory      = 60_000_000 // bytes
	goalFirstStart      = 10 * time.Second
	goalRestart         = 3 * time.Second
	goalLargeLedger     = 1.2                   // of what a commit takes on small books
	goalHistoricalQuery = 20 * time.Millisecond // p99 of a balance and of a page of entries
	goalTrialBalance    = 2 * time.Second

	maxOtherBusy = 0.1 // processors that may be busy with something else
)

const latencyColumn = "p50 / p95 / p99 ms"

// sections are what was measured, the most important first.
func (r results) sections() []section {
	var all []section
	add := func(measured bool, s section) {
		if measured {
			all = append(all, s)
		}
	}
	ramps := r.mainPhase.completed > 0
	add(ramps, r.headlineSection())
	add(ramps, r.rampsSection())
	add(ramps, r.rampCostSection())
	moves := r.flows()
	add(len(moves) > 0, r.flowsSection(moves))
	add(len(moves) > 0, r.flowCostSection(moves))
	add(len(r.hotAccount.one) > 0, r.hotAccountSection())
	add(r.halfLoad.completed > 0 || r.quotesOnly.completed > 0, r.quotesSection())
	add(len(r.hotRail.few) > 0, r.hotRailSection())
	all = append(all, r.financeSections()...)
	add(r.startup.firstStart > 0 || r.idleMemory > 0, r.memorySection())
	add(r.finalChecks.ledgerReport != "", r.finalChecksSection())
	add(r.machine.cores > 0, r.conditionsSection())
	return all
}

// rampBaseline are the runs of pgbench before and after the ramps.
func (r results) rampBaseline() []float64 { return r.baselineTPS[:min(2, len(r.baselineTPS))] }

func (r results) headlineSection() section {
	ratio := r.mainPhase.perSecond / mean(r.rampBaseline())
	goal := fmt.Sprintf("at least %.2f of pgbench (this goes to %.2f): %s", goalRatio, stretchRatio, metOrMissed(ratio >= goalRatio))
	return section{
		title: "The main figure",
		prose: []string{
			"A ramp is everything a customer's dollars go through to become bitcoin: the platform asks for a quote (`POST /quotes`), the payment arrives " +
				"(`POST /sandbox/send`), the service books it, converts, delivers, and the `COMPLETED` webhook is accepted by the platform. " +
				"All three webhooks of a ramp are signed twice and delivered.",
			fmt.Sprintf("The yardstick is `pgbench` on the same Postgres: TPC-B-like transactions, prepared, %d clients on %d threads, scale %d. "+
				"The scale must be at least the number of clients, or they queue for the rows of too few branches. It ran before and after the ramps; the mean counts.",
				pgbenchClients, pgbenchThreads, pgbenchScale),
		},
		columns: []string{"Figure", "Value", "Goal"},
		rows: [][]string{
			{"**Ramps per second**", "**" + formatNumber(r.mainPhase.perSecond) + "**", ""},
			{"pgbench, transactions per second", formatNumber(mean(r.rampBaseline())) + " (" + formatNumbers(r.rampBaseline(), " before, ") + " after)", ""},
			{"**Ramps per pgbench transaction**", fmt.Sprintf("**%.3f**", ratio), goal},
			{"Commits per ramp", fmt.Sprintf("%.2f", r.mainPhase.cost.commits), fmt.Sprintf("at most %d: %s", goalCommits, metOrMissed(r.mainPhase.cost.commits <= goalCommits))},
		},
	}
}

func (r results) rampsSection() section {
	s := section{
		title: "Ramps",
		prose: []string{
			fmt.Sprintf("So many ramps are under way at once, over as many connections, for %d customers; a new one begins when one is done. "+
				"Webhook: from the answer to the payment until the `COMPLETED` webhook was accepted.", r.options.customers),
		},
		columns: []string{"Under way", "Ramps/s", "per pgbench tx", "Ramp, " + latencyColumn, "`POST /quotes`", "`POST /sandbox/send`", "Webhook"},
	}
	for _, f := range append([]measurement{r.mainPhase}, r.otherConcurrencies...) {
		s.rows = append(s.rows, []string{strconv.Itoa(f.inFlight), formatNumber(f.perSecond), fmt.Sprintf("%.3f", f.perSecond/mean(r.rampBaseline())),
			f.total.String(), f.quote.String(), f.send.String(), f.webhook.String()})
	}
	return s
}

// rampCostSection tells where the time of a ramp goes.
func (r results) rampCostSection() section {
	c := r.mainPhase.cost
	total := c.server + c.postgres + c.generator
	share := func(d time.Duration) string { return fmt.Sprintf("%.0f %%", 100*float64(d)/float64(total)) }
	return section{
		title: "Where the time goes",
		prose: []string{
			fmt.Sprintf("Per ramp, with %d under way.", r.mainPhase.inFlight),
		},
		columns: []string{"Of one ramp", "Value", "Share"},
		rows: [][]string{
			{"Processor time, service", formatMicros(c.server), share(c.server)},
			{"Processor time, Postgres", formatMicros(c.postgres), share(c.postgres)},
			{"Processor time, load generator (2 requests, 3 webhooks)", formatMicros(c.generator), share(c.generator)},
			{"Commits, those that only read included", fmt.Sprintf("%.2f", c.commits), ""},
			{"Transactions that write", fmt.Sprintf("%.2f", c.writes), ""},
			{"Syncs of the write-ahead log", fmt.Sprintf("%.2f", c.walSyncs), ""},
			{"Write-ahead log", fmt.Sprintf("%.1f kB", c.walBytes/1000), ""},
			{"Processors busy meanwhile", fmt.Sprintf("%.2f of %d", c.busy, r.machine.cores), ""},
			{"Processors that something else kept busy", fmt.Sprintf("%.2f", c.otherBusy), noiseWarning(c.otherBusy)},
		},
	}
}

// noiseWarning warns of figures that say more about the neighbours than about us.
func noiseWarning(others float64) string {
	if others < maxOtherBusy {
		return ""
	}
	return "**not a quiet machine**: the figures are lower than they would be"
}

func (r results) quotesSection() section {
	s := section{
		title: "Quotes",
		prose: []string{
			"At half load ramps begin at a fixed rate, half of the main figure, whether or not earlier ones are done, and each time is counted from " +
				"the moment the ramp was due: a service that stalls cannot hide it by slowing the load down. " +
				"Alone, quotes are asked for as fast as they are answered, and nobody pays them.",
		},
		columns: []string{"Figure", "Value", "Goal"},
	}
	if r.halfLoad.completed > 0 {
		s.rows = append(s.rows,
			[]string{"`POST /quotes` at " + formatNumber(r.halfLoad.perSecond) + " ramps/s, " + latencyColumn, r.halfLoad.quote.String(),
				"p99 under " + formatMillis(goalQuote) + " ms: " + metOrMissed(r.halfLoad.quote.p99 < goalQuote)},
			[]string{"Ramp at that rate, " + latencyColumn, r.halfLoad.total.String(), ""})
	}
	if r.quotesOnly.completed > 0 {
		s.rows = append(s.rows,
			[]string{fmt.Sprintf("Quotes alone per second, %d under way", r.quotesOnly.inFlight), formatNumber(r.quotesOnly.perSecond), ""},
			[]string{"`POST /quotes` then, " + latencyColumn, r.quotesOnly.quote.String(), ""})
		c := r.quotesOnly.cost
		s.rows = append(s.rows, []string{"Processor time of one quote: service, Postgres, load generator",
			formatMicros(c.server) + ", " + formatMicros(c.postgres) + ", " + formatMicros(c.generator), ""})
	}
	return s
}

func (r results) hotRailSection() section {
	many, few := median(r.hotRail.many), median(r.hotRail.few)
	return section{
		title: "One hot rail",
		prose: []string{
			"Every payment goes through the same rail and so through the same accounts of the ledger. " +
				"Many customers and ten took turns in short runs; the medians are compared.",
		},
		columns: []string{"Figure", "Value", "Goal"},
		rows: [][]string{
			{fmt.Sprintf("Ramps/s, %d customers", r.options.customers), formatNumbers(r.hotRail.many, ", "), ""},
			{"Ramps/s, 10 customers", formatNumbers(r.hotRail.few, ", "), ""},
			{"Many to ten, medians", fmt.Sprintf("%.2f", many/few), fmt.Sprintf("not slower than by %.0f %%: %s", 100*goalHotRail, metOrMissed(many >= (1-goalHotRail)*few))},
		},
	}
}

func (r results) memorySection() section {
	s := section{title: "Memory and start", columns: []string{"Figure", "Value", "Goal"}}
	if r.idleMemory > 0 {
		s.rows = append(s.rows, []string{"Memory of the service at rest, before any load", formatMB(r.idleMemory),
			"under " + formatMB(goalIdleMemory) + ": " + metOrMissed(r.idleMemory < goalIdleMemory)})
	}
	if r.finalChecks.peakMemory > 0 {
		s.rows = append(s.rows, []string{"Memory of the service at its largest", formatMB(r.finalChecks.peakMemory), ""})
	}
	if r.startup.firstStart > 0 {
		s.rows = append(s.rows,
			[]string{"First start of `causeway dev`, until ready", formatSeconds(r.startup.firstStart), "under " + formatSeconds(goalFirstStart) + ": " + metOrMissed(r.startup.firstStart < goalFirstStart)},
			[]string{"Start again, until ready", formatSeconds(r.startup.restart), "under " + formatSeconds(goalRestart) + ": " + metOrMissed(r.startup.restart < goalRestart)},
			[]string{"Stop, Postgres included", formatSeconds(r.startup.stop), ""})
	}
	return s
}

func (r results) finalChecksSection() section {
	return section{
		title: "Afterwards",
		prose: []string{
			fmt.Sprintf("Every webhook was accepted: %d in all, %d of them `COMPLETED` events that came more than once (delivery is at least once). "+
				"Both signatures of %d of them were verified. "+
				"%d transactions are completed, kind by kind exactly those that were asked for, and none failed or is left over. %s"+
				"`causeway ledger check` went over the books of the whole run and found nothing wrong:",
				r.finalChecks.webhooks, r.finalChecks.repeatedWebhooks, r.finalChecks.signaturesVerified, r.finalChecks.completed, r.finalChecks.balancesSentence()),
		},
		code: r.finalChecks.ledgerReport,
	}
}

func (r results) conditionsSection() section {
	m := r.machine
	return section{
		title: "Machine and conditions",
		prose: []string{
			"Postgres is set as `causeway dev` sets it: fsync, full page writes and synchronous commit are on. The service is set as it comes, " +
				"but for the rate limit. Every measurement begins with a checkpoint and a warm-up; statements are prepared and tables analysed by then.",
		},
		columns: []string{"Condition", "Value"},
		rows: [][]string{
			{"Date", r.startedAt.Format("2006-01-02 15:04 MST")},
			{"Command", "`make bench`, " + fmt.Sprintf("%d s of ramps", r.options.seconds)},
			{"Processor", fmt.Sprintf("%s, %d cores", m.processor, m.cores)},
			{"Memory", fmt.Sprintf("%.0f GB", float64(m.memory)/1e9)},
			{"Kernel", "Linux " + m.kernel},
			{"Disk", fmt.Sprintf("%s, a synced write of 8 KiB takes %s ms", m.filesystem, formatMillis(m.syncTime))},
			{"Go", m.goVersion},
			{"Postgres", m.postgres},
		},
	}
}

func metOrMissed(ok bool) string {
	if ok {
		return "met"
	}
	return "**missed**"
}

func mean(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total / float64(len(values))
}

func formatNumber(v float64) string { return strconv.FormatFloat(math.Round(v), 'f', 0, 64) }

func formatNumbers(values []float64, between string) string {
	var texts []string
	for _, v := range values {
		texts = append(texts, formatNumber(v))
	}
	return strings.Join(texts, between)
}

func formatMicros(d time.Duration) string { return fmt.Sprintf("%d µs", d.Microseconds()) }

func formatSeconds(d time.Duration) string { return fmt.Sprintf("%.2g s", d.Seconds()) }

func formatMB(bytes int64) string { return fmt.Sprintf("%.0f MB", float64(bytes)/1e6) }
