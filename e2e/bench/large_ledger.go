package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/e2e/bench/history"
	"causeway/ledger"
)

const (
	smallEntries = 10_000
	largeMonths  = 12
)

// ledgerFixture is the ledger of one platform in a database of its own.
type ledgerFixture struct {
	ledgerService // its store has one connection
	platform
	name       string
	content    history.Result
	backendPID int // of that connection
	rand       *rand.Rand
}

// measureLargeLedger makes ledgers of two sizes and measures what may depend on the size.
func (b *bench) measureLargeLedger(ctx context.Context) {
	small := b.createLedgerFixture(ctx, "small_ledger", smallEntries)
	defer small.store.Close()
	large := b.createLedgerFixture(ctx, "large_ledger", b.ledgerEntries)
	defer large.store.Close()
	b.comparePosting(ctx, small, large)
	const countEntries = "SELECT count(*)::float8 FROM ledger_entries"
	b.addTableSizes(ctx, large.name, queryIn[struct{ Count float64 }](ctx, b.meter, large.name, countEntries)[0].Count)
	check(large.store.AdvanceBalanceSnapshots(ctx))
	large.whileRunning(func() {
		large.start(ctx)
		logf("waiting until the ledger is sealed")
		large.awaitSealed(ctx, false)
		b.measureQueries(ctx, large)
	})
}

func (b *bench) createLedgerFixture(ctx context.Context, name string, entries int) *ledgerFixture {
	logf("making a ledger of %d entries", entries)
	f := &ledgerFixture{name: name, rand: rand.New(rand.NewPCG(1, 1)), ledgerService: b.newLedgerService(ctx, name, 1)}
	f.platform = f.createPlatform(ctx)
	f.content = must(history.Write(ctx, history.Options{URL: f.databaseURL, Platform: f.id, Entries: entries, Months: largeMonths, Seed: 1}))
	logf("%d postings in %s", f.content.Postings, formatDuration(f.content.Duration))
	// Autovacuum would do it during a measurement.
	b.meter.execIn(ctx, name, "VACUUM (ANALYZE)")
	check(f.store.Pool().QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&f.backendPID))
	return f
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

// comparePosting makes the same commits on both ledgers in turn.
func (b *bench) comparePosting(ctx context.Context, small, large *ledgerFixture) {
	b.meter.exec(ctx, "CHECKPOINT")
	for _, kind := range commitKinds {
		times := alternate(13, func() commitTime { return small.runCommits(ctx, kind) }, func() commitTime { return large.runCommits(ctx, kind) })
		var medians [2]commitTime
		for i := range times {
			var wall, cpu []float64
			for _, t := range times[i][1:] { // the first is the warm-up
				wall, cpu = append(wall, t.wall), append(cpu, t.cpu)
			}
			medians[i] = commitTime{median(wall), median(cpu)}
		}
		wall, cpu := medians[1].wall/medians[0].wall, medians[1].cpu/medians[0].cpu
		b.report.add(largePosting, kind.name, medians[0], medians[1], fmt.Sprintf("%.2f, %.2f of processor", wall, cpu),
			judge(goalLargeLedger, max(wall, cpu)))
	}
}

// runCommits measures one round of commits.
func (f *ledgerFixture) runCommits(ctx context.Context, kind commitKind) commitTime {
	units := make([][]ledger.Posting, kind.commits)
	for i := range units {
		units[i] = kind.newPostings(f)
	}
	cpuBefore, began := backendCPUTime(f.backendPID), time.Now()
	for _, postings := range units {
		f.commit(ctx, postings)
	}
	took, cpu := time.Since(began), backendCPUTime(f.backendPID)-cpuBefore
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
		a := f.content.Accounts[f.rand.IntN(len(f.content.Accounts))]
		if a.Currency == money.USD && strings.HasPrefix(a.Path, "customers/") {
			funds := ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: a.Path, Amount: usd(10_000)}
			all = append(all, ledger.Deposit(f.newHeader(ident.NewTransaction(f.ids.New, time.Now())), funds))
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

// tableSize is the size of a table in bytes for each entry.
type tableSize struct {
	Name          string
	Rows, Indexes float64
}

// addTableSizes adds the tables that grow with the ledger.
func (b *bench) addTableSizes(ctx context.Context, database string, entries float64) {
	for _, s := range queryIn[tableSize](ctx, b.meter, database, tableSizesSQL, entries) {
		b.report.add(tableSizes, s.Name, fmt.Sprintf("%.1f", s.Rows), fmt.Sprintf("%.1f", s.Indexes), fmt.Sprintf("%.1f", s.Rows+s.Indexes))
	}
}
