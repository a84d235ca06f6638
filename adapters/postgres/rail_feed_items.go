package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/ident"
	"causeway/ports"
)

// platformOrZero is the platform of a row that may have none.
func platformOrZero(p ident.Platform) pgtype.UUID { return pgtype.UUID{Bytes: p.UUID(), Valid: true} }

// insertRailFeedItem uses rail_feed_items_once.
const insertRailFeedItem = `INSERT INTO rail_feed_items (platform_id, id, connection, kind, key, place, content, problem, attempts, kept_at, retry_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (connection, kind, key) DO NOTHING`

// queueRailFeedItems adds the statements that keep items to a batch.
func (db *DB) queueRailFeedItems(ctx context.Context, items []ports.RailFeedItem, batch *pgx.Batch, inserted func(ports.RailFeedItem)) error {
	for _, i := range items {
		content, err := db.sealText(ctx, sealedRow{i.Platform.UUID(), i.ID}, railFeedItemsContent, string(i.Content))
		if err != nil {
			return err
		}
		batch.Queue(insertRailFeedItem, platformOrZero(i.Platform), i.ID, i.Connection, string(i.Kind), i.Key, storedText(i.Place, maxPlace), content,
			storedText(i.Problem, maxProblem), i.Attempts, i.KeptAt, i.RetryAt).Exec(func(tag pgconn.CommandTag) error {
			if tag.RowsAffected() > 0 {
				inserted(i)
			}
			return nil
		})
	}
	return nil
}

// KeepRailFeedItems implements ports.RailFeedStore.
func (db *DB) KeepRailFeedItems(ctx context.Context, items []ports.RailFeedItem) (kept []ports.RailFeedItem, err error) {
	batch := &pgx.Batch{}
	err = db.queueRailFeedItems(ctx, items, batch, func(i ports.RailFeedItem) { kept = append(kept, i) })
	if err != nil || batch.Len() == 0 {
		return nil, err
	}
	return kept, db.pool.SendBatch(ctx, batch).Close() // one transaction
}

// AddRailFeedItems implements ports.RailFeedItemWriter.
func (u *unit) AddRailFeedItems(ctx context.Context, items []ports.RailFeedItem) error {
	return u.db.queueRailFeedItems(ctx, items, u.pending, func(ports.RailFeedItem) {})
}

const selectRailFeedItems = `
	SELECT platform_id, id, connection, kind, key, place, content, problem, attempts, kept_at, retry_at, discarded_at, discarded_by, note FROM rail_feed_items WHERE `

// DueRailFeedItems uses rail_feed_items_open.
func (db *DB) DueRailFeedItems(ctx context.Context, connection string, now time.Time, limit int) ([]ports.RailFeedItem, error) {
	return db.railFeedItems(ctx, true, `discarded_at IS NULL AND connection = $1 AND retry_at <= $2 ORDER BY retry_at LIMIT $3`, connection, now, limit)
}

// RailFeedItemsByKey uses rail_feed_items_once.
func (db *DB) RailFeedItemsByKey(ctx context.Context, connection string, kind ports.RailFeedItemKind, keys []string) ([]ports.RailFeedItem, error) {
	return db.railFeedItems(ctx, true, `discarded_at IS NULL AND connection = $1 AND kind = $2 AND key = ANY($3)`, connection, string(kind), keys)
}

// RailFeedItem implements ports.RailFeedStore. It reads the whole table, which is small.
func (db *DB) RailFeedItem(ctx context.Context, id uuid.UUID) (ports.RailFeedItem, bool, error) {
	items, err := db.railFeedItems(ctx, true, `id = $1`, id)
	if len(items) == 0 {
		return ports.RailFeedItem{}, false, err
	}
	return items[0], true, err
}

// RailFeedItems implements ports.RailFeedStore.
func (db *DB) RailFeedItems(ctx context.Context, connection string, limit int) ([]ports.RailFeedItem, error) {
	return db.railFeedItems(ctx, false, `discarded_at IS NULL AND ($1 = '' OR connection = $1) ORDER BY kept_at, id LIMIT $2`, connection, limit)
}

func (db *DB) railFeedItems(ctx context.Context, withContent bool, where string, args ...any) ([]ports.RailFeedItem, error) {
	rows, err := db.pool.Query(ctx, selectRailFeedItems+where, args...)
	if err != nil {
		return nil, err
	}
	var items []ports.RailFeedItem
	err = forEachRow(rows, func(rows pgx.Rows) error {
		var i ports.RailFeedItem
		var platform pgtype.UUID
		var content string
		var discarded pgtype.Timestamptz
		if err := rows.Scan(&platform, &i.ID, &i.Connection, &i.Kind, &i.Key, &i.Place, &content, &i.Problem, &i.Attempts, &i.KeptAt, &i.RetryAt, &discarded, &i.DiscardedBy, &i.Note); err != nil {
			return err
		}
		i.Platform.SetUUID(platform.Bytes)
		i.KeptAt, i.RetryAt, i.DiscardedAt = i.KeptAt.UTC(), i.RetryAt.UTC(), utcTime(discarded)
		if withContent {
			opened, err := db.openText(ctx, sealedRow{platform.Bytes, i.ID}, railFeedItemsContent, content)
			if err != nil {
				return err
			}
			i.Content = []byte(opened)
		}
		items = append(items, i)
		return nil
	})
	return items, err
}

// RetryRailFeedItem uses the primary key.
func (db *DB) RetryRailFeedItem(ctx context.Context, i ports.RailFeedItem) error {
	_, err := db.pool.Exec(ctx, `UPDATE rail_feed_items SET problem = $3, attempts = $4, retry_at = $5 WHERE platform_id = $1 AND id = $2`,
		platformOrZero(i.Platform), i.ID, storedText(i.Problem, maxProblem), i.Attempts, i.RetryAt)
	return err
}

// DeleteRailFeedItem uses the primary key.
func (db *DB) DeleteRailFeedItem(ctx context.Context, i ports.RailFeedItem) error {
	_, err := db.pool.Exec(ctx, `DELETE FROM rail_feed_items WHERE platform_id = $1 AND id = $2`, platformOrZero(i.Platform), i.ID)
	return err
}

// DiscardRailFeedItem implements ports.RailFeedStore. The row stays, so that the item is not kept again.
func (db *DB) DiscardRailFeedItem(ctx context.Context, id uuid.UUID, by, note string, now time.Time) (bool, error) {
	changed, err := db.pool.Exec(ctx, `UPDATE rail_feed_items SET discarded_at = $2, discarded_by = $3, note = $4 WHERE id = $1 AND discarded_at IS NULL`,
		id, now, by, note)
	return changed.RowsAffected() > 0, err
}
