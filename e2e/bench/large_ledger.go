package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"time"

	"causeway/core/ident"
	"causeway/core/period"
	"causeway/e2e/bench/history"
	"causeway/ledger"
)

const (
	smallEntries = 10_000
	largeMonths  = 12
)

// ledgerFixture is the ledger of one platform in a database of its own.
type ledgerFixture struct {
	*service // its store has one connection
	platform
	name     string
	content  history.Result
	accounts []ledgerAccount // with entries, the busiest first
	rand     *rand.Rand
}

type ledgerAccount struct{ Path, Currency string }

// measureLargeLedger makes ledgers of two sizes and measures what may depend on the size.
func (b *bench) measureLargeLedger(ctx context.Context) {
	small := b.createLedgerFixture(ctx, "small_ledger", history.Options{Entries: smallEntries, Months: largeMonths})
	large := b.createLedgerFixture(ctx, "large_ledger", history.Options{Entries: b.ledgerEntries, Months: largeMonths})
	b.comparePosting(ctx, small, large)
	const countEntries = "SELECT count(*)::float8 FROM ledger_entries"
	entries := queryIn[struct{ Count float64 }](ctx, b.meter, large.name, countEntries)[0].Count
	b.report.addTableSizes(tableSizes, b.tableSizes(ctx, large.name, `ledger\_%`), nil, entries)
	check(large.store.AdvanceBalanceSnapshots(ctx))
	large.start(ctx)
	logf("waiting until the ledger is sealed")
	large.awaitSealed(ctx)
	b.measureQueries(ctx, large)
	check(large.stop())
}

// createLedgerFixture makes a ledger with the size of the options.
func (b *bench) createLedgerFixture(ctx context.Context, name string, size history.Options) *ledgerFixture {
	logf("making a ledger of %d entries", size.Entries)
	f := &ledgerFixture{name: name, rand: rand.New(rand.NewPCG(1, 1)), service: b.newLedgerService(ctx, name, 1)}
	f.platform = f.createPlatform(ctx)
	size.URL, size.Platform, size.Seed = f.databaseURL, f.id, 1
	f.content = must(history.Write(ctx, size))
	logf("%d postings in %s", f.content.Postings, formatDuration(f.content.Duration))
	// Autovacuum would do it during a measurement.
	b.meter.execIn(ctx, name, "VACUUM (ANALYZE)")
	f.accounts = queryIn[ledgerAccount](ctx, b.meter, name, `
		SELECT path, a.currency
		FROM ledger_entries CROSS JOIN LATERAL (VALUES (debit_account_id), (credit_account_id)) side (id)
		JOIN ledger_accounts a USING (platform_id, id)
		GROUP BY path, a.currency ORDER BY count(*) DESC, path`)
	return f
}

// commitKind is a kind of commit, and how many are made in a round: few, so that the small ledger stays small.
type commitKind struct {
	name        string
	commits     int
	newPostings func(*ledgerFixture) []ledger.Posting
}

var commitKinds = []commitKind{
	{"One ramp", 60, func(f *ledgerFixture) []ledger.Posting { return f.rampPostings(1) }},
	{"32 ramps", 6, func(f *ledgerFixture) []ledger.Posting { return f.rampPostings(32) }},
	{"100 deposits", 6, (*ledgerFixture).depositPostings},
}

// commitTime is the time of one commit, and the processor time of Postgres in it, in µs.
type commitTime struct{ wall, cpu float64 }

func (t commitTime) String() string {
	return fmt.Sprintf("%.0f µs, %.0f µs of processor", t.wall, t.cpu)
}

// comparePosting makes the same commits on both ledgers in turn.
func (b *bench) comparePosting(ctx context.Context, small, large *ledgerFixture) {
	b.meter.exec(ctx, "CHECKPOINT")
	for _, kind := range commitKinds {
		times := alternate(13, func() commitTime { return small.runCommits(ctx, kind) },
			func() commitTime { return large.runCommits(ctx, kind) })
		var medians [2]commitTime
		for i := range times {
			var wall, cpu []float64
			for _, t := range times[i][1:] { // the first is the warm-up
				wall, cpu = append(wall, t.wall), append(cpu, t.cpu)
			}
			medians[i] = commitTime{median(wall), median(cpu)}
		}
		wall, cpu := medians[1].wall/medians[0].wall, medians[1].cpu/medians[0].cpu
		ratios := fmt.Sprintf("%.2f, %.2f of processor", wall, cpu)
		b.report.add(largePosting, kind.name, medians[0], medians[1], ratios, judge(goalLargeLedger, max(wall, cpu)))
	}
}

// runCommits measures one round of commits.
func (f *ledgerFixture) runCommits(ctx context.Context, kind commitKind) commitTime {
	units := make([][]ledger.Posting, kind.commits)
	for i := range units {
		units[i] = kind.newPostings(f)
	}
	var backend int // of the one connection, which is another one after a while without work
	check(f.store.Pool().QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&backend))
	cpuBefore, began := backendCPUTime(backend), time.Now()
	for _, postings := range units {
		f.commit(ctx, postings)
	}
	took, cpu := time.Since(began), backendCPUTime(backend)-cpuBefore
	each := func(d time.Duration) float64 { return d.Seconds() * 1e6 / float64(kind.commits) }
	return commitTime{each(took), each(cpu)}
}

// rampPostings returns three postings with five entries for each ramp.
func (f *ledgerFixture) rampPostings(n int) (all []ledger.Posting) {
	for range n {
		payment := ident.NewTransaction(f.ids.New, time.Now())
		all = append(all,
			ledger.JITReceived(f.newHeader(payment), ledger.Rail("RTP"), rampConversion.Sent),
			ledger.Converted(f.newHeader(payment), rampConversion),
			ledger.Delivered(f.newHeader(payment), ledger.Chain("LAYER2"), rampConversion.Received))
	}
	return all
}

