package postgres

import (
	"context"
	"slices"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/core/books"
	"causeway/core/ident"
)

type addedAccountRow = ofPlatform[books.AddedAccount]

var keyOfAddedAccount = []string{"platform_id", "path", "version"}

var addedAccounts = schema.New("ledger_added_accounts", keyOfAddedAccount, func(row *addedAccountRow) schema.Columns {
	a := &row.value
	return slices.Concat(schema.Columns{
		{Name: "platform_id", Field: &row.platform}, {Name: "path", Field: &a.Path}, {Name: "version", Field: &a.Version},
		{Name: "name", Field: &a.Name}, {Name: "description", Field: &a.Description}, {Name: "retired", Field: &a.Retired},
		{Name: "changed_at", Field: &a.At}, {Name: "note", Field: &a.Note},
	}, schema.AuthorColumns(&a.By), schema.ApprovalColumns(&a.Approval))
})

var insertAddedAccount = addedAccounts.Insert("")

// selectAddedAccounts uses the primary key; a platform has at most books.MaxAddedAccounts accounts.
var selectAddedAccounts = `SELECT DISTINCT ON (path) ` + addedAccounts.Names("") + `
	FROM ledger_added_accounts WHERE platform_id = $1 AND ($2::text[] IS NULL OR path = ANY ($2)) ORDER BY path, version DESC`

func readAddedAccounts(ctx context.Context, db *DB, read storage.Reader, p ident.Platform, paths []string) (books.AddedAccounts, error) {
	rows, err := queryTable(ctx, db, read, addedAccounts, selectAddedAccounts, p, paths)
	accounts := books.AddedAccounts{}
	for _, row := range rows {
		accounts[row.value.Path] = row.value
	}
	return accounts, err
}

// AddedAccounts implements books.Store.
func (db *DB) AddedAccounts(ctx context.Context, p ident.Platform, paths []string) (books.AddedAccounts, error) {
	return readAddedAccounts(ctx, db, db.read, p, paths)
}

// AddedAccounts implements accounting.Tx.
func (u *Unit) AddedAccounts(ctx context.Context, p ident.Platform, paths []string) (books.AddedAccounts, error) {
	return readAddedAccounts(ctx, u.db, u.query, p, paths)
}

// SaveAddedAccount implements books.Tx.
func (u *Unit) SaveAddedAccount(ctx context.Context, p ident.Platform, a books.AddedAccount) error {
	return write(ctx, u, insertAddedAccount, addedAccountRow{p, a})
}
