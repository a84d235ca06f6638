package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/e2e/bench/history"
	"causeway/ledger"
)

const (
	smallEntries = 10_000
	largeMonths  = 12

	goalLargeLedger     = 1.2                   // of what a commit takes on a small ledger
	goalHistoricalQuery = 20 * time.Millisecond // p99 of a balance and of a page of entries
	goalTrialBalance    = 2 * time.Second

	busiestAccounts = 20
)

// ledgerFixture is the ledger of one platform in a database of its own.
type ledgerFixture struct {
	*ledgerService // its store has one connection
	tenant
	name       string
	content    history.Result
	backendPID int // of that connection
	rand       *rand.Rand
}

// measureLargeLedger makes ledgers of two sizes and measures what may depend on the size.
func (b *bench) measureLargeLedger(ctx context.Context) (err error) {
	var fixtures [2]*ledgerFixture
	for i, entries := range []int{smallEntries, b.ledgerEntries} {
		logf("making a ledger of %d entries", entries)
		if fixtures[i], err = b.createLedgerFixture(ctx, []string{"small_ledger", "large_ledger"}[i], entries); err != nil {
			return err
		}
		defer fixtures[i].store.Close()
	}
	small, large := fixtures[0], fixtures[1]
	if err := b.comparePosting(ctx, small, large); err != nil {
		return err
	}
	if err := b.addTableSizes(ctx, large); err != nil {
		return err
	}
	if err := large.store.AdvanceBalanceSnapshots(ctx); err != nil {
		return err
	}
	if err := large.service.start(ctx); err != nil {
		return err
	}
	err = b.measureQueries(ctx, large)
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, large.lastOutput())
	}
	return errors.Join(err, large.stop())
}

func (b *bench) createLedgerFixture(ctx context.Context, name string, entries int) (*ledgerFixture, error) {
	f := &ledgerFixture{name: name, rand: rand.New(rand.NewPCG(1, 1))}
	var err error
	if f.ledgerService, err = b.newLedgerService(ctx, name, 1); err != nil {
		return nil, err
	}
	if f.tenant, err = f.createPlatform(ctx); err != nil {
		return nil, err
	}
	if f.content, err = history.Write(ctx, history.Options{URL: f.databaseURL, Platform: f.id, Entries: entries, Months: largeMonths, Seed: 1}); err != nil {
		return nil, err
	}
	logf("%d postings in %s", f.content.Postings, formatDuration(f.content.Duration))
	// Autovacuum would do it during a measurement.
	if err := b.env.meter.execIn(ctx, name, "VACUUM (ANALYZE)"); err != nil {
		return nil, err
	}
	return f, f.store.Pool().QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&f.backendPID)
}

// commitKind is a kind of commit, and how many are made in a round: few, so that the small
// ledger stays small.
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

func medianOf(times []commitTime) commitTime {
	var wall, cpu []float64
	for _, t := range times {
		wall, cpu = append(wall, t.wall), append(cpu, t.cpu)
	}
	return commitTime{median(wall), median(cpu)}
}

// comparePosting makes the same commits on both ledgers in turn.
func (b *bench) comparePosting(ctx context.Context, small, large *ledgerFixture) error {
	if err := b.env.meter.exec(ctx, "CHECKPOINT"); err != nil {
		return err
	}
	for _, kind := range commitKinds {
		times, err := alternate(13, func() (commitTime, error) { return small.runCommits(ctx, kind) }, func() (commitTime, error) { return large.runCommits(ctx, kind) })
		if err != nil {
			return err
		}
		s, l := medianOf(times[0][1:]), medianOf(times[1][1:]) // the first is the warm-up
		wall, cpu := l.wall/s.wall, l.cpu/s.cpu
		logf("%s: %.2f times the time and %.2f times the processor time of the small ledger", kind.name, wall, cpu)
		b.report.add(largePosting, kind.name, s, l, fmt.Sprintf("%.2f, %.2f of processor", wall, cpu),
			goal(fmt.Sprintf("at most %.1f times", goalLargeLedger), wall <= goalLargeLedger && cpu <= goalLargeLedger))
	}
	return nil
}

// runCommits measures one round of commits.
func (f *ledgerFixture) runCommits(ctx context.Context, kind commitKind) (t commitTime, err error) {
	units := make([][]ledger.Posting, kind.commits)
	for i := range units {
		units[i] = kind.newPostings(f)
	}
	before, err := preciseCPUTime(f.backendPID)
	if err != nil {
		return t, err
	}
	began := time.Now()
	for _, postings := range units {
		if err := f.commit(ctx, postings); err != nil {
			return t, err
		}
	}
	took := time.Since(began)
	after, err := preciseCPUTime(f.backendPID)
	each := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) / float64(kind.commits) }
	return commitTime{each(took), each(after - before)}, err
}

