package postgres

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/adapters/postgres/sealed"
	"causeway/adapters/postgres/storage"
	"causeway/core/platform"
	"causeway/ports"
)

// Options configure the database connection.
type Options struct {
	URL string
	// MaxConnections of the pool for units of work and reads by key; 16 if zero.
	MaxConnections int32
	// ReadURL is that of a standby, for lists, reports and exports; those use URL if it is empty, or while no standby is up to date.
	ReadURL string
	// StandbyBehind is called with the address of a standby that is not up to date; it may be nil. It must not block.
	StandbyBehind func(address string)
	// MaxReadConnections of the pool for lists, reports and exports. If it is zero, they use the
	// other pool: then they can take the connections that payments need.
	MaxReadConnections int32
	// StatementTimeout ends statements that run longer; 30 s if zero.
	StatementTimeout time.Duration
	// ReadTimeout ends statements of lists and reports that run longer; StatementTimeout if zero.
	ReadTimeout time.Duration
	// LockTimeout ends statements that wait longer for a lock; 3 s if zero. That is short enough that a batch which
	// waits for a locked row can be split several times before its deadline.
	LockTimeout time.Duration
	// IdleTimeout ends a unit of work whose process sends nothing more; 5 s if zero. Units of work make no calls to
	// other services, so there are milliseconds between their statements.
	IdleTimeout time.Duration
	// PoolIdleTime closes connections of the pools that nothing has used for so long; 2 min if zero. Many quiet processes then
	// do not hold the connections that each has needed once, and a busy one seldom opens one, which takes some milliseconds.
	PoolIdleTime time.Duration
	// ForReports keeps the planner's defaults, for statements that read many rows. Otherwise
	// rows are always looked up by key.
	ForReports bool
	// AllPlatforms shows the rows of all platforms to calls whose context has no ports.Scope, as
	// commands of operators need. Otherwise such calls see none.
	AllPlatforms bool
	// NewCipher returns what encrypts personal data, on the store of its keys. If it is nil, no
	// personal data is encrypted, and none that is encrypted can be read.
	NewCipher func(ports.DataKeyStore) ports.Cipher
	Clock     ports.Clock
	IDs       ports.IDs
	// TxOf returns what capabilities are given as their unit of work: the Unit, with methods that main adds. If it is
	// nil, they are given the Unit.
	TxOf func(*Unit) any
	// Emitted is called after each commit that emitted events, with those that are to be sent to an endpoint, in their order; it may be
	// nil. It must not block.
	Emitted func(queued []ports.CommittedWebhook)
	// LostCommits is called with the number of commits that another database is found to lack; it may be nil. It must not block.
	LostCommits func(lost int)
	// Panicked is called with the panic of a goroutine that watches the servers, and goes on; it may be nil.
	Panicked func(value any, stack []byte)
	// Tracer sees every statement of the pools; it may be nil.
	Tracer pgx.QueryTracer
}

// DB is two pools of connections to one database, all in the role of the service. It implements
// ports.UnitsOfWork and ports.Jobs.
type DB struct {
	pool        workPool
	storage     *storage.DB // on pool
	feeds       *storage.Leases
	sql         *sql.DB
	bun         *bun.DB       // composes the statements of lists; it runs none
	readPool    *pgxpool.Pool // for lists, reports and exports; may be pool
	hosts       *databaseHosts
	endWatch    context.CancelFunc
	changes     *databaseChanges
	remembered  *rememberedCommits
	ledgerStore *ledgerdb.Store
	clock       ports.Clock
	clockOffset *atomic.Int64 // last measured, in nanoseconds; zero before the first measurement
	txOf        func(*Unit) any
	emitted     func(queued []ports.CommittedWebhook)
	platformOf  func(context.Context) string
	// sessionSettings are those of the connections of pool.
	sessionSettings map[string]string
	cipher          ports.Cipher             // may be nil
	sealed          sealed.Cipher            // of cipher
	operatorAction  *platform.OperatorAction // recorded with a change; may be nil
}

var (
	_ ports.UnitsOfWork = (*DB)(nil)
	_ ports.Jobs        = (*DB)(nil)
)

