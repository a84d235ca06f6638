package postgres

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/core/ident"
	"causeway/ports"
)

// railReplies is the table rail_replies without its seals, which are written here and checked by audits.
var railReplies = schema.New("rail_replies", nil, func(r *ports.RailReply) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &r.Platform}, {Name: "subject_id", Field: &r.Subject}, {Name: "replied_at", Field: &r.At},
		{Name: "call", Field: &r.Call}, {Name: "verdict", Field: &r.Verdict}, {Name: "reason", Field: &r.Reason},
		{Name: "accepted", Field: &r.Accepted},
		{Name: "retry_at", Field: &r.RetryAt}, {Name: "partner_id", Field: &r.PartnerID}, {Name: "partner_code", Field: &r.Code},
		{Name: "partner_text", Field: &r.Text}, {Name: "returned_at", Field: &r.ReturnedAt}, {Name: "expected_at", Field: &r.ExpectedAt},
	}
})

var insertRailReplies = schema.New("rail_replies", nil, func(r *ports.RailReply) schema.Columns {
	return append(railReplies.Columns(r), sealed.KeyedHash("seal", func() string { return r.Digest() }, nil))
}).InsertAll("")

// SaveRailReplies stores replies with one statement.
func (u *Unit) SaveRailReplies(ctx context.Context, replies []ports.RailReply) error {
	return writeAll(ctx, u, insertRailReplies, replies)
}

// RailReplies uses rail_replies_by_subject.
func (db *DB) RailReplies(ctx context.Context, p ident.Platform, subject uuid.UUID, limit int) ([]ports.RailReply, error) {
	return selectRows(ctx, db, db.read, railReplies, `WHERE platform_id = $1 AND subject_id = $2 ORDER BY replied_at LIMIT $3`,
		p, subject, limit)
}

// readPartnerIDs uses rail_replies_by_subject.
const readPartnerIDs = `
	SELECT k.platform_id, k.subject_id, last.partner_id
	FROM unnest($1::uuid[], $2::uuid[]) AS k(platform_id, subject_id) CROSS JOIN LATERAL (
		SELECT r.partner_id FROM rail_replies r
		WHERE r.platform_id = k.platform_id AND r.subject_id = k.subject_id AND r.call = $3 AND r.partner_id <> ''
		ORDER BY r.replied_at DESC LIMIT 1) AS last`

// RailPartnerIDs reads the partner's ids of transactions.
func (db *DB) RailPartnerIDs(ctx context.Context, keys []ports.TransactionKey,
	call ports.RailCall) (map[ports.TransactionKey]string, error) {
	subjects := schema.Arrays(keys, func(k *ports.TransactionKey) []any { return []any{&k.Platform, &k.ID} })
	found := map[ports.TransactionKey]string{}
	return found, db.read(ctx, readPartnerIDs, append(subjects, call), func(rows pgx.Rows) error {
		var key ports.TransactionKey
		var id string
		err := rows.Scan(&key.Platform, &key.ID, &id)
		found[key] = id
		return err
	})
}
