package outbox

import (
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/ident"
)

// Arguments are of pgtype types, which pgx encodes without reflection.

func pgUUID(id uuid.UUID) pgtype.UUID { return pgtype.UUID{Bytes: id, Valid: true} }

func pgTime(t time.Time) pgtype.Timestamptz {
	return pgtype.Timestamptz{Time: t, Valid: !t.IsZero()}
}

func pgUUIDs[K ident.Kind](ids []ident.ID[K]) []pgtype.UUID {
	out := make([]pgtype.UUID, len(ids))
	for i, id := range ids {
		out[i] = pgUUID(id.UUID())
	}
	return out
}

func platformID(id pgtype.UUID) (p ident.Platform) {
	p.SetUUID(id.Bytes)
	return p
}

func webhookID(id pgtype.UUID) (w ident.Webhook) {
	w.SetUUID(id.Bytes)
	return w
}

func sortedIDs(platforms []ident.Platform) []pgtype.UUID {
	sorted := slices.Clone(platforms)
	slices.SortFunc(sorted, ident.Platform.Compare)
	return pgUUIDs(sorted)
}
