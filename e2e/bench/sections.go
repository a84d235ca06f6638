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
	goalRatio   = 0.15 // ramps per transaction of pgbench
	hopedRatio  = 0.25
	goalCommits = 8
	goalQuote   = 25 * time.Millisecond // p99 at half load
	goalRail    = 0.10
	goalHot     = 0.80       // of the payouts from many accounts
	goalIdle    = 60_000_000 // bytes
	goalFirst   = 10 * time.Second
	goalAgain   = 3 * time.Second
	goalLarge   = 1.2                   // of what a commit takes on small books
	goalPast    = 20 * time.Millisecond // p99 of a balance and of a page of entries
	goalTrial   = 2 * time.Second

	quietEnough = 0.1 // processors that may be busy with something else
)

const latencyHead = "p50 / p95 / p99 ms"

// sections are what was measured, the most important first.
func (r results) sections() []section {
	var all []section
	add := func(measured bool, s section) {
		if measured {
			all = append(all, s)
		}
	}
	ramps := r.main.completed > 0
	add(ramps, r.headline())
	add(ramps, r.ramps())
	add(ramps, r.spending())
	moves := r.moves()
	add(len(moves) > 0, r.moving(moves))
	add(len(moves) > 0, r.moveSpending(moves))
	add(len(r.hot.one) > 0, r.oneAccount())
	add(r.half.completed > 0 || r.alone.completed > 0, r.quoting())
	add(len(r.rail.few) > 0, r.oneRail())
	all = append(all, r.financial()...)
	add(r.startup.first > 0 || r.idle > 0, r.footprint())
	add(r.closing.books != "", r.afterwards())
	add(r.machine.cores > 0, r.conditions())
	return all
}

// beside are the runs of pgbench before and after the ramps.
func (r results) beside() []float64 { return r.yardstick[:min(2, len(r.yardstick))] }

func (r results) headline() section {
	ratio := r.main.perSecond / mean(r.beside())
	goal := fmt.Sprintf("at least %.2f of pgbench (this goes to %.2f): %s", goalRatio, hopedRatio, met(ratio >= goalRatio))
	return section{
		title: "The main figure",
		prose: []string{
			"A ramp is everything a customer's dollars go through to become bitcoin: the platform asks for a quote (`POST /quotes`), the payment arrives " +
				"(`POST /sandbox/send`), the service books it, converts, delivers, and the `COMPLETED` webhook is accepted by the platform. " +
				"All three webhooks of a ramp are signed twice and delivered.",
			fmt.Sprintf("The yardstick is `pgbench` on the same Postgres: TPC-B-like transactions, prepared, %d clients on %d threads, scale %d. "+
				"The scale must be at least the number of clients, or they queue for the rows of too few branches. It ran before and after the ramps; the mean counts.",
				yardstickClients, yardstickThreads, yardstickScale),
		},
		head: []string{"Figure", "Value", "Goal"},
		rows: [][]string{
			{"**Ramps per second**", "**" + number(r.main.perSecond) + "**", ""},
			{"pgbench, transactions per second", number(mean(r.beside())) + " (" + numbers(r.beside(), " before, ") + " after)", ""},
			{"**Ramps per pgbench transaction**", fmt.Sprintf("**%.3f**", ratio), goal},
			{"Commits per ramp", fmt.Sprintf("%.2f", r.main.cost.commits), fmt.Sprintf("at most %d: %s", goalCommits, met(r.main.cost.commits <= goalCommits))},
		},
	}
}

func (r results) ramps() section {
	s := section{
		title: "Ramps",
		prose: []string{
			fmt.Sprintf("So many ramps are under way at once, over as many connections, for %d customers; a new one begins when one is done. "+
				"Webhook: from the answer to the payment until the `COMPLETED` webhook was accepted.", r.options.customers),
		},
		head: []string{"Under way", "Ramps/s", "per pgbench tx", "Ramp, " + latencyHead, "`POST /quotes`", "`POST /sandbox/send`", "Webhook"},
	}
	for _, f := range append([]figures{r.main}, r.levels...) {
		s.rows = append(s.rows, []string{strconv.Itoa(f.inFlight), number(f.perSecond), fmt.Sprintf("%.3f", f.perSecond/mean(r.beside())),
			f.whole.String(), f.quote.String(), f.send.String(), f.webhook.String()})
	}
	return s
}

// spending tells where the time of a ramp goes.
func (r results) spending() section {
	c := r.main.cost
	total := c.server + c.postgres + c.generator
	share := func(d time.Duration) string { return fmt.Sprintf("%.0f %%", 100*float64(d)/float64(total)) }
	return section{
		title: "Where the time goes",
		prose: []string{
			fmt.Sprintf("Per ramp, with %d under way.", r.main.inFlight),
		},
		head: []string{"Of one ramp", "Value", "Share"},
		rows: [][]string{
			{"Processor time, service", micros(c.server), share(c.server)},
			{"Processor time, Postgres", micros(c.postgres), share(c.postgres)},
			{"Processor time, load generator (2 requests, 3 webhooks)", micros(c.generator), share(c.generator)},
			{"Commits, those that only read included", fmt.Sprintf("%.2f", c.commits), ""},
			{"Transactions that write", fmt.Sprintf("%.2f", c.writes), ""},
			{"Syncs of the write-ahead log", fmt.Sprintf("%.2f", c.walSyncs), ""},
			{"Write-ahead log", fmt.Sprintf("%.1f kB", c.walBytes/1000), ""},
			{"Processors busy meanwhile", fmt.Sprintf("%.2f of %d", c.busy, r.machine.cores), ""},
			{"Processors that something else kept busy", fmt.Sprintf("%.2f", c.others), disturbed(c.others)},
		},
	}
}

