package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
)

// meter reads what the run costs: processor time by process, and what Postgres
// counts. Its connection is to another database of the server, so none of the
// commits it counts is its own.
type meter struct {
	conn         *pgx.Conn
	database     string // the service's
	serverPID    int    // process id of the service
	postgresPID  int    // process id of the first Postgres process
	generatorPID int
	superuserURL string // URL
}

// newMeter reads over connections as superuser.
func newMeter(ctx context.Context, superuserURL, serviceURL string, server int) (*meter, error) {
	settings, err := pgx.ParseConfig(serviceURL)
	if err != nil {
		return nil, err
	}
	m := &meter{database: settings.Database, serverPID: server, generatorPID: os.Getpid(), superuserURL: superuserURL}
	if m.conn, err = pgx.Connect(ctx, superuserURL); err != nil {
		return nil, err
	}
	var backend int
	if err := m.conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&backend); err != nil {
		return nil, err
	}
	s, err := statOf(backend)
	if err != nil {
		return nil, fmt.Errorf("find the Postgres processes: %w", err)
	}
	m.postgresPID = s.parent
	return m, nil
}

// withServiceDatabase connects to the service's own database. What is done there counts as the
// service's, so it is not for the time of a measurement.
func (m *meter) withServiceDatabase(ctx context.Context, do func(*pgx.Conn) error) error {
	return m.withDatabase(ctx, m.database, do)
}

// withDatabase connects to a database of the server.
func (m *meter) withDatabase(ctx context.Context, database string, do func(*pgx.Conn) error) error {
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

// analyze makes Postgres know the tables as they are now. Otherwise it would do so
// by itself at some moment of the measurement.
func (m *meter) analyze(ctx context.Context) error { return m.analyzeDatabase(ctx, m.database) }

func (m *meter) analyzeDatabase(ctx context.Context, database string) error {
	return m.execIn(ctx, database, "ANALYZE")
}

// execIn executes a statement in a database of the server, such as VACUUM.
func (m *meter) execIn(ctx context.Context, database, statement string) error {
	return m.withDatabase(ctx, database, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, statement)
		return err
	})
}

// countWebhooks counts the events that wait to be sent, and those that were given up.
func (m *meter) countWebhooks(ctx context.Context) (waiting, parked int64, err error) {
	err = m.withServiceDatabase(ctx, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, `SELECT (SELECT count(*) FROM webhook_queue) + (SELECT count(*) FROM webhook_backlog),
			(SELECT count(*) FROM webhook_attempts WHERE given_up)`).Scan(&waiting, &parked)
	})
	return waiting, parked, err
}

// countPostings counts them, of all platforms.
func (m *meter) countPostings(ctx context.Context) (n int64, err error) {
	err = m.withServiceDatabase(ctx, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SELECT coalesce(sum(seq), 0)::bigint FROM ledger_clocks").Scan(&n)
	})
	return n, err
}

// transactionCounts are those that completed, by kind, quotes that nobody paid, and all
// that stand anywhere else.
type transactionCounts struct{ ramps, payouts, transfersOut, transfersIn, deposits, unpaidQuotes, others int64 }

// countTransactions counts them.
func (m *meter) countTransactions(ctx context.Context) (transactionCounts, error) {
	var t transactionCounts
	err := m.withServiceDatabase(ctx, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, `
			SELECT count(*) FILTER (WHERE completed AND outgoing AND quoted AND NOT held),
			       count(*) FILTER (WHERE completed AND outgoing AND quoted AND held),
			       count(*) FILTER (WHERE completed AND outgoing AND NOT quoted),
			       count(*) FILTER (WHERE completed AND NOT outgoing AND pulled),
			       count(*) FILTER (WHERE completed AND NOT outgoing AND NOT pulled),
			       count(*) FILTER (WHERE unpaid), count(*) FILTER (WHERE NOT completed AND NOT unpaid)
			FROM (SELECT status = 'COMPLETED' AND refund_status = '' AS completed, direction = 'OUTGOING' AS outgoing, quote_id IS NOT NULL AS quoted,
			             source_internal IS NOT NULL AS held, source_external IS NOT NULL AS pulled,
			             status IN ('PENDING', 'EXPIRED') AND quote_id IS NOT NULL AND source_internal IS NULL AS unpaid
			      FROM transactions) t`).
			Scan(&t.ramps, &t.payouts, &t.transfersOut, &t.transfersIn, &t.deposits, &t.unpaidQuotes, &t.others)
	})
	return t, err
}

func (m *meter) close() { _ = m.conn.Close(context.Background()) }

// reading is what has been used and counted up to a moment.
type reading struct {
	at                                   time.Time
	server, postgres, generator, machine time.Duration // processor time
	commits                              int64         // of the service's database, those that only read included
	writes                               int64         // transactions that wrote or locked something
	walBytes                             int64
	walSyncs                             int64
}

// read takes a reading. Postgres tells its commits and syncs with a lag of up to a
// second under load, at both ends of a measurement alike.
func (m *meter) read(ctx context.Context) (reading, error) {
	var r reading
	err := m.conn.QueryRow(ctx, `
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
	if r.generator, err = cpuTime(m.generatorPID); err != nil {
		return r, err
	}
	if r.postgres, err = processTreeCPUTime(m.postgresPID); err != nil {
		return r, err
	}
	r.machine, err = machineCPUTime()
	return r, err
}

// cost is what one unit of work took between two readings.
type cost struct {
	server, postgres, generator time.Duration
	otherBusy                   float64 // processors that something else kept busy meanwhile
	busy                        float64 // processors that were busy in all
	commits, writes, walSyncs   float64
	walBytes                    float64
}

func costOf(from, to reading, units int) cost {
	n, seconds := float64(units), to.at.Sub(from.at).Seconds()
	server, postgres, generator := to.server-from.server, to.postgres-from.postgres, to.generator-from.generator
	each := func(d time.Duration) time.Duration { return time.Duration(float64(d) / n) }
	machine := to.machine - from.machine
	return cost{
		server: each(server), postgres: each(postgres), generator: each(generator),
		otherBusy: max(0, (machine-server-postgres-generator).Seconds()/seconds),
		busy:      machine.Seconds() / seconds,
		commits:   float64(to.commits-from.commits) / n, writes: float64(to.writes-from.writes) / n,
		walSyncs: float64(to.walSyncs-from.walSyncs) / n, walBytes: float64(to.walBytes-from.walBytes) / n,
	}
}

// exec executes a statement on the server, such as CHECKPOINT.
func (m *meter) exec(ctx context.Context, statement string) error {
	_, err := m.conn.Exec(ctx, statement)
	return err
}