// rampPostings returns three postings with five entries for each ramp.
func (f *ledgerFixture) rampPostings(n int) (all []ledger.Posting) {
	bitcoin := money.Amount{Minor: 100_000, Currency: money.BTC}
	for range n {
		payment := ident.NewTransaction(f.ids.New, time.Now())
		all = append(all,
			ledger.JITReceived(f.newHeader(payment), ledger.Rail("RTP"), usd(10_050)),
			ledger.Converted(f.newHeader(payment), ledger.Conversion{From: ledger.FundingJIT, To: ledger.TransitPayouts, Sent: usd(10_050), Fees: 50, Received: bitcoin}),
			ledger.Delivered(f.newHeader(payment), ledger.Chain("LAYER2"), bitcoin))
	}
	return all
}

// depositPostings returns deposits to accounts of any customers.
func (f *ledgerFixture) depositPostings() (all []ledger.Posting) {
	for len(all) < 100 {
		a := f.content.Accounts[f.rand.IntN(len(f.content.Accounts))]
		if a.Currency == money.USD && strings.HasPrefix(a.Path, "customers/") {
			all = append(all, ledger.Deposit(f.newHeader(ident.NewTransaction(f.ids.New, time.Now())), ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: a.Path, Amount: usd(10_000)}))
		}
	}
	return all
}

// newHeader returns the header of a posting of a payment.
func (f *ledgerFixture) newHeader(payment ident.Transaction) ledger.Header {
	now := time.Now()
	return ledger.Header{ID: f.ids.New(now), Platform: f.id, Transaction: payment, Effective: now, Memo: ident.ShortCode(payment.UUID())}
}

// tableSizesSQL returns the bytes for each entry of the tables with at least half a byte for
// each, the largest first, and their total. A partitioned table has the size of its partitions.
const tableSizesSQL = `
SELECT coalesce(relname, 'Total'), sum(rows) / $1, sum(indexes) / $1
FROM (SELECT t.relname, sum(pg_table_size(part.relid))::float8 AS rows, sum(pg_indexes_size(part.relid))::float8 AS indexes
      FROM pg_class t
      CROSS JOIN LATERAL (SELECT t.oid AS relid UNION SELECT p.relid FROM pg_partition_tree(t.oid) p) part
      WHERE t.relnamespace = 'public'::regnamespace AND t.relname LIKE 'ledger\_%' AND t.relkind IN ('r', 'p') AND NOT t.relispartition
      GROUP BY t.relname) tables
WHERE rows + indexes >= $1 / 2
GROUP BY ROLLUP (relname)
ORDER BY relname IS NULL, sum(rows + indexes) DESC`

// addTableSizes adds the tables that grow with the ledger.
func (b *bench) addTableSizes(ctx context.Context, f *ledgerFixture) error {
	return b.env.meter.inDatabase(ctx, f.name, func(conn *pgx.Conn) error {
		var entries float64
		if err := conn.QueryRow(ctx, "SELECT count(*)::float8 FROM ledger_entries").Scan(&entries); err != nil {
			return err
		}
		sizes, err := queryTableSizes(ctx, conn, entries)
		for _, s := range sizes {
			b.report.add(tableSizes, s.Name, fmt.Sprintf("%.1f", s.Rows), fmt.Sprintf("%.1f", s.Indexes), fmt.Sprintf("%.1f", s.Rows+s.Indexes))
		}
		return err
	})
}

// tableSize is the size of a table in bytes for each entry.
type tableSize struct {
	Name          string
	Rows, Indexes float64
}

func queryTableSizes(ctx context.Context, conn *pgx.Conn, entries float64) ([]tableSize, error) {
	rows, err := conn.Query(ctx, tableSizesSQL, entries)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[tableSize])
}

// ledgerQuery is a request that is measured many times. In its path {account} and {entries} are
// of any account, {time} is any time of the ledger, {days} two days, {month} one month after the
// other.
type ledgerQuery struct {
	name     string
	count    int
	goal     time.Duration // 0 for none
	path     string
	nextPage bool // measure the page after that of path
}