// Open connects to a migrated database.
func Open(ctx context.Context, o Options) (*DB, error) {
	if o.StatementTimeout == 0 {
		o.StatementTimeout = 30 * time.Second
	}
	if o.ReadTimeout == 0 {
		o.ReadTimeout = o.StatementTimeout
	}
	if o.LockTimeout == 0 {
		o.LockTimeout = 3 * time.Second
	}
	if o.IdleTimeout == 0 {
		o.IdleTimeout = 5 * time.Second
	}
	if o.PoolIdleTime == 0 {
		o.PoolIdleTime = 2 * time.Minute
	}
	if o.MaxConnections == 0 {
		o.MaxConnections = 16
	}
	if o.TxOf == nil {
		o.TxOf = func(u *Unit) any { return u }
	}
	maxSilence := o.StatementTimeout + 10*time.Second
	if o.ForReports {
		maxSilence = 0
	}
	hosts, changes := newDatabaseHosts(), &databaseChanges{}
	hosts.panicked = o.Panicked
	pool, err := o.newPool(ctx, poolOptions{url: o.URL, maxConnections: o.MaxConnections, settings: o.workSettings(),
		maxSilence: maxSilence, hosts: hosts, changes: changes})
	if err != nil {
		return nil, err
	}
	std := stdlib.OpenDBFromPool(pool)
	db := &DB{pool: workPool{pool, o.platformOf}, platformOf: o.platformOf, sessionSettings: o.workSettings(), sql: std,
		bun:   bun.NewDB(std, pgdialect.New()),
		hosts: hosts, changes: changes, ledgerStore: ledgerdb.New(), clock: o.Clock, clockOffset: new(atomic.Int64),
		txOf: o.TxOf, emitted: o.Emitted, remembered: new(rememberedCommits)}
	db.storage = storage.New(db.pool, o.Clock)
	db.feeds = db.storage.Leases(leasedFeeds)
	db.OnDatabaseChange(db.ledgerStore.ForgetAccounts)
	changes.compare = func(ctx context.Context, conn *pgx.Conn) error {
		lost, err := db.remembered.check(ctx, conn, o.Clock)
		if lost > 0 && o.LostCommits != nil {
			o.LostCommits(lost)
		}
		return err
	}
	watching, endWatch := context.WithCancel(context.WithoutCancel(ctx))
	db.endWatch = endWatch
	config := pool.Config().ConnConfig
	go hosts.keepRunning(watching, func() { hosts.watch(watching, config, writableHosts(config)) })
	db.readPool = pool
	if o.NewCipher != nil {
		db.cipher = o.NewCipher(db)
		db.sealed = sealed.New(db.cipher)
	}
	if o.MaxReadConnections > 0 {
		if db.readPool, err = o.openReaders(ctx, watching, pool, hosts); err != nil {
			db.Close()
			return nil, err
		}
	}
	return db, nil
}

// reportPool begins transactions that read many rows.
type reportPool struct{ pool *pgxpool.Pool }

func (r reportPool) Begin(ctx context.Context) (pgx.Tx, error) {
	tx, err := r.pool.Begin(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, "SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on; SET LOCAL plan_cache_mode = force_custom_plan",
		pgx.QueryExecModeSimpleProtocol); err != nil {
		return nil, errors.Join(err, tx.Rollback(ctx))
	}
	return tx, nil
}

// AdvanceBalanceSnapshots creates all balance snapshots that are due.
func (db *DB) AdvanceBalanceSnapshots(ctx context.Context) error {
	for advanced := true; advanced; {
		var err error
		if advanced, err = db.ledgerStore.AdvanceBalanceSnapshots(ctx, reportPool{db.pool.Pool}); err != nil {
			return err
		}
	}
	return nil
}

// LedgerReader returns a reader of balances and entries.
func (db *DB) LedgerReader() ports.LedgerReader {
	return ledgerdb.NewReader(db.ledgerStore, db.pool.Pool)
}

// LedgerAudit returns what checks the stored ledger.
func (db *DB) LedgerAudit() ports.LedgerAudit { return ledgerdb.NewAudit(db.ledgerStore, db.pool.Pool) }

// Finance returns a reader for reports and lists.
func (db *DB) Finance() *ledgerdb.Reader { return ledgerdb.NewReader(db.ledgerStore, db.readPool) }

// LedgerLog returns the log of postings.
func (db *DB) LedgerLog() *ledgerdb.Log { return ledgerdb.NewLog(db.ledgerStore, db.pool.Pool) }

// LedgerViews returns views of the ledger at a time, for exports.
func (db *DB) LedgerViews() ports.LedgerViews { return ledgerdb.NewViews(db.ledgerStore, db.readPool) }

// MonthEndViews returns views of what month-end postings are computed from.
func (db *DB) MonthEndViews() ports.MonthEndViews {
	return ledgerdb.NewViews(db.ledgerStore, db.readPool)
}

// Pool returns the pool, for adapters that need a connection of their own.
func (db *DB) Pool() *pgxpool.Pool { return db.pool.Pool }

// Storage returns what connectors of rails keep a state of their own with.
func (db *DB) Storage() *storage.DB { return db.storage }

// Cipher returns what encrypts personal data; nil if nothing does.
func (db *DB) Cipher() ports.Cipher { return db.cipher }

// ReadPool returns the pool for lists, reports and exports.
func (db *DB) ReadPool() *pgxpool.Pool { return db.readPool }

// Readers returns a DB whose every read uses the pool for lists, reports and exports. It cannot
// write, and is closed with db.
func (db *DB) Readers() *DB {
	readers := *db
	readers.pool = workPool{db.readPool, db.platformOf}
	readers.storage = storage.New(readers.pool, db.clock)
	return &readers
}

// SQL returns the same pool for package database/sql.
func (db *DB) SQL() *sql.DB { return db.sql }

// Ping returns nil if the database responds.
func (db *DB) Ping(ctx context.Context) error { return db.pool.Ping(ctx) }

// closeTimeout is how long Close waits for connections to a database that does not respond.
const closeTimeout = 3 * time.Second

// Close waits for running statements, but not for long, and closes the connections.
func (db *DB) Close() {
	db.endWatch()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		if db.readPool != nil && db.readPool != db.pool.Pool {
			db.readPool.Close()
		}
		_ = db.sql.Close()
		db.pool.Close()
	}()
	select {
	case <-closed:
	case <-time.After(closeTimeout):
	}
}
