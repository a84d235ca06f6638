package postgres

import (
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// orNull is NULL for the zero time.
func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// moment is the zero time for NULL, else UTC.
func moment(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// nullID is NULL for the zero UUID.
func nullID(id uuid.UUID) uuid.NullUUID {
	return uuid.NullUUID{UUID: id, Valid: id != uuid.Nil}
}

// isNone tells that a row was looked for and is not there.
func isNone(err error) bool {
	return errors.Is(err, pgx.ErrNoRows) || errors.Is(err, sql.ErrNoRows)
}

// nextMillisecond is the end of a span that takes in the whole millisecond of t.
func nextMillisecond(t time.Time) time.Time {
	return t.Truncate(time.Millisecond).Add(time.Millisecond)
}
