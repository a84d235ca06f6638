package postgres

import (
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// Arguments of prepared statements are of pgtype types, which pgx encodes without
// reflection and without formatting identifiers as text.
type (
	idArray   = pgtype.FlatArray[pgtype.UUID]
	timeArray = pgtype.FlatArray[pgtype.Timestamptz]
)

// pgID returns NULL for the zero UUID.
func pgID(id uuid.UUID) pgtype.UUID { return pgtype.UUID{Bytes: id, Valid: id != uuid.Nil} }

// pgTime returns NULL for the zero time.
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

// uuids returns ids for a condition of a list, or in which the zero id is not NULL.
func uuids[T interface{ UUID() uuid.UUID }](ids []T) []uuid.UUID {
	list := make([]uuid.UUID, len(ids))
	for i, id := range ids {
		list[i] = id.UUID()
	}
	return list
}

// isNoRows reports whether a query for one row found none.
func isNoRows(err error) bool { return errors.Is(err, pgx.ErrNoRows) }