// disturbed warns of figures that say more about the neighbours than about us.
func disturbed(others float64) string {
	if others < quietEnough {
		return ""
	}
	return "**not a quiet machine**: the figures are lower than they would be"
}

func (r results) quoting() section {
	s := section{
		title: "Quotes",
		prose: []string{
			"At half load ramps begin at a fixed rate, half of the main figure, whether or not earlier ones are done, and each time is counted from " +
				"the moment the ramp was due: a service that stalls cannot hide it by slowing the load down. " +
				"Alone, quotes are asked for as fast as they are answered, and nobody pays them.",
		},
		head: []string{"Figure", "Value", "Goal"},
	}
	if r.half.completed > 0 {
		s.rows = append(s.rows,
			[]string{"`POST /quotes` at " + number(r.half.perSecond) + " ramps/s, " + latencyHead, r.half.quote.String(),
				"p99 under " + millis(goalQuote) + " ms: " + met(r.half.quote.p99 < goalQuote)},
			[]string{"Ramp at that rate, " + latencyHead, r.half.whole.String(), ""})
	}
	if r.alone.completed > 0 {
		s.rows = append(s.rows,
			[]string{fmt.Sprintf("Quotes alone per second, %d under way", r.alone.inFlight), number(r.alone.perSecond), ""},
			[]string{"`POST /quotes` then, " + latencyHead, r.alone.quote.String(), ""})
		c := r.alone.cost
		s.rows = append(s.rows, []string{"Processor time of one quote: service, Postgres, load generator",
			micros(c.server) + ", " + micros(c.postgres) + ", " + micros(c.generator), ""})
	}
	return s
}

func (r results) oneRail() section {
	many, few := median(r.rail.many), median(r.rail.few)
	return section{
		title: "One hot rail",
		prose: []string{
			"Every payment goes through the same rail and so through the same accounts of the ledger. " +
				"Many customers and ten took turns in short runs; the medians are compared.",
		},
		head: []string{"Figure", "Value", "Goal"},
		rows: [][]string{
			{fmt.Sprintf("Ramps/s, %d customers", r.options.customers), numbers(r.rail.many, ", "), ""},
			{"Ramps/s, 10 customers", numbers(r.rail.few, ", "), ""},
			{"Many to ten, medians", fmt.Sprintf("%.2f", many/few), fmt.Sprintf("not slower than by %.0f %%: %s", 100*goalRail, met(many >= (1-goalRail)*few))},
		},
	}
}

func (r results) footprint() section {
	s := section{title: "Memory and start", head: []string{"Figure", "Value", "Goal"}}
	if r.idle > 0 {
		s.rows = append(s.rows, []string{"Memory of the service at rest, before any load", megabytes(r.idle),
			"under " + megabytes(goalIdle) + ": " + met(r.idle < goalIdle)})
	}
	if r.closing.peak > 0 {
		s.rows = append(s.rows, []string{"Memory of the service at its largest", megabytes(r.closing.peak), ""})
	}
	if r.startup.first > 0 {
		s.rows = append(s.rows,
			[]string{"First start of `causeway dev`, until ready", seconds(r.startup.first), "under " + seconds(goalFirst) + ": " + met(r.startup.first < goalFirst)},
			[]string{"Start again, until ready", seconds(r.startup.again), "under " + seconds(goalAgain) + ": " + met(r.startup.again < goalAgain)},
			[]string{"Stop, Postgres included", seconds(r.startup.stop), ""})
	}
	return s
}

func (r results) afterwards() section {
	return section{
		title: "Afterwards",
		prose: []string{
			fmt.Sprintf("Every webhook was accepted: %d in all, %d of them `COMPLETED` events that came more than once (delivery is at least once). "+
				"Both signatures of %d of them were verified. "+
				"%d transactions are completed, kind by kind exactly those that were asked for, and none failed or is left over. %s"+
				"`causeway ledger check` went over the books of the whole run and found nothing wrong:",
				r.closing.webhooks, r.closing.repeated, r.closing.signatures, r.closing.completed, r.closing.funds()),
		},
		code: r.closing.books,
	}
}

func (r results) conditions() section {
	m := r.machine
	return section{
		title: "Machine and conditions",
		prose: []string{
			"Postgres is set as `causeway dev` sets it: fsync, full page writes and synchronous commit are on. The service is set as it comes, " +
				"but for the rate limit. Every measurement begins with a checkpoint and a warm-up; statements are prepared and tables analysed by then.",
		},
		head: []string{"Condition", "Value"},
		rows: [][]string{
			{"Date", r.when.Format("2006-01-02 15:04 MST")},
			{"Command", "`make bench`, " + fmt.Sprintf("%d s of ramps", r.options.seconds)},
			{"Processor", fmt.Sprintf("%s, %d cores", m.processor, m.cores)},
			{"Memory", fmt.Sprintf("%.0f GB", float64(m.memory)/1e9)},
			{"Kernel", "Linux " + m.kernel},
			{"Disk", fmt.Sprintf("%s, a synced write of 8 KiB takes %s ms", m.filesystem, millis(m.sync))},
			{"Go", m.golang},
			{"Postgres", m.postgres},
		},
	}
}

func met(ok bool) string {
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

func number(v float64) string { return strconv.FormatFloat(math.Round(v), 'f', 0, 64) }

func numbers(values []float64, between string) string {
	var texts []string
	for _, v := range values {
		texts = append(texts, number(v))
	}
	return strings.Join(texts, between)
}

func micros(d time.Duration) string { return fmt.Sprintf("%d µs", d.Microseconds()) }

func seconds(d time.Duration) string { return fmt.Sprintf("%.2g s", d.Seconds()) }

func megabytes(bytes int64) string { return fmt.Sprintf("%.0f MB", float64(bytes)/1e6) }
