package lightning_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/adapters/postgres/storage"
	"causeway/adapters/rails/lightning/lndtest"
	"causeway/core/corridor"
	"causeway/core/rail"
	"causeway/ports"
)

// countingPool counts the statements and the commits; a statement outside of a transaction is a commit too.
type countingPool struct {
	storage.Pool
	statements, commits *atomic.Int64
}

func (p countingPool) Begin(ctx context.Context) (pgx.Tx, error) {
	tx, err := p.Pool.Begin(ctx)
	return countingTx{tx, p}, err
}

func (p countingPool) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	p.statements.Add(1)
	p.commits.Add(1)
	return p.Pool.Exec(ctx, sql, args...)
}

func (p countingPool) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	p.statements.Add(1)
	p.commits.Add(1)
	return p.Pool.Query(ctx, sql, args...)
}

// countingTx is a transaction whose statements are counted.
type countingTx struct {
	pgx.Tx
	in countingPool
}

func (t countingTx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	t.in.statements.Add(1)
	return t.Tx.Exec(ctx, sql, args...)
}

func (t countingTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	t.in.statements.Add(1)
	return t.Tx.Query(ctx, sql, args...)
}

func (t countingTx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	t.in.statements.Add(int64(b.Len()))
	return t.Tx.SendBatch(ctx, b)
}

func (t countingTx) Commit(ctx context.Context) error {
	t.in.commits.Add(1)
	return t.Tx.Commit(ctx)
}

// BenchmarkSend pays invoices with a node that pays at once, in batches of a hundred as jobs give them. It reports the payments a second,
// and the statements and commits of each payment in the tables of the connection.
func BenchmarkSend(b *testing.B) {
	for name, phoenixd := range map[string]bool{"LND": false, "phoenixd": true} {
		b.Run(name, func(b *testing.B) {
			const batches, size = 20, 100
			w := newWorldOf(b, phoenixd)
			w.node.SetBalance(1_000_000_000)
			w.node.SetRouting(1_000, true)
			w.mustPoll()
			counted := countingPool{w.db.Pool(), &atomic.Int64{}, &atomic.Int64{}}
			connected := w.openOn(counted, lndtest.Open)
			connected.SetWaits(5*time.Second, time.Second)
			handover, n, took := w.handover(), 0, time.Duration(0)
			for b.Loop() {
				for range batches {
					payouts := make([]ports.Payout, size)
					for i := range payouts {
						n++
						payouts[i] = w.payout(n, 1_000)
						if err := handover.HandOver(b.Context(), w.platform, payouts[i].Transaction.ID.UUID(), rail.Payout,
							rail.Route{Rail: corridor.Lightning}, payouts[i].Transaction.Pricing.Received); err != nil {
							b.Fatal(err)
						}
					}
					began := time.Now()
					for i, o := range connected.Send(b.Context(), payouts) {
						if o.Verdict != ports.Done {
							b.Fatalf("payout %d: %+v", i, o)
						}
					}
					took += time.Since(began)
				}
			}
			b.ReportMetric(float64(n)/took.Seconds(), "payments/s")
			b.ReportMetric(float64(counted.statements.Load())/float64(n), "statements/payment")
			b.ReportMetric(float64(counted.commits.Load())/float64(n), "commits/payment")
		})
	}
}
