package postgres

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/ports"
)

// The row-level security of the schema shows a session the rows of the platform that the setting
// causeway.platform names: its id, allPlatforms, or nothing, which shows no rows.
const (
	platformSetting = "causeway.platform"
	allPlatforms    = "*"
	setPlatform     = `SELECT set_config('` + platformSetting + `', $1, $2)`
)

// platformOf returns the value of the setting for a context.
func (o Options) platformOf(ctx context.Context) string {
	scope, ok := ports.ScopeOf(ctx)
	switch {
	case ok && scope.AllPlatforms, !ok && o.AllPlatforms:
		return allPlatforms
	case ok && !scope.Platform.IsZero():
		return scope.Platform.UUID().String()
	default:
		return ""
	}
}

// sessionPlatform returns the value of the setting in the session of a connection.
func sessionPlatform(conn *pgx.Conn) string {
	value, _ := conn.PgConn().CustomData()[platformSetting].(string)
	return value
}

// setSessionPlatform notes that the setting was committed in the session.
func setSessionPlatform(conn *pgx.Conn, value string) {
	conn.PgConn().CustomData()[platformSetting] = value
}

// unscopedKey marks a context whose caller sets the platform with its first statement.
type unscopedKey struct{}

func unscoped(ctx context.Context) context.Context {
	return context.WithValue(ctx, unscopedKey{}, true)
}

// scopeConnection sets the platform of a connection that the pool hands out, which costs a round
// trip if the session was used for another one. Units of work and prepared reads send it with
// their first statement instead.
func (o Options) scopeConnection(ctx context.Context, conn *pgx.Conn) (usable bool, err error) {
	platform := o.platformOf(ctx)
	if ctx.Value(unscopedKey{}) != nil || sessionPlatform(conn) == platform {
		return true, nil
	}
	if _, err := conn.Exec(ctx, setPlatform, pgx.QueryExecModeCacheStatement, platform, false); err != nil {
		return false, err
	}
	setSessionPlatform(conn, platform)
	return true, nil
}

// queuePlatform queues the setting in front of the statements of a transaction, if its session
// has another value. A platform stays set after the transaction, because the next one is likely to
// be for the same; committed must be called then.
func queuePlatform(batch *pgx.Batch, conn *pgx.Conn, platform string) (committed func()) {
	if sessionPlatform(conn) == platform {
		return func() {}
	}
	isLocal := platform == allPlatforms
	batch.Queue(setPlatform, platform, isLocal)
	if isLocal {
		return func() {}
	}
	return func() { setSessionPlatform(conn, platform) }
}

// workPool is a pool whose prepared statements set the platform in the same round trip.
type workPool struct {
	*pgxpool.Pool
	platformOf func(context.Context) string
}

// Query is like that of the pool.
func (p workPool) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if len(args) == 0 || args[0] != pgx.QueryExecModeCacheStatement {
		return p.Pool.Query(ctx, sql, args...)
	}
	conn, err := p.Acquire(unscoped(ctx))
	if err != nil {
		return nil, err
	}
	batch := &pgx.Batch{}
	committed := queuePlatform(batch, conn.Conn(), p.platformOf(ctx))
	batch.Queue(sql, args[1:]...)
	if err := storage.Prepare(ctx, conn.Conn(), batch); err != nil {
		conn.Release()
		return nil, err
	}
	r := &workRows{results: conn.SendBatch(ctx, batch), conn: conn, committed: committed}
	if batch.Len() > 1 {
		_, err = r.results.Exec()
	}
	if err == nil {
		r.Rows, err = r.results.Query()
	}
	if err != nil {
		err = errors.Join(err, r.results.Close())
		conn.Release()
		return nil, err
	}
	return r, nil
}

// Exec is like that of the pool.
func (p workPool) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if len(args) == 0 || args[0] != pgx.QueryExecModeCacheStatement {
		return p.Pool.Exec(ctx, sql, args...)
	}
	rows, err := p.Query(ctx, sql, args...)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	rows.Close()
	return rows.CommandTag(), rows.Err()
}

// workRows are the rows of the last statement of a batch.
type workRows struct {
	pgx.Rows
	results   pgx.BatchResults
	conn      *pgxpool.Conn // nil when closed
	committed func()
	err       error // of the end of the batch
}

// Next implements pgx.Rows.
func (r *workRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

// Err implements pgx.Rows.
func (r *workRows) Err() error {
	if err := r.Rows.Err(); err != nil {
		return err
	}
	return r.err
}

// Close implements pgx.Rows, and returns the connection to the pool.
func (r *workRows) Close() {
	if r.conn == nil {
		return
	}
	r.Rows.Close()
	if r.err = r.results.Close(); r.err == nil && r.Rows.Err() == nil {
		r.committed()
	}
	r.conn.Release()
	r.conn = nil
}

// platformRange returns the first and the last platform of a read of one platform or, if it is zero, of all.
func platformRange(of ident.Platform) (first, last uuid.UUID) {
	if of.IsZero() {
		return uuid.Nil, uuid.Max
	}
	return of.UUID(), of.UUID()
}
