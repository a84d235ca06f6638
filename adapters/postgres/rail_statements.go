package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/ports"
)

var _ ports.RailStatementStore = (*DB)(nil)

// QueueRailStatement uses rail_statements_once.
func (db *DB) QueueRailStatement(ctx context.Context, s ports.QueuedStatement) error {
	digest := sha256.Sum256(append([]byte(s.Format+"\x00"), s.Data...))
	content, err := db.seal(ctx, sealedRow{s.Platform.UUID(), s.ID}, railStatementsContent, s.Data)
	if err != nil {
		return err
	}
	balances, err := json.Marshal(storedBalances(s.Balances))
	if err != nil {
		return err
	}
	_, err = db.pool.Exec(ctx, `INSERT INTO rail_statements (platform_id, id, connection, name, format, account, currency, accounts, digest, content, received_at, retry_at, balances)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12) ON CONFLICT (platform_id, connection, digest) DO NOTHING`,
		s.Platform.UUID(), s.ID, s.Connection, s.Name, s.Format, s.Account, s.Currency, s.Accounts, digest[:], content, s.ReceivedAt, string(balances))
	return err
}

// storedBalance is a balance of a statement as it is stored.
type storedBalance struct {
	Currency string    `json:"currency"`
	Amount   int64     `json:"amount"`
	At       time.Time `json:"at"`
}

func storedBalances(balances []ports.RailBalance) []storedBalance {
	stored := make([]storedBalance, len(balances))
	for i, b := range balances {
		stored[i] = storedBalance{string(b.Amount.Currency), b.Amount.Minor, b.At.UTC()}
	}
	return stored
}

const railStatementColumns = `s.platform_id, s.id, s.connection, s.name, s.format, s.account, s.currency, s.accounts, s.content, s.received_at, s.retry_at, s.attempts,
	s.problem, s.reconciled_at, s.discarded_by, s.note`

// takeRailStatement uses rail_statements_open.
const takeRailStatement = `
	UPDATE rail_statements s SET retry_at = $2, attempts = attempts + 1 FROM (
		SELECT platform_id, id FROM rail_statements WHERE reconciled_at IS NULL AND retry_at <= $1 ORDER BY retry_at LIMIT 1 FOR UPDATE SKIP LOCKED) due
	WHERE s.platform_id = due.platform_id AND s.id = due.id
	RETURNING ` + railStatementColumns

// TakeRailStatement implements ports.RailStatementStore.
func (db *DB) TakeRailStatement(ctx context.Context, now, again time.Time) (ports.QueuedStatement, bool, error) {
	return db.firstRailStatement(ctx, takeRailStatement, now, again)
}

// RailStatement implements ports.RailStatementStore. It reads the whole table, which is small.
func (db *DB) RailStatement(ctx context.Context, id uuid.UUID) (ports.QueuedStatement, bool, error) {
	return db.firstRailStatement(ctx, `SELECT `+railStatementColumns+` FROM rail_statements s WHERE s.id = $1`, id)
}

func (db *DB) firstRailStatement(ctx context.Context, query string, args ...any) (ports.QueuedStatement, bool, error) {
	found, err := db.railStatements(ctx, true, query, args...)
	if len(found) == 0 || err != nil {
		return ports.QueuedStatement{}, false, err
	}
	return found[0], true, nil
}

// RailStatements uses rail_statements_open.
func (db *DB) RailStatements(ctx context.Context, connection string, limit int) ([]ports.QueuedStatement, error) {
	return db.railStatements(ctx, false, `SELECT `+railStatementColumns+` FROM rail_statements s WHERE s.reconciled_at IS NULL AND ($1 = '' OR s.connection = $1)
		ORDER BY s.received_at, s.id LIMIT $2`, connection, limit)
}

func (db *DB) railStatements(ctx context.Context, withContent bool, query string, args ...any) ([]ports.QueuedStatement, error) {
	rows, err := db.pool.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	var statements []ports.QueuedStatement
	err = forEachRow(rows, func(rows pgx.Rows) error {
		var s ports.QueuedStatement
		var platform pgtype.UUID
		var ended pgtype.Timestamptz
		var content []byte
		if err := rows.Scan(&platform, &s.ID, &s.Connection, &s.Name, &s.Format, &s.Account, &s.Currency, &s.Accounts, &content, &s.ReceivedAt, &s.RetryAt, &s.Attempts,
			&s.Problem, &ended, &s.DiscardedBy, &s.Note); err != nil {
			return err
		}
		s.Platform.SetUUID(platform.Bytes)
		s.ReceivedAt, s.RetryAt = s.ReceivedAt.UTC(), s.RetryAt.UTC()
		if s.DiscardedBy == "" {
			s.ReconciledAt = utcTime(ended)
		} else {
			s.DiscardedAt = utcTime(ended)
		}
		if withContent && len(content) > 0 {
			var err error
			if s.Data, err = db.open(ctx, sealedRow{platform.Bytes, s.ID}, railStatementsContent, content); err != nil {
				return fmt.Errorf("statement %s of %s: %w", s.Name, s.Connection, err)
			}
		}
		statements = append(statements, s)
		return nil
	})
	return statements, err
}

// RailStatementFailed uses the primary key.
func (db *DB) RailStatementFailed(ctx context.Context, s ports.QueuedStatement, problem string, retryAt time.Time) error {
	_, err := db.pool.Exec(ctx, `UPDATE rail_statements SET problem = $3, retry_at = $4 WHERE platform_id = $1 AND id = $2 AND reconciled_at IS NULL`,
		s.Platform.UUID(), s.ID, storedText(problem, maxProblem), retryAt)
	return err
}

// railStatementReconciled uses the primary keys. Its balances are stored as by SaveRailBalances.
const railStatementReconciled = `
	WITH ended AS (
		UPDATE rail_statements SET problem = '', content = '', reconciled_at = $3 WHERE platform_id = $1 AND id = $2 AND reconciled_at IS NULL
		RETURNING connection, balances)
	INSERT INTO rail_balances AS b (connection, currency, day, amount, at)
	SELECT DISTINCT ON (v.currency, (v.at AT TIME ZONE 'UTC')::date) e.connection, v.currency, (v.at AT TIME ZONE 'UTC')::date, v.amount, v.at
	FROM ended e, jsonb_to_recordset(e.balances) AS v (currency text, amount bigint, at timestamptz)
	ORDER BY v.currency, (v.at AT TIME ZONE 'UTC')::date, v.at DESC
	ON CONFLICT (connection, currency, day) DO UPDATE SET amount = excluded.amount, at = excluded.at WHERE excluded.at >= b.at`

// RailStatementReconciled implements ports.RailStatementStore.
func (db *DB) RailStatementReconciled(ctx context.Context, s ports.QueuedStatement, now time.Time) error {
	_, err := db.pool.Exec(ctx, railStatementReconciled, s.Platform.UUID(), s.ID, now)
	return err
}

// DiscardRailStatement implements ports.RailStatementStore. The row stays, so that the statement is not queued again.
func (db *DB) DiscardRailStatement(ctx context.Context, id uuid.UUID, by, note string, now time.Time) (bool, error) {
	changed, err := db.pool.Exec(ctx, `UPDATE rail_statements SET content = '', reconciled_at = $2, discarded_by = $3, note = $4 WHERE id = $1 AND reconciled_at IS NULL`,
		id, now, by, note)
	return changed.RowsAffected() > 0, err
}
