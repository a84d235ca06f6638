package ledgerdb_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/pgembed"
	"causeway/adapters/postgres/ledgerdb"
	"causeway/core/ident"
	"causeway/ledger"
	"causeway/migrations"
)

// benchEnv names the URL of a database, as its owner, to run the benchmarks on. Without it,
// they start a Postgres with durable commits in a temporary folder.
const benchEnv = "CAUSEWAY_BENCH_POSTGRES"

func benchDatabase(b *testing.B) string {
	b.Helper()
	ctx := context.Background()
	url := os.Getenv(benchEnv)
	if url == "" {
		server, err := pgembed.Start(ctx, pgembed.Options{
			Dir: filepath.Join(b.TempDir(), "data"), Settings: map[string]string{"max_wal_size": "4GB", "shared_buffers": "512MB"},
		})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			if err := server.Stop(ctx); err != nil {
				b.Error(err)
			}
		})
		url = server.URL()
	}
	db, err := sql.Open("pgx", url)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := migrations.Up(ctx, db); err != nil {
		b.Fatal(err)
	}
	return url
}

// BenchmarkPost measures commits of one or a hundred postings, by one or eight clients, and
// as a baseline pgbench's TPC-B on the same server before and after. A posting has one
// entry; a ramp has three postings with five entries. "dbcpu" is the processor time of the
// database processes, which depends less on other load than the rate does.
func BenchmarkPost(b *testing.B) {
	url := benchDatabase(b)
	b.Run("baseline=before", func(b *testing.B) { benchTPCB(b, url) })
	for _, clients := range []int{1, 8} {
		for _, size := range []int{1, 100} {
			for _, kind := range []string{"spread", "oneplatform", "closedmonths", "hotaccount", "ramps"} {
				b.Run(fmt.Sprintf("clients=%d/batch=%d/%s", clients, size, kind), func(b *testing.B) {
					benchPost(b, url, clients, size, kind)
				})
			}
		}
	}
	b.Run("baseline=after", func(b *testing.B) { benchTPCB(b, url) })
}

func benchPost(b *testing.B, url string, clients, size int, kind string) {
	store := ledgerdb.New()
	shared, hot := newPlatform(), newInternal()
	conns, platforms := make([]*pgx.Conn, clients), make([]ident.Platform, clients)
	for i := range conns {
		conns[i] = serviceConn(b, url)
		platforms[i] = shared
		if kind == "spread" {
			platforms[i] = newPlatform()
		}
	}
	postings := func(client int) []ledger.Posting {
		batch := make([]ledger.Posting, 0, size+2)
		header := func() ledger.Header {
			header := newHeaderFor(platforms[client])
			header.Transaction = newTransaction()
			return header
		}
		for len(batch) < size {
			switch kind {
			case "hotaccount":
				batch = append(batch, ledger.Deposit(header(), ledger.IncomingFunds{Partner: ledger.Rail("RTP"), To: ledger.CustomerAccount(hot),
					Amount: usd(100)}))
			case "ramps":
				batch = append(batch,
					ledger.JITReceived(header(), ledger.Rail("RTP"), usd(10050)),
					ledger.Converted(header(), ledger.Conversion{From: ledger.FundingJIT, To: ledger.TransitPayouts, Sent: usd(10050), Fees: 50,
						Received: btc(100_000)}),
					ledger.Delivered(header(), ledger.Chain("LAYER2"), btc(100_000)))
			default:
				batch = append(batch, ledger.JITReceived(header(), ledger.Rail("RTP"), usd(100)))
			}
		}
		return batch
	}
	post := func(client int) {
		ctx := context.Background()
		err := pgx.BeginFunc(ctx, conns[client], func(tx pgx.Tx) error { return store.Post(ctx, tx, time.Now(), postings(client)) })
		if err != nil {
			b.Error(err)
		}
	}
	for i := range conns {
		post(i)
	}
	if kind == "closedmonths" { // as oneplatform, with closed and soft-closed months
		if _, err := conns[0].Exec(context.Background(),
			`UPDATE ledger_clocks SET closed_before = '2026-10-01', soft_closed_before = '2026-11-01' WHERE platform_id = $1`,
			shared.UUID()); err != nil {
			b.Fatal(err)
		}
	}

	each := len(postings(0))
	before := processorTime(b, conns)
	var next atomic.Int64
	var group sync.WaitGroup
	b.ResetTimer()
	for i := range conns {
		group.Go(func() {
			for next.Add(1) <= int64(b.N) {
				post(i)
			}
		})
	}
	group.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N*each)/b.Elapsed().Seconds(), "postings/s")
	b.ReportMetric((processorTime(b, conns)-before).Seconds()*1e6/float64(b.N*each), "dbcpu-µs/posting")
}

func serviceConn(b *testing.B, url string) *pgx.Conn {
	b.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close(ctx) })
	if _, err := conn.Exec(ctx, "SET ROLE causeway_service; SET causeway.platform = '*'"); err != nil {
		b.Fatal(err)
	}
	return conn
}

// processorTime returns the processor time of the database processes of conns, or zero if the
// system does not report it.
func processorTime(b *testing.B, conns []*pgx.Conn) (sum time.Duration) {
	b.Helper()
	for _, c := range conns {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.PgConn().PID()))
		if err != nil {
			return 0
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+2:]))
		for _, ticks := range fields[11:13] { // in user and in system mode, in hundredths of a second
			n, err := strconv.Atoi(ticks)
			if err != nil {
				b.Fatal(err)
			}
			sum += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return sum
}

var tpcbRate = regexp.MustCompile(`tps = ([0-9.]+)`)

// benchTPCB runs pgbench for five seconds with eight clients and prepared statements.
func benchTPCB(b *testing.B, url string) {
	pgbench, err := exec.LookPath("pgbench")
	if err != nil {
		if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench"); len(found) > 0 {
			pgbench = found[len(found)-1]
		} else {
			b.Skip("no pgbench on this machine")
		}
	}
	conn := serviceConn(b, url)
	ctx := context.Background()
	if _, err := conn.Exec(ctx, "RESET ROLE; CREATE SCHEMA IF NOT EXISTS baseline"); err != nil {
		b.Fatal(err)
	}
	run := func(args ...string) string {
		cmd := exec.Command(pgbench, append(args, url)...)
		cmd.Env = append(os.Environ(), "PGOPTIONS=-c search_path=baseline")
		out, err := cmd.CombinedOutput()
		if err != nil {
			b.Fatalf("pgbench: %v\n%s", err, out)
		}
		return string(out)
	}
	run("-i", "-q", "-s", "20")
	var tps float64
	for b.Loop() {
		rate := tpcbRate.FindStringSubmatch(run("-M", "prepared", "-c", "8", "-j", "2", "-T", "5"))
		if rate == nil {
			b.Fatal("pgbench printed no rate")
		}
		if tps, err = strconv.ParseFloat(rate[1], 64); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(tps, "tps")
}
