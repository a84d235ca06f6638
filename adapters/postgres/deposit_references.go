package postgres

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

var _ ports.DepositReferences = (*DB)(nil)

// depositReferences uses the primary keys. It reads every account and quote after the id, whatever its currency.
const depositReferences = `
	SELECT p.id, r.id, r.reference, r.currency, r.created_at FROM platforms p CROSS JOIN LATERAL (
		(SELECT a.id, a.reference, a.currency, a.created_at FROM internal_accounts a
		WHERE a.platform_id = p.id AND a.id > $3 AND a.reference <> '' AND a.currency = ANY ($2::text[]) ORDER BY a.id LIMIT $4)
		UNION ALL
		(SELECT q.id, q.reference, t.sent_currency, q.created_at FROM quotes q
		JOIN transactions t ON t.platform_id = q.platform_id AND t.id = q.transaction_id
		WHERE q.platform_id = p.id AND q.id > $3 AND q.reference <> '' AND t.sent_currency = ANY ($2::text[]) ORDER BY q.id LIMIT $4)
	) AS r WHERE p.environment = 'PRODUCTION' AND (cardinality($1::uuid[]) = 0 OR p.id = ANY ($1)) ORDER BY r.id LIMIT $4`

// DepositReferences implements ports.DepositReferences.
func (db *DB) DepositReferences(ctx context.Context, platforms []ident.Platform, currencies []money.Currency, after uuid.UUID,
	limit int) (found []ports.DepositReference, err error) {
	if platforms == nil {
		platforms = []ident.Platform{} // not NULL
	}
	err = db.queryRows(ctx, depositReferences, []any{platforms, currencies, after, limit}, func(rows pgx.Rows) error {
		var r ports.DepositReference
		err := rows.Scan(&r.Platform, &r.ID, &r.Reference, &r.Currency, &r.CreatedAt)
		found = append(found, r)
		return err
	})
	return found, err
}