var ledgerQueries = []ledgerQuery{
	{"Balance at a time, by recorded time", 1_000, goalHistoricalQuery, "/ledger/accounts/{account}&at={time}&by=recorded", false},
	{"Balance at a time, by effective time", 1_000, goalHistoricalQuery, "/ledger/accounts/{account}&at={time}&by=effective", false},
	{"Entries of an account until a time, newest first", 1_000, goalHistoricalQuery, "/ledger/accounts/{entries}&sortOrder=desc&to={time}", false},
	{"The next page of entries", 1_000, goalHistoricalQuery, "/ledger/accounts/{entries}&sortOrder=desc&to={time}", true},
	{"Entries from a time, oldest first", 1_000, goalHistoricalQuery, "/ledger/accounts/{entries}&sortOrder=asc&from={time}", false},
	{"Entries recorded in two days", 1_000, goalHistoricalQuery, "/ledger/accounts/{entries}&by=recorded&{days}", false},
	{"Entries effective in two days", 1_000, goalHistoricalQuery, "/ledger/accounts/{entries}&by=effective&{days}", false},
	{"Postings until a time", 1_000, 0, "/ledger/postings?limit=100&sortOrder=desc&to={time}", false},
	{"The next page of postings", 1_000, 0, "/ledger/postings?limit=100&sortOrder=desc&to={time}", true},
	{"Postings effective in two days", 1_000, 0, "/ledger/postings?limit=100&by=effective&{days}", false},
	{"Reversals until a time", 1_000, 0, "/ledger/postings?limit=100&kind=reversal&sortOrder=desc&to={time}", false},
	{"Trial balance of a month, by recorded time", largeMonths, goalTrialBalance, "/ledger/trial-balance?by=recorded&{month}", false},
	{"Trial balance of a month, by effective time", largeMonths, goalTrialBalance, "/ledger/trial-balance?by=effective&{month}", false},
	{"Trial balance as of a time, by recorded time", largeMonths, goalTrialBalance, "/ledger/trial-balance?by=recorded&to={time}", false},
	{"Trial balance as of a time, by effective time", largeMonths, goalTrialBalance, "/ledger/trial-balance?by=effective&to={time}", false},
	{"Current trial balance", largeMonths, goalTrialBalance, "/ledger/trial-balance", false},
}

// measureQueries reads balances, pages and trial balances of past times.
func (b *bench) measureQueries(ctx context.Context, f *ledgerFixture) error {
	logf("waiting until the ledger is sealed")
	if _, err := f.awaitSealed(ctx, false); err != nil {
		return err
	}
	c, err := dial(ctx, f.target.address)
	if err != nil {
		return err
	}
	defer c.close()
	for _, q := range ledgerQueries {
		n := 0
		l, err := timed(q.count, func() (time.Duration, error) {
			n++
			return f.measureQuery(c, q, n-1)
		})
		if err != nil {
			return err
		}
		logf("%s: %s ms, maximum %s", q.name, l, formatMillis(l.max))
		met := ""
		if q.goal > 0 {
			met = goal("p99 under "+q.goal.String(), l.p99 < q.goal)
		}
		b.report.add(largeQueries, q.name, q.count, l, formatMillis(l.max), met)
	}
	return nil
}

func (f *ledgerFixture) measureQuery(c *client, q ledgerQuery, n int) (time.Duration, error) {
	for {
		path := f.fillPath(q.path, n)
		body, took, err := c.get(f.target, path)
		if err != nil || !q.nextPage {
			return took, err
		}
		if cursor, found := jsonText(body, `"nextCursor":"`); found { // else it was the last page: try another
			_, took, err = c.get(f.target, path+"&cursor="+string(cursor))
			return took, err
		}
	}
}

// fillPath fills in the n-th path of a query. Half of the accounts are among the busiest.
func (f *ledgerFixture) fillPath(path string, n int) string {
	accounts := f.content.Accounts
	if f.rand.IntN(2) == 0 {
		accounts = accounts[:min(busiestAccounts, len(accounts))]
	}
	a, start, month := accounts[f.rand.IntN(len(accounts))], f.randomTime(), period.MonthOf(f.content.From)
	for range n % largeMonths {
		month = month.Next()
	}
	days := start.Add(48 * time.Hour)
	if days.After(f.content.Until) {
		days = f.content.Until
	}
	name, currency := url.PathEscape(a.Path), "?currency="+string(a.Currency)
	return strings.NewReplacer("{account}", name+currency, "{entries}", name+"/entries"+currency+"&limit=100", "{time}", formatTimestamp(start),
		"{days}", "from="+formatTimestamp(start)+"&to="+formatTimestamp(days),
		"{month}", "from="+formatTimestamp(month.Start())+"&to="+formatTimestamp(month.End())).Replace(path)
}

func (f *ledgerFixture) randomTime() time.Time {
	return f.content.From.Add(time.Duration(f.rand.Int64N(int64(f.content.Until.Sub(f.content.From)))))
}

func formatTimestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
