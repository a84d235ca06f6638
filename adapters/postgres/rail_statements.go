package postgres

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/adapters/postgres/storage"
	"causeway/core/platform"
	"causeway/ports"
)

// queuedStatement is a row of rail_statements. A statement ends when it is reconciled, or discarded by somebody.
type queuedStatement struct {
	ports.QueuedStatement
	endedAt time.Time
}

func (s queuedStatement) statement() ports.QueuedStatement {
	if s.DiscardedBy == "" {
		s.ReconciledAt = s.endedAt
	} else {
		s.DiscardedAt = s.endedAt
	}
	return s.QueuedStatement
}

// listedStatements is the table rail_statements without the contents, and queuedStatements with them.
var (
	listedStatements = schema.New("rail_statements", keyOfPlatform, func(s *queuedStatement) schema.Columns {
		return schema.Columns{
			{Name: "platform_id", Field: schema.ID(&s.Platform)}, {Name: "id", Field: &s.ID}, {Name: "connection", Field: &s.Connection},
			{Name: "name", Field: &s.Name}, {Name: "format", Field: &s.Format}, {Name: "account", Field: &s.Account},
			{Name: "currency", Field: &s.Currency},
			{Name: "accounts", Field: &s.Accounts}, {Name: "received_at", Field: &s.ReceivedAt}, {Name: "retry_at", Field: &s.RetryAt},
			{Name: "attempts", Field: &s.Attempts}, {Name: "problem", Field: &s.Problem}, {Name: "reconciled_at", Field: &s.endedAt},
			{Name: "discarded_by", Field: &s.DiscardedBy}, {Name: "note", Field: &s.Note},
		}
	})
	queuedStatements = schema.New("rail_statements", keyOfPlatform, func(s *queuedStatement) schema.Columns {
		return append(listedStatements.Columns(s), sealed.Bytes(sealed.RailStatementsContent, &s.Data))
	})
	insertStatement = schema.New("rail_statements", keyOfPlatform, func(s *queuedStatement) schema.Columns {
		return append(queuedStatements.Columns(s),
			schema.Column{Name: "digest", Field: schema.Converted(func() []byte { return contentDigest(s.RailStatement) },
				func([]byte) error { return nil })},
			schema.Column{Name: "balances", Type: "jsonb", Field: schema.JSON(
				func() []storedBalance { return storedBalances(s.Balances) }, func([]storedBalance) {})})
	}).Insert("ON CONFLICT (platform_id, connection, digest) DO NOTHING")
)

func contentDigest(s ports.RailStatement) []byte {
	digest := sha256.Sum256(append([]byte(s.Format+"\x00"), s.Data...))
	return digest[:]
}

// QueueRailStatement uses rail_statements_once.
func (db *DB) QueueRailStatement(ctx context.Context, s ports.QueuedStatement) error {
	s.RetryAt = s.ReceivedAt
	_, err := writeAlone(ctx, db, insertStatement, queuedStatement{QueuedStatement: s})
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

// takeRailStatement uses rail_statements_open.
var takeRailStatement = `
	UPDATE rail_statements s SET retry_at = ` + storage.Time(1) + ` + $2::interval, attempts = attempts + 1 FROM (
		SELECT platform_id, id FROM rail_statements WHERE reconciled_at IS NULL AND retry_at <= ` + storage.Time(1) + ` ORDER BY retry_at LIMIT 1 FOR UPDATE SKIP LOCKED) due
	WHERE s.platform_id = due.platform_id AND s.id = due.id
	RETURNING ` + queuedStatements.Names("s")

// TakeRailStatement implements reconciliation.RailStatementStore.
func (db *DB) TakeRailStatement(ctx context.Context, again time.Duration) (ports.QueuedStatement, bool, error) {
	return db.firstRailStatement(ctx, takeRailStatement, db.clock.Now(), again)
}

// RailStatement implements rails.RailStatementStore. It reads the whole table, which is small.
func (db *DB) RailStatement(ctx context.Context, id uuid.UUID) (ports.QueuedStatement, bool, error) {
	return db.firstRailStatement(ctx, `SELECT `+queuedStatements.Names("s")+` FROM rail_statements s WHERE s.id = $1`, id)
}

func (db *DB) firstRailStatement(ctx context.Context, query string, args ...any) (ports.QueuedStatement, bool, error) {
	s, found, err := queryTableRow(ctx, db, db.read, queuedStatements, query, args...)
	if err != nil {
		err = fmt.Errorf("statement %s of %s: %w", s.Name, s.Connection, err)
	}
	return s.statement(), found, err
}

// RailStatements uses rail_statements_open.
func (db *DB) RailStatements(ctx context.Context, connection string, limit int) ([]ports.QueuedStatement, error) {
	found, err := selectRows(ctx, db, db.read, listedStatements, `WHERE reconciled_at IS NULL AND ($1 = '' OR connection = $1)
		ORDER BY received_at, id LIMIT $2`, connection, limit)
	statements := make([]ports.QueuedStatement, len(found))
	for i, s := range found {
		statements[i] = s.statement()
	}
	return statements, err
}

// RailStatementFailed uses the primary key.
func (db *DB) RailStatementFailed(ctx context.Context, s ports.QueuedStatement, problem string, retryAt time.Time) error {
	_, err := db.exec(
		ctx, `UPDATE rail_statements SET problem = $3, retry_at = $4 WHERE platform_id = $1 AND id = $2 AND reconciled_at IS NULL`,
		s.Platform.UUID(), s.ID, storage.Text(problem, storage.MaxProblem), retryAt)
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

// RailStatementReconciled implements reconciliation.RailStatementStore.
func (db *DB) RailStatementReconciled(ctx context.Context, s ports.QueuedStatement, now time.Time) error {
	_, err := db.exec(ctx, railStatementReconciled, s.Platform.UUID(), s.ID, now)
	return err
}

// DiscardRailStatement implements rails.RailStatementStore. The row stays, so that the statement is not queued again.
func (db *DB) DiscardRailStatement(ctx context.Context, id uuid.UUID, by platform.Author, note string, now time.Time) (bool, error) {
	changed, err := db.exec(
		ctx, `UPDATE rail_statements SET content = '', reconciled_at = $2, discarded_by = $3, note = $4, person_id = $5
			WHERE id = $1 AND reconciled_at IS NULL`,
		id, now, by.Actor, note, by.Person)
	return changed > 0, err
}
