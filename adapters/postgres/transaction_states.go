package postgres

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/core/fault"
	"causeway/core/ident"
)

// ownerOf rides on the primary key of transactions, once for each platform: only
// people ask this.
const ownerOf = `
	SELECT p.id FROM platforms p
	WHERE EXISTS (SELECT FROM transactions t WHERE t.platform_id = p.id AND t.id = $1)`

// OwnerOf finds the platform of a transaction, or answers TRANSACTION_NOT_FOUND.
func (db *DB) OwnerOf(ctx context.Context, id ident.Transaction) (ident.Platform, error) {
	var found uuid.UUID
	err := db.pool.QueryRow(ctx, ownerOf, pgx.QueryExecModeExec, id.UUID()).Scan(&found)
	if isNone(err) {
		err = fault.New(fault.TransactionNotFound, "There is no %s here.", id)
	}
	var owner ident.Platform
	ident.Set(&owner, found)
	return owner, err
}
