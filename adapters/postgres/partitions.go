package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	day = 24 * time.Hour
	// partitionsPerRetention is how many partitions hold the rows of a retention: rows are kept longer
	// by at most one of its parts, and no query has to look into many partitions.
	partitionsPerRetention = 4
	maxPartitionLength     = 92 * day
)

// partitionDays returns the length of a partition in days, for a table whose rows are kept for so long.
func partitionDays(retention time.Duration) int {
	return int(max(day, min(retention/partitionsPerRetention, maxPartitionLength)) / day)
}

// CreatePartitions creates the partitions of the current time and of the next one, if they do not
// exist: of the ledger, of webhooks, which are kept for webhookRetention, of lookups, and of the log of requests.
func (db *DB) CreatePartitions(ctx context.Context, webhookRetention time.Duration) error {
	return errors.Join(
		db.ledgerStore.CreateMonthPartitions(ctx, db.pool.Pool, db.clock.Now()),
		retryLocked(ctx, func() error {
			_, err := db.pool.Exec(ctx, `SELECT create_webhook_partitions($1)`, partitionDays(webhookRetention))
			return err
		}),
		retryLocked(ctx, func() error {
			_, err := db.pool.Exec(ctx, `SELECT create_lookup_partitions()`)
			return err
		}),
		retryLocked(ctx, func() error {
			_, err := db.pool.Exec(ctx, `SELECT create_request_log_partitions()`)
			return err
		}),
	)
}

// partitionedTable is a table whose old rows are dropped with their partition.
type partitionedTable struct {
	name   string
	before time.Time
	// drop drops the oldest partition whose rows are all from before a time ($1) and not needed. It
	// returns its name, NULL for none, and about how many rows it had.
	drop string
	// after is called when no partition is left to drop; empty for nothing.
	after string
}

func (c RetentionCutoffs) partitionedTables() []partitionedTable {
	return []partitionedTable{
		{"webhook_events", c.WebhookEvents, `SELECT dropped, coalesce(events, 0) FROM drop_webhook_partition($1)`,
			`SELECT forget_dropped_webhooks()`},
		{"lookups", c.Lookups, `SELECT dropped, coalesce(lookups, 0) FROM drop_lookup_partition($1)`, ""},
		{"request_log", c.RequestLog, `SELECT dropped, coalesce(entries, 0) FROM drop_request_log_partition($1)`, ""},
	}
}

// dropTimeout is enough to look for recent attempts in a large partition.
const dropTimeout = time.Minute

// dropOld drops the old partitions of a table, one in each transaction.
func (db *DB) dropOld(ctx context.Context, table partitionedTable, dropped func(rows int)) error {
	for {
		var name *string
		var rows int
		err := retryLocked(ctx, func() error {
			ctx, cancel := context.WithTimeout(ctx, dropTimeout)
			defer cancel()
			return db.pool.QueryRow(ctx, table.drop, table.before).Scan(&name, &rows)
		})
		if err != nil {
			return fmt.Errorf("drop old partitions of %s: %w", table.name, err)
		}
		if name == nil {
			break
		}
		dropped(rows)
	}
	if table.after == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, dropTimeout)
	defer cancel()
	if _, err := db.pool.Exec(ctx, table.after); err != nil {
		return fmt.Errorf("after dropping old partitions of %s: %w", table.name, err)
	}
	return nil
}

const (
	maxLockAttempts = 20
	lockPause       = 500 * time.Millisecond
)

// retryLocked calls run again when it did not get a lock in time. The functions it is for wait only
// for a moment, because statements of payments would wait behind them.
func retryLocked(ctx context.Context, run func() error) error {
	for attempt := 1; ; attempt++ {
		err := run()
		var pg *pgconn.PgError
		notLocked := errors.As(err, &pg) && (pg.Code == "55P03" || pg.Code == "40P01") // lock_not_available, deadlock_detected
		if !notLocked || attempt == maxLockAttempts {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockPause):
		}
	}
}
