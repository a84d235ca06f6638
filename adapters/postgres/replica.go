package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A standby may serve what Options.ReadURL is for. A connection to it is handed out once the standby has replayed all that was
// committed when it was asked for, so a caller reads what it has written, through whichever process. A standby that stays behind is left
// alone for a while, and the servers of Options.URL are asked.
const (
	maxReplayWait   = time.Second
	firstReplayWait = 2 * time.Millisecond
	lastReplayWait  = 50 * time.Millisecond
	// behindPause is how long a standby that is behind gets no connection.
	behindPause = 10 * time.Second
	// fallbackLifetime is how long a connection of the pool lives, so that reads return to a standby that is back.
	fallbackLifetime = time.Minute
)

var errBehind = errors.New("the standby is behind")

// withFallback adds the servers of the other URL behind those of a pool of readers.
func (o Options) withFallback(config *pgx.ConnConfig) error {
	primary, err := pgconn.ParseConfig(o.URL)
	if err != nil {
		return err
	}
	if config.User != primary.User || config.Database != primary.Database {
		return errors.New("it must have the user and the database of the URL for writing, which is used when no standby is available")
	}
	config.Fallbacks = append(config.Fallbacks, &pgconn.FallbackConfig{Host: primary.Host, Port: primary.Port, TLSConfig: primary.TLSConfig})
	config.Fallbacks = append(config.Fallbacks, primary.Fallbacks...)
	return nil
}

// replicaReads hands out connections to standbys that are not behind.
type replicaReads struct {
	work    *pgxpool.Pool // to the primary
	hosts   *databaseHosts
	prepare func(context.Context, *pgx.Conn) (bool, error)
	behind  func(address string) // is called when a standby is left alone; may be nil
}

// prepareConn implements pgxpool.Config.PrepareConn.
func (r replicaReads) prepareConn(ctx context.Context, conn *pgx.Conn) (usable bool, err error) {
	host := r.hosts.at(conn.PgConn().Conn().RemoteAddr().String())
	if host.isBehind() {
		return false, nil
	}
	switch err := r.awaitReplay(ctx, conn); {
	case errors.Is(err, errBehind):
		host.behindUntil.Store(time.Now().Add(behindPause).UnixNano())
		if r.behind != nil {
			r.behind(conn.PgConn().Conn().RemoteAddr().String())
		}
		return false, nil
	case err != nil:
		return false, err
	}
	return r.prepare(ctx, conn)
}

// awaitReplay waits until the server of a connection has replayed what is committed now.
func (r replicaReads) awaitReplay(ctx context.Context, conn *pgx.Conn) error {
	var standby bool
	if err := conn.QueryRow(ctx, "SELECT pg_is_in_recovery()", pgx.QueryExecModeCacheStatement).Scan(&standby); err != nil || !standby {
		return err
	}
	var position string
	const flushed = "SELECT pg_current_wal_flush_lsn()::text"
	if err := r.work.QueryRow(unscoped(ctx), flushed, pgx.QueryExecModeCacheStatement).Scan(&position); err != nil {
		return fmt.Errorf("read the position of the primary: %w", err)
	}
	deadline := time.Now().Add(maxReplayWait)
	for wait := firstReplayWait; ; wait = min(2*wait, lastReplayWait) {
		var replayed bool
		if err := conn.QueryRow(ctx, "SELECT NOT pg_is_in_recovery() OR pg_last_wal_replay_lsn() >= $1::text::pg_lsn",
			pgx.QueryExecModeCacheStatement, position).Scan(&replayed); err != nil || replayed {
			return err
		}
		if time.Now().After(deadline) {
			return errBehind
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}
