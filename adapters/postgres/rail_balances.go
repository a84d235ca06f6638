package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
	"causeway/ports"
)

// SaveRailBalances uses the primary key. An older balance of the day does not replace a newer one.
func (db *DB) SaveRailBalances(ctx context.Context, connection string, balances []ports.RailBalance) error {
	batch := &pgx.Batch{}
	for _, b := range balances {
		batch.Queue(`INSERT INTO rail_balances AS b (connection, currency, day, amount, at) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (connection, currency, day) DO UPDATE SET amount = excluded.amount, at = excluded.at WHERE excluded.at >= b.at`,
			connection, b.Amount.Currency, b.At.UTC().Truncate(day), b.Amount.Minor, b.At)
	}
	return db.storage.Send(ctx, batch)
}

// RailBalancesAt uses the primary key.
func (db *DB) RailBalancesAt(ctx context.Context, connection string, at time.Time) ([]ports.RailBalance, error) {
	return storage.Collect(ctx, db.read, `SELECT DISTINCT ON (currency) currency, amount, at FROM rail_balances
		WHERE connection = $1 AND at <= $2 ORDER BY currency, day DESC`, []any{connection, at}, func(rows pgx.Rows, b *ports.RailBalance) error {
		return rows.Scan(&b.Amount.Currency, &b.Amount.Minor, &b.At)
	})
}

// deleteOldRailData deletes what connections reported before a time and is no longer needed, in batches.
func (db *DB) deleteOldRailData(ctx context.Context, before time.Time, deleted func(table string, rows int)) error {
	for table, where := range map[string]string{
		"rail_balances":   `day < $1::timestamptz::date ORDER BY day`,  // rail_balances_by_day
		"rail_proofs":     `day < $1::timestamptz::date ORDER BY day`,  // the primary key
		"rail_receipts":   `received_at < $1 ORDER BY received_at`,     // rail_receipts_by_time
		"rail_usage":      `hour < $1 ORDER BY hour`,                   // rail_usage_by_hour
		"rail_payments":   `settled_at < $1 ORDER BY settled_at`,       // rail_payments_ended
		"rail_statements": `reconciled_at < $1 ORDER BY reconciled_at`, // rail_statements_reconciled
		"rail_feed_items": `discarded_at < $1 ORDER BY discarded_at`,   // rail_feed_items_discarded
	} {
		sql := fmt.Sprintf(`DELETE FROM %[1]s WHERE ctid = ANY (ARRAY(SELECT ctid FROM %[1]s WHERE %[2]s LIMIT $2))`, table, where)
		if err := db.deleteInBatches(ctx, table, sql, before, deleted); err != nil {
			return err
		}
	}
	return nil
}
