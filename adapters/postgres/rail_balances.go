package postgres

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/ident"
	"causeway/ports"
)

var (
	_ ports.RailBalanceStore   = (*DB)(nil)
	_ ports.RailStatementStore = (*DB)(nil)
)

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

// QueueRailStatement uses rail_statements_once.
func (db *DB) QueueRailStatement(ctx context.Context, s ports.QueuedStatement) error {
	digest := sha256.Sum256(append([]byte(s.Format+"\x00"), s.Data...))
	content, err := db.seal(ctx, sealedRow{s.Platform.UUID(), s.ID}, railStatementsContent, s.Data)
	if err != nil {
		return err
	}
	_, err = db.pool.Exec(ctx, `INSERT INTO rail_statements (platform_id, id, connection, name, format, account, currency, accounts, digest, content, received_at, retry_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11) ON CONFLICT (platform_id, connection, digest) DO NOTHING`,
		s.Platform.UUID(), s.ID, s.Connection, s.Name, s.Format, s.Account, s.Currency, s.Accounts, digest[:], content, s.ReceivedAt)
	return err
}

// takeRailStatement uses rail_statements_open.
const takeRailStatement = `
	UPDATE rail_statements s SET retry_at = $2, attempts = attempts + 1 FROM (
		SELECT platform_id, id FROM rail_statements WHERE reconciled_at IS NULL AND retry_at <= $1 ORDER BY retry_at LIMIT 1 FOR UPDATE SKIP LOCKED) due
	WHERE s.platform_id = due.platform_id AND s.id = due.id
	RETURNING s.platform_id, s.id, s.connection, s.name, s.format, s.account, s.currency, s.accounts, s.content, s.received_at, s.retry_at, s.attempts, s.problem`

// TakeRailStatement implements ports.RailStatementStore.
func (db *DB) TakeRailStatement(ctx context.Context, now, again time.Time) (s ports.QueuedStatement, found bool, err error) {
	var platform pgtype.UUID
	err = db.pool.QueryRow(ctx, takeRailStatement, now, again).Scan(&platform, &s.ID, &s.Connection, &s.Name, &s.Format, &s.Account, &s.Currency, &s.Accounts,
		&s.Data, &s.ReceivedAt, &s.RetryAt, &s.Attempts, &s.Problem)
	if isNoRows(err) {
		return s, false, nil
	}
	if err != nil {
		return s, false, err
	}
	ident.SetUUID(&s.Platform, platform.Bytes)
	s.ReceivedAt, s.RetryAt = s.ReceivedAt.UTC(), s.RetryAt.UTC()
	if s.Data, err = db.open(ctx, sealedRow{platform.Bytes, s.ID}, railStatementsContent, s.Data); err != nil {
		return s, false, fmt.Errorf("statement %s of %s: %w", s.Name, s.Connection, err)
	}
	return s, true, nil
}

// RailStatementFailed uses the primary key.
func (db *DB) RailStatementFailed(ctx context.Context, s ports.QueuedStatement, problem string, retryAt time.Time) error {
	_, err := db.pool.Exec(ctx, `UPDATE rail_statements SET problem = $3, retry_at = $4 WHERE platform_id = $1 AND id = $2 AND reconciled_at IS NULL`,
		s.Platform.UUID(), s.ID, storedProblem(problem), retryAt)
	return err
}

// RailStatementReconciled uses the primary key.
func (db *DB) RailStatementReconciled(ctx context.Context, s ports.QueuedStatement, now time.Time) error {
	_, err := db.pool.Exec(ctx, `UPDATE rail_statements SET problem = '', content = '', reconciled_at = $3 WHERE platform_id = $1 AND id = $2 AND reconciled_at IS NULL`,
		s.Platform.UUID(), s.ID, now)
	return err
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
