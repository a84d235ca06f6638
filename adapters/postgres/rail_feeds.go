package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
	"causeway/ports"
)

// maxPlace is the maximum length of a stored place, in characters.
const maxPlace = 500

// leasedFeeds are the leases of feeds.
var leasedFeeds = storage.LeasedTable{Name: "rail_feeds", Fence: "fence", RetryAt: "retry_at", Read: "cursor, failures"}

// TakeRailFeed implements payments.RailFeedStore. A process with a wrong clock could post nothing of what it reads.
func (db *DB) TakeRailFeed(ctx context.Context, connection string, length time.Duration) (feed ports.RailFeedLease, taken bool, err error) {
	if err := db.CheckClock(); err != nil {
		return feed, false, err
	}
	feed.Lease, taken, err = db.feeds.Take(ctx, connection, length, &feed.Cursor, &feed.Failures)
	return feed, taken, err
}

// RenewRailFeed implements payments.RailFeedStore.
func (db *DB) RenewRailFeed(ctx context.Context, feed ports.RailFeedLease, length time.Duration) error {
	return db.feeds.Renew(ctx, feed.Lease, length)
}

// AdvanceRailFeed implements payments.RailFeedStore.
func (db *DB) AdvanceRailFeed(ctx context.Context, feed ports.RailFeedLease, cursor string, now time.Time) error {
	return db.feeds.Update(ctx, feed.Lease, `cursor = $3, failures = 0, last_error = '', retry_at = NULL, succeeded_at = $4`, cursor, now)
}

// MoveRailFeed implements payments.RailFeedStore.
func (db *DB) MoveRailFeed(ctx context.Context, feed ports.RailFeedLease, cursor string) error {
	return db.feeds.Update(ctx, feed.Lease, `cursor = $3`, cursor)
}

// failRailFeed ends the lease.
var failRailFeed = `failures = failures + 1, last_error = $5, failed_at = ` + storage.Time(3) + `, retry_at = ` + storage.Time(3) +
	` + $4::interval, leased_until = '-infinity'`

// FailRailFeed implements payments.RailFeedStore.
func (db *DB) FailRailFeed(ctx context.Context, feed ports.RailFeedLease, problem string, delay time.Duration) error {
	return db.feeds.Update(ctx, feed.Lease, failRailFeed, db.clock.Now(), delay, storage.Text(problem, storage.MaxProblem))
}

// ReleaseRailFeed implements payments.RailFeedStore.
func (db *DB) ReleaseRailFeed(ctx context.Context, feed ports.RailFeedLease) error {
	return db.feeds.Release(ctx, feed.Lease)
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
