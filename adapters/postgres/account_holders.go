package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/sealed"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/ports"
)

// What is read of the customers who hold accounts, without and with their names.
var (
	holderTypes = customers.Only("platform_id", "id", "customer_type")
	holderNames = customers.Only("platform_id", "id", "customer_type", "details")
)

// AccountHolders returns the customers who hold accounts, also deleted ones, with their names if these are
// asked for. Accounts of the platform have no holder. The name of an erased customer is empty. It uses the primary keys.
func (db *DB) AccountHolders(ctx context.Context, p ident.Platform, accounts []ident.InternalAccount,
	names bool) (map[ident.InternalAccount]ports.AccountHolder, error) {
	table := holderTypes
	if names {
		table = holderNames
	}
	query := `SELECT ` + table.Names(
		"c") + `, a.id FROM internal_accounts a JOIN customers c ON c.platform_id = a.platform_id AND c.id = a.customer_id
		WHERE a.platform_id = $1 AND a.id = ANY($2)`
	var found []sealed.Scanned[customer.Customer]
	var ids []ident.InternalAccount
	if err := db.queryRows(ctx, query, []any{p, accounts}, func(rows pgx.Rows) error {
		var id ident.InternalAccount
		row, err := sealed.ScanRow(rows, table, &id)
		found, ids = append(found, row), append(ids, id)
		return err
	}); err != nil {
		return nil, err
	}
	opened, err := sealed.OpenRows(ctx, db.sealed, found)
	holders := make(map[ident.InternalAccount]ports.AccountHolder, len(found))
	for i, c := range opened {
		holders[ids[i]] = ports.AccountHolder{Customer: c.ID, Type: c.Type, Name: c.Name()}
	}
	return holders, err
}