// depositPostings returns deposits to accounts of any customers.
func (f *ledgerFixture) depositPostings() (all []ledger.Posting) {
	for len(all) < 100 {
		a := f.accounts[f.rand.IntN(len(f.accounts))]
		if a.Currency == "USD" && strings.HasPrefix(a.Path, "customers/") {
			funds := ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: a.Path, Amount: usd(10_000)}
			all = append(all, ledger.Deposit(f.newHeader(ident.NewTransaction(f.ids.New, time.Now())), funds))
		}
	}
	return all
}

// newHeader returns the header of a posting of a payment.
func (f *ledgerFixture) newHeader(payment ident.Transaction) ledger.Header {
	now := time.Now()
	memo := ident.ShortCode(payment.UUID())
	return ledger.Header{ID: f.ids.New(now), Platform: f.id, Transaction: payment, Effective: now, Memo: memo}
}

// ledgerQuery is a request that is measured many times. In its path {account} and {entries} are
// of any account, {time} is any time of the ledger, {days} two days, {month} one month after the
// other. With {next} at the end it is the page after that of the path.
type ledgerQuery struct{ name, path string }

// ledgerQueries are grouped by the number of requests and the goal.
var ledgerQueries = []struct {
	count   int
	goal    goal
	queries []ledgerQuery
}{
	{1_000, goalPastQuery, []ledgerQuery{
		{"Balance at a time, by recorded time", "/ledger/accounts/{account}&at={time}&by=recorded"},
		{"Balance at a time, by effective time", "/ledger/accounts/{account}&at={time}&by=effective"},
		{"Entries of an account until a time, newest first", "/ledger/accounts/{entries}&sortOrder=desc&to={time}"},
		{"The next page of entries", "/ledger/accounts/{entries}&sortOrder=desc&to={time}{next}"},
		{"Entries from a time, oldest first", "/ledger/accounts/{entries}&sortOrder=asc&from={time}"},
		{"Entries recorded in two days", "/ledger/accounts/{entries}&by=recorded&{days}"},
		{"Entries effective in two days", "/ledger/accounts/{entries}&by=effective&{days}"},
	}},
	{1_000, goal{}, []ledgerQuery{
		{"Postings until a time", "/ledger/postings?limit=100&sortOrder=desc&to={time}"},
		{"The next page of postings", "/ledger/postings?limit=100&sortOrder=desc&to={time}{next}"},
		{"Postings effective in two days", "/ledger/postings?limit=100&by=effective&{days}"},
		{"Reversals until a time", "/ledger/postings?limit=100&kind=reversal&sortOrder=desc&to={time}"},
	}},
	{largeMonths, goalTrialBalance, []ledgerQuery{
		{"Trial balance of a month, by recorded time", "/ledger/trial-balance?by=recorded&{month}"},
		{"Trial balance of a month, by effective time", "/ledger/trial-balance?by=effective&{month}"},
		{"Trial balance as of a time, by recorded time", "/ledger/trial-balance?by=recorded&to={time}"},
		{"Trial balance as of a time, by effective time", "/ledger/trial-balance?by=effective&to={time}"},
		{"Current trial balance", "/ledger/trial-balance"},
	}},
}

// measureQueries reads balances, pages and trial balances of past times.
func (b *bench) measureQueries(ctx context.Context, f *ledgerFixture) {
	for _, group := range ledgerQueries {
		for _, q := range group.queries {
			n := 0
			l := timed(group.count, func() time.Duration {
				n++
				return f.measureQuery(ctx, q.path, n-1)
			})
			b.report.add(largeQueries, q.name, group.count, l, formatMillis(l.max), judge(group.goal, l.p99))
		}
	}
}

// measureQuery makes the n-th request of a query.
func (f *ledgerFixture) measureQuery(ctx context.Context, path string, n int) time.Duration {
	for {
		path, nextPage := strings.CutSuffix(f.fillPath(path, n), "{next}")
		response := f.get(ctx, path)
		if !nextPage {
			return response.Duration
		}
		if cursor, found := textAfter(response.Body, `"nextCursor":"`); found { // else it was the last page: try another
			return f.get(ctx, path+"&cursor="+cursor).Duration
		}
	}
}

// fillPath fills in the n-th path of a query. Half of the accounts are the 20 busiest.
func (f *ledgerFixture) fillPath(path string, n int) string {
	accounts := f.accounts
	if f.rand.IntN(2) == 0 {
		accounts = accounts[:min(20, len(accounts))]
	}
	a := accounts[f.rand.IntN(len(accounts))]
	start := f.content.From.Add(time.Duration(f.rand.Int64N(int64(f.content.Until.Sub(f.content.From)))))
	days := start.Add(48 * time.Hour)
	if days.After(f.content.Until) {
		days = f.content.Until
	}
	month := period.MonthOf(f.content.From.AddDate(0, n%largeMonths, 0))
	name, currency := url.PathEscape(a.Path), "?currency="+a.Currency
	between := func(from, to time.Time) string { return "from=" + formatTimestamp(from) + "&to=" + formatTimestamp(to) }
	return strings.NewReplacer("{account}", name+currency, "{entries}", name+"/entries"+currency+"&limit=100",
		"{time}", formatTimestamp(start), "{days}", between(start, days),
		"{month}", between(month.Start(), month.End())).Replace(path)
}

func formatTimestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
