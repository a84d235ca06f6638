package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/ports"
)

var _ ports.RailBalanceStore = (*DB)(nil)

// SaveRailBalances uses the primary key. An older balance of the day does not replace a newer one.
func (db *DB) SaveRailBalances(ctx context.Context, connection string, balances []ports.RailBalance) error {
	batch := &pgx.Batch{}
	for _, b := range balances {
		at := b.At.UTC()
		batch.Queue(`INSERT INTO rail_balances AS b (connection, currency, day, amount, at) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (connection, currency, day) DO UPDATE SET amount = excluded.amount, at = excluded.at WHERE excluded.at >= b.at`,
			connection, string(b.Amount.Currency), pgtype.Date{Time: at.Truncate(day), Valid: true}, b.Amount.Minor, at)
	}
	if batch.Len() == 0 {
		return nil
	}
	return db.pool.SendBatch(ctx, batch).Close() // one transaction
}

// RailBalancesAt uses the primary key.
func (db *DB) RailBalancesAt(ctx context.Context, connection string, at time.Time) ([]ports.RailBalance, error) {
	rows, err := db.pool.Query(ctx, `SELECT DISTINCT ON (currency) currency, amount, at FROM rail_balances
		WHERE connection = $1 AND at <= $2 ORDER BY currency, day DESC`, connection, at)
	if err != nil {
		return nil, err
	}
	var balances []ports.RailBalance
	err = forEachRow(rows, func(rows pgx.Rows) error {
		var b ports.RailBalance
		err := rows.Scan(&b.Amount.Currency, &b.Amount.Minor, &b.At)
		b.At = b.At.UTC()
		balances = append(balances, b)
		return err
	})
	return balances, err
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
		for {
			n, err := db.deleteRailData(ctx, table, where, before)
			if err != nil {
				return fmt.Errorf("delete old rows of %s: %w", table, err)
			}
			deleted(table, n)
			if n < retentionBatchSize {
				break
			}
		}
	}
	return nil
}

func (db *DB) deleteRailData(ctx context.Context, table, where string, before time.Time) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, retentionBatchTimeout)
	defer cancel()
	done, err := db.pool.Exec(ctx, fmt.Sprintf(`DELETE FROM %[1]s WHERE ctid = ANY (ARRAY(SELECT ctid FROM %[1]s WHERE %[2]s LIMIT $2))`, table, where), before, retentionBatchSize)
	return int(done.RowsAffected()), err
}
