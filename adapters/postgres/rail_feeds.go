package postgres

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
	"causeway/ports"
)

var _ ports.RailFeedStore = (*DB)(nil)

// maxProblem and maxPlace are the maximum lengths of a stored problem and place, in characters.
const (
	maxProblem = 2000
	maxPlace   = 500
)

// takeRailFeed takes a lease that has ended, or makes the feed. It uses the primary key.
const takeRailFeed = `
	INSERT INTO rail_feeds AS f (connection, fence, holder, leased_until) VALUES ($1, 1, $2, $4)
	ON CONFLICT (connection) DO UPDATE SET fence = f.fence + 1, holder = $2, leased_until = $4
	WHERE f.leased_until <= $3 AND (f.retry_at IS NULL OR f.retry_at <= $3)
	RETURNING fence, cursor, failures`

// TakeRailFeed implements ports.RailFeedStore. With a wrong clock a lease would be taken too early.
func (db *DB) TakeRailFeed(ctx context.Context, connection string, holder uuid.UUID, now,
	until time.Time) (ports.RailFeedLease, bool, error) {
	lease := ports.RailFeedLease{Connection: connection}
	if err := db.CheckClock(); err != nil {
		return lease, false, err
	}
	found, err := storage.ReadRow(ctx, db.read, takeRailFeed, []any{connection, holder, now, until},
		&lease.Fence, &lease.Cursor, &lease.Failures)
	return lease, found, err
}

// changeRailFeed changes a feed whose lease is held.
func (db *DB) changeRailFeed(ctx context.Context, lease ports.RailFeedLease, set string, args ...any) error {
	changed, err := db.exec(ctx, `UPDATE rail_feeds SET `+set+` WHERE connection = $1 AND fence = $2`,
		append([]any{lease.Connection, lease.Fence}, args...)...)
	if err == nil && changed == 0 {
		return ports.ErrLeaseLost
	}
	return err
}

// RenewRailFeed implements ports.RailFeedStore.
func (db *DB) RenewRailFeed(ctx context.Context, lease ports.RailFeedLease, until time.Time) error {
	return db.changeRailFeed(ctx, lease, `leased_until = $3`, until)
}

// AdvanceRailFeed implements ports.RailFeedStore.
func (db *DB) AdvanceRailFeed(ctx context.Context, lease ports.RailFeedLease, cursor string, now time.Time) error {
	return db.changeRailFeed(ctx, lease, `cursor = $3, failures = 0, last_error = '', retry_at = NULL, succeeded_at = $4`, cursor, now)
}

// MoveRailFeed implements ports.RailFeedStore.
func (db *DB) MoveRailFeed(ctx context.Context, lease ports.RailFeedLease, cursor string) error {
	return db.changeRailFeed(ctx, lease, `cursor = $3`, cursor)
}

// FailRailFeed implements ports.RailFeedStore.
func (db *DB) FailRailFeed(ctx context.Context, lease ports.RailFeedLease, problem string, now, retryAt time.Time) error {
	return db.changeRailFeed(ctx, lease, `failures = failures + 1, last_error = $3, failed_at = $4, retry_at = $5, leased_until = $4`,
		storedText(problem, maxProblem), now, retryAt)
}

// ReleaseRailFeed implements ports.RailFeedStore.
func (db *DB) ReleaseRailFeed(ctx context.Context, lease ports.RailFeedLease, now time.Time) error {
	return db.changeRailFeed(ctx, lease, `leased_until = $3`, now)
}

// RailFeedStates uses rail_feed_items_open.
func (db *DB) RailFeedStates(ctx context.Context) ([]ports.RailFeedState, error) {
	return storage.Collect(ctx, db.read, `
		SELECT coalesce(f.connection, i.connection), coalesce(f.failures, 0), coalesce(f.last_error, ''), f.failed_at, f.retry_at, f.succeeded_at,
			coalesce(i.waiting, 0), i.since
		FROM rail_feeds f FULL JOIN (
			SELECT connection, count(*) AS waiting, min(kept_at) AS since FROM rail_feed_items WHERE discarded_at IS NULL GROUP BY connection
		) i USING (connection) ORDER BY 1`, nil, func(rows pgx.Rows, s *ports.RailFeedState) error {
		return rows.Scan(&s.Connection, &s.Failures, &s.LastError, &s.FailedAt, &s.RetryAt, &s.SucceededAt, &s.Waiting, &s.Since)
	})
}

// storedText returns a text as it is stored: at most so many characters.
func storedText(text string, most int) string {
	runes := []rune(strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD"))
	return string(runes[:min(len(runes), most)])
}
