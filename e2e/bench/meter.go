package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
)

// meter reads what the run costs: processor time by process, and the counters of Postgres.
// Its connection is to another database, so that none of the commits it counts is its own.
type meter struct {
	conn                   *pgx.Conn
	database, superuserURL string
	serverPID, postgresPID int
}

func newMeter(ctx context.Context, superuserURL, serviceURL string, serverPID int) (*meter, error) {
	settings, err := pgx.ParseConfig(serviceURL)
	if err != nil {
		return nil, err
	}
	m := &meter{database: settings.Database, serverPID: serverPID, superuserURL: superuserURL}
	if m.conn, err = pgx.Connect(ctx, superuserURL); err != nil {
		return nil, err
	}
	var backend int
	if err := m.conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&backend); err != nil {
		return nil, err
	}
	s, err := statOf(backend)
	m.postgresPID = s.PPID
	return m, err
}

func (m *meter) close() { _ = m.conn.Close(context.Background()) }

// exec executes a statement on the server, such as CHECKPOINT.
func (m *meter) exec(ctx context.Context, statement string) error {
	_, err := m.conn.Exec(ctx, statement)
	return err
}

// inDatabase connects to a database. Its commits are counted, so it is not for use during a
// measurement.
func (m *meter) inDatabase(ctx context.Context, database string, do func(*pgx.Conn) error) error {
	settings, err := pgx.ParseConfig(m.superuserURL)
	if err != nil {
		return err
	}
	settings.Database = database
	conn, err := pgx.ConnectConfig(ctx, settings)
	if err != nil {
		return err
	}
	return errors.Join(do(conn), conn.Close(context.WithoutCancel(ctx)))
}

// execIn executes a statement in a database, such as VACUUM or ANALYZE.
func (m *meter) execIn(ctx context.Context, database, statement string) error {
	return m.inDatabase(ctx, database, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, statement)
		return err
	})
}

// queryIn reads one row from a database.
func (m *meter) queryIn(ctx context.Context, database, query string, into ...any) error {
	return m.inDatabase(ctx, database, func(conn *pgx.Conn) error { return conn.QueryRow(ctx, query).Scan(into...) })
}

// countWebhooks counts the events to be sent, and those that will not be sent any more.
func (m *meter) countWebhooks(ctx context.Context) (waiting, parked int64, err error) {
	err = m.queryIn(ctx, m.database, `SELECT (SELECT count(*) FROM webhook_queue) + (SELECT count(*) FROM webhook_backlog),
		(SELECT count(*) FROM webhook_attempts WHERE given_up)`, &waiting, &parked)
	return waiting, parked, err
}

func (m *meter) countPostings(ctx context.Context) (n int64, err error) {
	err = m.queryIn(ctx, m.database, "SELECT coalesce(sum(seq), 0)::bigint FROM ledger_clocks", &n)
	return n, err
}

// countTransactions counts the transactions by the name of their kind, or by their state if
// they are neither completed nor quotes that were not paid.
func (m *meter) countTransactions(ctx context.Context) (counts map[string]int64, err error) {
	counts = map[string]int64{}
	err = m.inDatabase(ctx, m.database, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, `
			SELECT CASE WHEN status IN ('PENDING', 'EXPIRED') AND quote_id IS NOT NULL AND source_internal IS NULL THEN 'unpaid quotes'
			            WHEN status <> 'COMPLETED' OR refund_status <> '' THEN status || ' ' || refund_status
			            WHEN direction = 'OUTGOING' AND quote_id IS NULL THEN 'transfers out'
			            WHEN direction = 'OUTGOING' AND source_internal IS NULL THEN 'ramps'
			            WHEN direction = 'OUTGOING' THEN 'payouts'
			            WHEN source_external IS NULL THEN 'deposits'
			            ELSE 'transfers in' END AS kind, count(*)
			FROM transactions GROUP BY kind`)
		if err != nil {
			return err
		}
		var kind string
		var n int64
		_, err = pgx.ForEachRow(rows, []any{&kind, &n}, func() error {
			counts[kind] = n
			return nil
		})
		return err
	})
	return counts, err
}

// reading is what has been used and counted until a time.
type reading struct {
	at                                   time.Time
	server, postgres, generator, machine time.Duration // processor time
	commits                              int64         // of the service's database, read-only ones included
	writes                               int64         // transactions that wrote or locked something
	walBytes, walSyncs                   int64
}

// read takes a reading. Under load the counters of Postgres are up to a second late, at both
// ends of a measurement.
func (m *meter) read(ctx context.Context) (r reading, err error) {
	err = m.conn.QueryRow(ctx, `
		SELECT (SELECT xact_commit FROM pg_stat_database WHERE datname = $1),
		       pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
		       (pg_current_wal_insert_lsn() - '0/0')::bigint,
		       (SELECT wal_sync FROM pg_stat_wal)`, m.database).
		Scan(&r.commits, &r.writes, &r.walBytes, &r.walSyncs)
	if err != nil {
		return r, fmt.Errorf("read the counters of Postgres: %w", err)
	}
	r.at = time.Now()
	if r.server, err = cpuTime(m.serverPID); err != nil {
		return r, err
	}
	if r.generator, err = cpuTime(os.Getpid()); err != nil {
		return r, err
	}
	if r.postgres, err = processTreeCPUTime(m.postgresPID); err != nil {
		return r, err
	}
	r.machine, err = machineCPUTime()
	return r, err
}

// cost is what one piece of work used between two readings.
type cost struct {
	server, postgres, generator         time.Duration
	otherBusy                           float64 // processors that other programs used
	busy                                float64 // processors that were busy in all
	commits, writes, walSyncs, walBytes float64
}

func costOf(from, to reading, count int) cost {
	n, seconds := float64(count), to.at.Sub(from.at).Seconds()
	server, postgres, generator, machine := to.server-from.server, to.postgres-from.postgres, to.generator-from.generator, to.machine-from.machine
	each := func(d time.Duration) time.Duration { return time.Duration(float64(d) / n) }
	return cost{
		server: each(server), postgres: each(postgres), generator: each(generator),
		otherBusy: max(0, (machine-server-postgres-generator).Seconds()/seconds), busy: machine.Seconds() / seconds,
		commits: float64(to.commits-from.commits) / n, writes: float64(to.writes-from.writes) / n,
		walSyncs: float64(to.walSyncs-from.walSyncs) / n, walBytes: float64(to.walBytes-from.walBytes) / n,
	}
}
