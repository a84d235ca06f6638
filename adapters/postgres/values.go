package postgres

import (
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// nullTime is NULL for the zero time.
func nullTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// timeOrZero is the zero time for NULL, else UTC.
func timeOrZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// The driver's own types spare it a look at ours for every element of an array, and
// a detour over text for every identifier.
type (
	idArray   = pgtype.FlatArray[pgtype.UUID]
	timeArray = pgtype.FlatArray[pgtype.Timestamptz]
)

// nullID is NULL for the zero UUID, in the rows of bun.
func nullID(id uuid.UUID) uuid.NullUUID { return uuid.NullUUID{UUID: id, Valid: id != uuid.Nil} }

// pgID is NULL for the zero UUID.
func pgID(id uuid.UUID) pgtype.UUID { return pgtype.UUID{Bytes: id, Valid: id != uuid.Nil} }

// pgTime is NULL for the zero time.
func pgTime(t time.Time) pgtype.Timestamptz {
	return pgtype.Timestamptz{Time: t, Valid: !t.IsZero()}
}

func pgIDs(ids []uuid.UUID) idArray {
	array := make(idArray, len(ids))
	for i, id := range ids {
		array[i] = pgID(id)
	}
	return array
}

// isNoRows tells that a row was looked for and is not there.
func isNoRows(err error) bool {
	return errors.Is(err, pgx.ErrNoRows) || errors.Is(err, sql.ErrNoRows)
}
