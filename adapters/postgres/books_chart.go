package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/core/books"
	"causeway/core/ident"
)

// selectAddedAccounts uses the primary key; a platform has at most books.MaxAddedAccounts accounts.
const selectAddedAccounts = `
	SELECT DISTINCT ON (path) path, name, description, retired, version, changed_at, token_id, actor, note, proposal_id, approver_token_id, approver
	FROM ledger_added_accounts WHERE platform_id = $1 AND ($2::text[] IS NULL OR path = ANY ($2)) ORDER BY path, version DESC`

// reader runs a query and calls scan for each row: in a unit of work, or outside.
type reader func(ctx context.Context, query string, args []any, scan func(pgx.Rows) error) error

// read runs a prepared query in the pool for reads by key, and calls scan for each row.
func (db *DB) read(ctx context.Context, query string, args []any, scan func(pgx.Rows) error) error {
	rows, err := db.pool.Query(ctx, query, append([]any{pgx.QueryExecModeCacheStatement}, args...)...)
	if err != nil {
		return ledgerdb.ReadError(err)
	}
	return ledgerdb.ReadError(forEachRow(rows, scan))
}

func readAddedAccounts(ctx context.Context, read reader, p ident.Platform, paths []string) (books.AddedAccounts, error) {
	accounts := books.AddedAccounts{}
	err := read(ctx, selectAddedAccounts, []any{pgID(p.UUID()), paths}, func(rows pgx.Rows) error {
		var a books.AddedAccount
		var at pgtype.Timestamptz
		var by, proposed, approver pgtype.UUID
		err := rows.Scan(&a.Path, &a.Name, &a.Description, &a.Retired, &a.Version, &at, &by, &a.By.Actor, &a.Note, &proposed, &approver, &a.Approval.By.Actor)
		a.At, a.By.Token, a.Approval = utcTime(at), tokenID(by), scanApproval(proposed, approver, a.Approval.By.Actor)
		accounts[a.Path] = a
		return err
	})
	return accounts, err
}

// AddedAccounts implements ports.BooksReader.
func (db *DB) AddedAccounts(ctx context.Context, p ident.Platform, paths []string) (books.AddedAccounts, error) {
	return readAddedAccounts(ctx, db.read, p, paths)
}

// AddedAccounts implements ports.BooksReader.
func (u *unit) AddedAccounts(ctx context.Context, p ident.Platform, paths []string) (books.AddedAccounts, error) {
	return readAddedAccounts(ctx, u.query, p, paths)
}

// SaveAddedAccount implements ports.BooksWriter.
func (u *unit) SaveAddedAccount(_ context.Context, p ident.Platform, a books.AddedAccount) error {
	u.queueExec(`INSERT INTO ledger_added_accounts (platform_id, path, version, name, description, retired, changed_at, token_id, actor, note,
			proposal_id, approver_token_id, approver)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		pgID(p.UUID()), a.Path, a.Version, a.Name, a.Description, a.Retired, pgTime(a.At), pgID(a.By.Token.UUID()), a.By.Actor, a.Note,
		pgID(a.Approval.Proposal.UUID()), pgID(a.Approval.By.Token.UUID()), a.Approval.By.Actor)
	return nil
}
