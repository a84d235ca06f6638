package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
)

// Tables are where a connector keeps its events: the table of the events, and one with a row for each connection, which has the numbers of
// its last event and of the last one that was read.
type Tables struct{ Events, Connections string }

// Store keeps events.
type Store struct {
	Tables
	db *storage.DB
}

// NewStore returns the store of the events of all connections.
func NewStore(db *storage.DB, t Tables) *Store { return &Store{t, db} }

// body is the body of an event.
type body struct {
	Platform  uuid.UUID `json:"platform"`
	Receipt   string    `json:"receipt,omitempty"`
	Reference string    `json:"reference,omitempty"`
	Satoshis  int64     `json:"satoshis,omitempty"`
	Subject   uuid.UUID `json:"subject"`
	Text      string    `json:"text,omitempty"`
	At        time.Time `json:"at"`
}

// Add keeps events, except those that are kept already, and numbers them in the order of the commits: the row of the connection, which
// must exist, is locked until then. It uses the primary key.
func (s *Store) Add(ctx context.Context, tx storage.Tx, connection string, events []Event, now time.Time) error {
	if len(events) == 0 {
		return nil
	}
	var last int64
	counted, err := storage.ReadRow(ctx, tx.Read, `UPDATE `+s.Connections+` SET last_event = last_event + $2 WHERE connection = $1
		RETURNING last_event`, []any{connection, len(events)}, &last)
	if err == nil && !counted {
		err = fmt.Errorf("connection %s has no row in %s", connection, s.Connections)
	}
	if err != nil {
		return err
	}
	batch := &pgx.Batch{}
	for i, e := range events {
		text, err := json.Marshal(body{e.Platform.UUID(), e.Receipt, e.Reference, e.Satoshis, e.Subject, e.Text, e.At})
		if err != nil {
			return err
		}
		batch.Queue(`INSERT INTO `+s.Tables.Events+` (connection, number, kind, partner_id, body, created_at) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT DO NOTHING`, connection, last-int64(len(events)-1-i), e.Kind, e.PartnerID, string(text), now)
	}
	return tx.Send(ctx, batch)
}

// Events returns events after a number, and keeps that its reader has stored those before. It uses the primary keys.
func (s *Store) Events(ctx context.Context, connection string, after int64, limit int) ([]Event, error) {
	if _, err := s.db.Exec(ctx, `UPDATE `+s.Connections+` SET read_event = $2 WHERE connection = $1 AND read_event < $2`, connection,
		after); err != nil {
		return nil, err
	}
	return storage.Collect(ctx, s.db.Read, `SELECT number, kind, partner_id, body FROM `+s.Tables.Events+`
		WHERE connection = $1 AND number > $2 ORDER BY number LIMIT $3`, []any{connection, after, limit}, func(rows pgx.Rows, e *Event) error {
		var b body
		err := rows.Scan(&e.Number, &e.Kind, &e.PartnerID, &b)
		e.Platform.SetUUID(b.Platform)
		e.Receipt, e.Reference, e.Satoshis, e.Subject, e.Text, e.At = b.Receipt, b.Reference, b.Satoshis, b.Subject, b.Text, b.At.UTC()
		return err
	})
}

// OldRows are the events from before a time that were read. They are found by an index on created_at.
func (t Tables) OldRows(before time.Time) storage.OldRows {
	return storage.OldRows{Table: t.Events, Before: before, Delete: fmt.Sprintf(`DELETE FROM %[1]s WHERE (connection, number) IN (
		SELECT e.connection, e.number FROM %[1]s e
		JOIN %[2]s c ON c.connection = e.connection AND e.number <= c.read_event WHERE e.created_at < $1 LIMIT $2)`, t.Events, t.Connections)}
}
