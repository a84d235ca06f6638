package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/core/event"
	"causeway/ports"
)

// Render returns the body of an event's webhook.
type Render func(event.Event) ([]byte, error)

// Options configure the database connection.
type Options struct {
	URL string
	// MaxConnections of the pool; 16 if zero.
	MaxConnections int32
	// StatementTimeout ends statements that run longer; 30 s if zero.
	StatementTimeout time.Duration
	// ForReports keeps the planner's defaults, for statements that read many rows. Otherwise
	// rows are always looked up by key: a prepared statement keeps its plan, and a plan made
	// while a table was small must still be good when the table is large.
	ForReports bool
	Clock      ports.Clock
	IDs        ports.IDs
	Render     Render
	// Emitted is called after each commit that emitted events; it may be nil. It must not block.
	Emitted func()
}

// DB is a pool of connections to one database, all in the role of the service. It implements
// ports.Store and ports.Jobs.
type DB struct {
	pool        *pgxpool.Pool
	sql         *sql.DB
	bun         *bun.DB
	ledgerStore *ledgerdb.Store
	clock       ports.Clock
	render      Render
	emitted     func()
}

var (
	_ ports.Store = (*DB)(nil)
	_ ports.Jobs  = (*DB)(nil)
)

// Open connects to a migrated database.
func Open(ctx context.Context, o Options) (*DB, error) {
	config, err := pgxpool.ParseConfig(o.URL)
	if err != nil {
		return nil, fmt.Errorf("the database URL is not usable: %w", err)
	}
	if o.StatementTimeout == 0 {
		o.StatementTimeout = 30 * time.Second
	}
	config.MaxConns = o.MaxConnections
	if config.MaxConns == 0 {
		config.MaxConns = 16
	}
	// bun formats arguments into the statement, so its statements are not worth preparing.
	// Other statements choose to be prepared one by one.
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	for name, value := range o.sessionSettings() {
		config.ConnConfig.RuntimeParams[name] = value
	}
	config.AfterConnect = setServiceRole
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("cannot use the database: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("cannot use the database: %w", err)
	}
	std := stdlib.OpenDBFromPool(pool)
	return &DB{
		pool: pool, sql: std, bun: bun.NewDB(std, pgdialect.New()),
		ledgerStore: ledgerdb.New(), clock: o.Clock, render: o.Render, emitted: o.Emitted,
	}, nil
}

// sessionSettings returns the settings of every connection.
func (o Options) sessionSettings() map[string]string {
	settings := map[string]string{
		"application_name": "causeway", "timezone": "UTC", "lock_timeout": "10000", "idle_in_transaction_session_timeout": "60000",
		"statement_timeout": strconv.FormatInt(o.StatementTimeout.Milliseconds(), 10),
	}
	if !o.ForReports {
		settings["enable_seqscan"], settings["enable_hashjoin"], settings["enable_mergejoin"] = "off", "off", "off"
		settings["plan_cache_mode"] = "force_generic_plan" // planning costs more than it can win
	}
	return settings
}

func setServiceRole(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, "SET ROLE causeway_service")
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return err
	}
	switch pg.Code {
	case "22023": // the role does not exist
		return errors.New("it has no role causeway_service; run causeway migrate")
	case "42501": // not a member of the role
		return fmt.Errorf("its login %[1]s is not a member of the role causeway_service; run: GRANT causeway_service TO %[1]s", conn.Config().User)
	}
	return err
}

// Connect opens a connection outside the pool, for session locks that are held for long.
func (db *DB) Connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, db.pool.Config().ConnConfig)
	if err != nil {
		return nil, err
	}
	if err := setServiceRole(ctx, conn); err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	return conn, nil
}

// reportPool begins transactions that read many rows.
type reportPool struct{ pool *pgxpool.Pool }

func (r reportPool) Begin(ctx context.Context) (pgx.Tx, error) {
	tx, err := r.pool.Begin(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, "SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on; SET LOCAL plan_cache_mode = force_custom_plan", pgx.QueryExecModeSimpleProtocol); err != nil {
		return nil, errors.Join(err, tx.Rollback(ctx))
	}
	return tx, nil
}

// inTransaction runs fn in one transaction of database/sql and commits it when fn returns
// nil. An error of the commit itself leaves open whether the change was made.
func (db *DB) inTransaction(ctx context.Context, fn func(tx bun.Tx) error) (err error) {
	tx, err := db.bun.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		// Without effect after a commit, or when the end of ctx has rolled it back.
		if failed := tx.Rollback(); failed != nil && !errors.Is(failed, sql.ErrTxDone) {
			err = errors.Join(err, fmt.Errorf("roll back: %w", failed))
		}
	}()
	if err := fn(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// AdvanceBalanceSnapshots creates all balance snapshots that are due.
func (db *DB) AdvanceBalanceSnapshots(ctx context.Context) error {
	for advanced := true; advanced; {
		var err error
		if advanced, err = db.ledgerStore.AdvanceBalanceSnapshots(ctx, reportPool{db.pool}); err != nil {
			return err
		}
	}
	return nil
}

// CreateMonthPartitions creates the ledger partitions of the current month and the next ones.
func (db *DB) CreateMonthPartitions(ctx context.Context) error {
	return db.ledgerStore.CreateMonthPartitions(ctx, db.pool, db.clock.Now())
}

// LedgerReader returns a reader of balances and entries.
func (db *DB) LedgerReader() ports.LedgerReader { return ledgerdb.NewReader(db.ledgerStore, db.pool) }

// Finance returns a reader for reports and lists.
func (db *DB) Finance() ports.Finance { return ledgerdb.NewReader(db.ledgerStore, db.pool) }

// LedgerLog returns the log of postings.
func (db *DB) LedgerLog() *ledgerdb.Log { return ledgerdb.NewLog(db.ledgerStore, db.pool) }

// LedgerViews returns views of the ledger at a time, for exports.
func (db *DB) LedgerViews() ports.LedgerViews { return ledgerdb.NewViews(db.ledgerStore, db.pool) }

// Pool returns the pool, for adapters that need a connection of their own.
func (db *DB) Pool() *pgxpool.Pool { return db.pool }

// SQL returns the same pool for package database/sql.
func (db *DB) SQL() *sql.DB { return db.sql }

// Ping returns nil if the database responds.
func (db *DB) Ping(ctx context.Context) error { return db.pool.Ping(ctx) }

// Close waits for running statements and closes the connections.
func (db *DB) Close() {
	_ = db.sql.Close()
	db.pool.Close()
}
