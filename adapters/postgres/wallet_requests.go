package postgres

import (
	"context"

	"causeway/adapters/postgres/schema"
	"causeway/core/ident"
	"causeway/core/wallet"
	"causeway/ports"
)

// signedRequests is the table wallet_signed_requests.
var signedRequests = schema.New("wallet_signed_requests", keyOfPlatform, func(r *wallet.SignedRequest) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &r.Platform}, {Name: "id", Field: &r.ID}, {Name: "account_id", Field: &r.Account},
		{Name: "operation", Field: &r.Operation}, {Name: "credential_type", Field: &r.Credential},
		{Name: "fingerprint", Field: &r.Fingerprint}, {Name: "basis", Field: &r.Basis}, {Name: "payload", Field: &r.Payload},
		{Name: "created_at", Field: &r.CreatedAt}, {Name: "expires_at", Field: &r.ExpiresAt}, {Name: "used_at", Field: &r.UsedAt},
	}
})

var (
	insertSignedRequest = signedRequests.Insert("")
	useSignedRequest    = signedRequests.Update("used_at")
)

// CreateSignedRequest inserts one request.
func (u *Unit) CreateSignedRequest(ctx context.Context, r wallet.SignedRequest) error {
	return writeNow(ctx, u, insertSignedRequest, r, nil)
}

// LockSignedRequest uses the primary key.
func (u *Unit) LockSignedRequest(ctx context.Context, p ident.Platform, id ident.SignedRequest) (wallet.SignedRequest, error) {
	return lockByID(ctx, u, signedRequests, wallet.InvalidRequestID(), p, id)
}

// SignedRequest uses the primary key.
func (db *DB) SignedRequest(ctx context.Context, p ident.Platform, id ident.SignedRequest) (wallet.SignedRequest, error) {
	return readByID(ctx, db, signedRequests, wallet.InvalidRequestID(), p, id)
}

// UseSignedRequest uses the primary key.
func (u *Unit) UseSignedRequest(ctx context.Context, r wallet.SignedRequest) error {
	return writeNow(ctx, u, useSignedRequest, r, wallet.InvalidRequestID())
}

// walletExports is the table wallet_exports.
var walletExports = schema.New("wallet_exports", keyOfPlatform, func(e *wallet.Export) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &e.Platform}, {Name: "id", Field: &e.ID}, {Name: "account_id", Field: &e.Account},
		{Name: "session_id", Field: &e.Session}, {Name: "credential_id", Field: &e.Credential}, {Name: "request_id", Field: &e.Request},
		{Name: "token_id", Field: schema.ID(&e.Token)}, {Name: "exported_at", Field: &e.At},
	}
})

var insertWalletExport = walletExports.Insert("")

// RecordExport inserts one export.
func (u *Unit) RecordExport(ctx context.Context, e wallet.Export) error {
	return writeNow(ctx, u, insertWalletExport, e, nil)
}

// WalletExports uses wallet_exports_by_account.
func (db *DB) WalletExports(ctx context.Context, w ports.WalletID) ([]wallet.Export, error) {
	return selectRows(ctx, db, db.read, walletExports, `WHERE platform_id = $1 AND account_id = $2 ORDER BY exported_at, id`,
		w.Platform, w.Account)
}
