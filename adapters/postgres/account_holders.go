package postgres

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/ports"
)

// selectAccountHolders uses the primary keys.
const selectAccountHolders = `
	SELECT a.id, c.id, c.customer_type, CASE WHEN $3 THEN c.details END
	FROM internal_accounts a JOIN customers c ON c.platform_id = a.platform_id AND c.id = a.customer_id
	WHERE a.platform_id = $1 AND a.id = ANY($2)`

// AccountHolders returns the customers who hold accounts, also deleted ones, with their names if these are
// asked for. Accounts of the platform have no holder. The name of an erased customer is empty.
func (db *DB) AccountHolders(ctx context.Context, p ident.Platform, accounts []ident.InternalAccount, names bool) (map[ident.InternalAccount]ports.AccountHolder, error) {
	ids := make(idArray, len(accounts))
	for i, id := range accounts {
		ids[i] = pgID(id.UUID())
	}
	type sealed struct {
		account ident.InternalAccount
		id      uuid.UUID
		details json.RawMessage
	}
	holders, stored := make(map[ident.InternalAccount]ports.AccountHolder, len(accounts)), make([]sealed, 0, len(accounts))
	rows, err := db.readPool.Query(ctx, selectAccountHolders, pgx.QueryExecModeCacheStatement, pgID(p.UUID()), ids, names)
	if err != nil {
		return nil, err
	}
	if err := forEachRow(rows, func(rows pgx.Rows) error {
		var account, id uuid.UUID
		var kind string
		var details json.RawMessage
		if err := rows.Scan(&account, &id, &kind, &details); err != nil {
			return err
		}
		s, h := sealed{id: id, details: details}, ports.AccountHolder{Type: customer.Type(kind)}
		s.account.SetUUID(account)
		h.Customer.SetUUID(id)
		holders[s.account], stored = h, append(stored, s)
		return nil
	}); err != nil {
		return nil, err
	}
	if !names {
		return holders, nil
	}
	for _, s := range stored { // without a connection: a data key may have to be opened first
		row := customerRow{PlatformID: p.UUID(), ID: s.id}
		if err := db.openJSON(ctx, sealedRow{row.PlatformID, row.ID}, customersDetails, s.details, &row.Details); err != nil {
			return nil, err
		}
		h := holders[s.account]
		h.Name = row.customer().Name()
		holders[s.account] = h
	}
	return holders, nil
}
