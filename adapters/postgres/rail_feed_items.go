package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// railFeedItems is the table rail_feed_items. An item may have no platform.
var railFeedItems = schema.New("rail_feed_items", keyOfPlatform, func(i *ports.RailFeedItem) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: schema.ID(&i.Platform)}, {Name: "id", Field: &i.ID}, {Name: "connection", Field: &i.Connection},
		{Name: "kind", Field: &i.Kind}, {Name: "key", Field: &i.Key}, {Name: "place", Field: &i.Place},
		sealed.Bytes(sealed.RailFeedItemsContent, &i.Content), {Name: "problem", Field: &i.Problem}, {Name: "attempts", Field: &i.Attempts},
		{Name: "kept_at", Field: &i.KeptAt}, {Name: "retry_at", Field: &i.RetryAt},
		{Name: "discarded_at", Field: &i.DiscardedAt}, {Name: "discarded_by", Field: &i.DiscardedBy}, {Name: "note", Field: &i.Note},
	}
})

var (
	// insertRailFeedItem uses rail_feed_items_once.
	insertRailFeedItem = railFeedItems.Insert("ON CONFLICT (connection, kind, key) DO NOTHING")
	retryRailFeedItem  = railFeedItems.Update("problem", "attempts", "retry_at")
	// listedRailFeedItems are without their contents.
	listedRailFeedItems = schema.New("rail_feed_items", keyOfPlatform, func(i *ports.RailFeedItem) schema.Columns {
		return railFeedItems.Columns(i).Without("content")
	})
)

// queueRailFeedItems adds the statements that keep items to a batch.
func (db *DB) queueRailFeedItems(ctx context.Context, items []ports.RailFeedItem, batch *pgx.Batch,
	inserted func(ports.RailFeedItem)) error {
	for _, i := range items {
		stored := i
		stored.Place, stored.Problem = storage.Text(i.Place, maxPlace), storage.Text(i.Problem, storage.MaxProblem)
		columns, err := sealed.ToWrite(ctx, db.sealed, insertRailFeedItem, &stored)
		if err != nil {
			return err
		}
		batch.Queue(insertRailFeedItem.SQL, columns.Fields()...).Exec(func(tag pgconn.CommandTag) error {
			if tag.RowsAffected() > 0 {
				inserted(i)
			}
			return nil
		})
	}
	return nil
}

// KeepRailFeedItems implements payments.RailFeedStore.
func (db *DB) KeepRailFeedItems(ctx context.Context, items []ports.RailFeedItem) (kept []ports.RailFeedItem, err error) {
	batch := &pgx.Batch{}
	err = db.queueRailFeedItems(ctx, items, batch, func(i ports.RailFeedItem) { kept = append(kept, i) })
	if err != nil {
		return nil, err
	}
	err = db.storage.Send(ctx, batch)
	return kept, err
}

// AddRailFeedItems implements uow.Tx.
func (u *Unit) AddRailFeedItems(ctx context.Context, items []ports.RailFeedItem) error {
	return u.db.queueRailFeedItems(ctx, items, u.pending, func(ports.RailFeedItem) {})
}

// DueRailFeedItems uses rail_feed_items_open.
func (db *DB) DueRailFeedItems(ctx context.Context, connection string, now time.Time, limit int) ([]ports.RailFeedItem, error) {
	return selectRows(ctx, db, db.read, railFeedItems,
		`WHERE discarded_at IS NULL AND connection = $1 AND retry_at <= $2 ORDER BY retry_at LIMIT $3`, connection, now, limit)
}

// RailFeedItemsByKey uses rail_feed_items_once.
func (db *DB) RailFeedItemsByKey(ctx context.Context, connection string, kind ports.RailFeedItemKind,
	keys []string) ([]ports.RailFeedItem, error) {
	return selectRows(ctx, db, db.read, railFeedItems, `WHERE discarded_at IS NULL AND connection = $1 AND kind = $2 AND key = ANY($3)`,
		connection, kind, keys)
}

// OpenContradictions implements accounting.Store. It reads the open items of all platforms, which are few.
func (db *DB) OpenContradictions(ctx context.Context, p ident.Platform) ([]ports.RailFeedItem, error) {
	return selectRows(ctx, db, db.read, railFeedItems, `WHERE discarded_at IS NULL AND platform_id = $1 AND kind = $2`, p,
		ports.RailFeedContradiction)
}

// RailFeedItem implements rails.RailFeedStore. It reads the whole table, which is small.
func (db *DB) RailFeedItem(ctx context.Context, id uuid.UUID) (ports.RailFeedItem, bool, error) {
	return selectRow(ctx, db, db.read, railFeedItems, `WHERE id = $1`, id)
}

// RailFeedItems implements rails.RailFeedStore.
func (db *DB) RailFeedItems(ctx context.Context, connection string, limit int) ([]ports.RailFeedItem, error) {
	return selectRows(ctx, db, db.read, listedRailFeedItems,
		`WHERE discarded_at IS NULL AND ($1 = '' OR connection = $1) ORDER BY kept_at, id LIMIT $2`, connection, limit)
}

// RetryRailFeedItem uses the primary key.
func (db *DB) RetryRailFeedItem(ctx context.Context, i ports.RailFeedItem) error {
	i.Problem = storage.Text(i.Problem, storage.MaxProblem)
	_, err := writeAlone(ctx, db, retryRailFeedItem, i)
	return err
}

// DeleteRailFeedItem uses the primary key.
func (db *DB) DeleteRailFeedItem(ctx context.Context, i ports.RailFeedItem) error {
	_, err := db.exec(ctx, `DELETE FROM rail_feed_items WHERE platform_id = $1 AND id = $2`, i.Platform.UUID(), i.ID)
	return err
}

// DiscardRailFeedItem implements rails.RailFeedStore. The row stays, so that the item is not kept again.
func (db *DB) DiscardRailFeedItem(ctx context.Context, id uuid.UUID, by platform.Author, note string, now time.Time) (bool, error) {
	changed, err := db.exec(
		ctx, `UPDATE rail_feed_items SET discarded_at = $2, discarded_by = $3, note = $4, person_id = $5
			WHERE id = $1 AND discarded_at IS NULL`,
		id, now, by.Actor, note, by.Person)
	return changed > 0, err
}
