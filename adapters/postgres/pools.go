package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"causeway/adapters/postgres/schema"
)

// openReaders opens the pool of lists, reports and exports. work is the pool to the primary; a standby is watched until watching ends.
func (o Options) openReaders(ctx, watching context.Context, work *pgxpool.Pool, hosts *databaseHosts) (*pgxpool.Pool, error) {
	maxSilence := maxReadSilence
	if o.ForReports {
		maxSilence = 0
	}
	if o.ReadURL == "" {
		return o.newPool(ctx, poolOptions{url: o.URL, maxConnections: o.MaxReadConnections, settings: o.readSettings(),
			maxSilence: maxSilence, hosts: hosts})
	}
	readHosts := newDatabaseHosts()
	readHosts.panicked = o.Panicked
	pool, err := o.newPool(ctx, poolOptions{url: o.ReadURL, maxConnections: o.MaxReadConnections, settings: o.readSettings(),
		maxSilence: maxSilence, hosts: readHosts, adapt: func(config *pgxpool.Config) error {
			config.MaxConnLifetime = fallbackLifetime
			config.PrepareConn = replicaReads{work, readHosts, config.PrepareConn, o.StandbyBehind}.prepareConn
			return o.withFallback(config.ConnConfig)
		}})
	if err != nil {
		return nil, fmt.Errorf("for reading: %w", err)
	}
	go readHosts.keepRunning(watching, func() { readHosts.watch(watching, pool.Config().ConnConfig, nil) })
	return pool, nil
}

// poolOptions are what the pools of a database differ in.
type poolOptions struct {
	url            string
	maxConnections int32
	settings       map[string]string // of every session
	maxSilence     time.Duration     // the longest that a statement may run without a response
	hosts          *databaseHosts
	changes        *databaseChanges            // are notified of each connection; nil for none
	adapt          func(*pgxpool.Config) error // changes the configuration; may be nil
}

// newPool opens a pool, and one connection.
func (o Options) newPool(ctx context.Context, p poolOptions) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(p.url)
	if err != nil {
		return nil, fmt.Errorf("the database URL is not usable: %w", err)
	}
	config.MaxConns, config.MaxConnIdleTime = p.maxConnections, o.PoolIdleTime
	config.HealthCheckPeriod = min(config.HealthCheckPeriod, o.PoolIdleTime/2) // looks for idle connections
	config.PingTimeout = pingTimeout
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	config.ConnConfig.DialFunc = p.hosts.dialer(config.ConnConfig.ConnectTimeout, p.maxSilence)
	// bun formats the arguments of lists into the statement, so these are not worth preparing. Other statements choose to
	// be prepared one by one.
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		schema.RegisterCodecs(conn.TypeMap())
		if err := prepareSession(ctx, conn, p.settings); err != nil || p.changes == nil {
			return err
		}
		return p.changes.check(ctx, conn)
	}
	if p.changes != nil {
		config.BeforeConnect = closeInsteadOfCancel
	}
	config.PrepareConn = o.scopeConnection
	config.ConnConfig.Tracer = o.Tracer
	if p.adapt != nil {
		if err := p.adapt(config); err != nil {
			return nil, fmt.Errorf("the database URL is not usable: %w", err)
		}
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("cannot use the database: %w", err)
	}
	if err := refuseTransactionPooling(ctx, pool); err != nil {
		pool.Close()
		return nil, fmt.Errorf("cannot use the database: %w", err)
	}
	return pool, nil
}

// refuseTransactionPooling returns an error if a pooler gives the transactions of a connection to any session of the server: then
// settings, prepared statements and advisory locks are those of another connection. A pooler is in between if the connection was
// given another process id than that of its session. Two connections in turn then show how it works: each must stay with one session,
// and not with that of the other. A pooler that is idle gives both the same one.
func refuseTransactionPooling(ctx context.Context, pool *pgxpool.Pool) error {
	ctx, cancel := context.WithTimeout(unscoped(ctx), 2*pool.Config().ConnConfig.ConnectTimeout)
	defer cancel()
	return pool.AcquireFunc(ctx, func(pooled *pgxpool.Conn) error {
		conn := pooled.Conn()
		session, err := sessionOf(ctx, conn)
		if err != nil || session == conn.PgConn().PID() {
			return err
		}
		other, err := pgx.ConnectConfig(ctx, pool.Config().ConnConfig)
		if err != nil {
			return err
		}
		defer closeNow(other)
		const turns = 8
		for range turns {
			ofOther, err := sessionOf(ctx, other)
			again, failed := sessionOf(ctx, conn)
			switch {
			case err != nil || failed != nil:
				return errors.Join(err, failed)
			case ofOther == session || again != session:
				return errTransactionPooling
			}
		}
		return nil
	})
}

var errTransactionPooling = errors.New("a pooler such as PgBouncer gives each transaction another session of the server " +
	"(pool_mode = transaction or statement), but settings, prepared statements and advisory locks need a session of their own; " +
	"set pool_mode = session for the service, or connect to Postgres directly")

// sessionOf returns the id of the server process that runs the statements of a connection.
func sessionOf(ctx context.Context, conn *pgx.Conn) (pid uint32, err error) {
	err = conn.QueryRow(ctx, "SELECT pg_backend_pid()", pgx.QueryExecModeSimpleProtocol).Scan(&pid)
	return pid, err
}
