package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/wallet"
	"causeway/ports"
)

// signedRequestRow is a row of wallet_signed_requests.
type signedRequestRow struct {
	bun.BaseModel `bun:"table:wallet_signed_requests"`

	PlatformID  uuid.UUID  `bun:"platform_id,pk"`
	ID          uuid.UUID  `bun:"id,pk"`
	AccountID   uuid.UUID  `bun:"account_id"`
	Operation   string     `bun:"operation"`
	Type        string     `bun:"credential_type"`
	Fingerprint []byte     `bun:"fingerprint"`
	Basis       []byte     `bun:"basis"`
	Payload     string     `bun:"payload"`
	CreatedAt   time.Time  `bun:"created_at"`
	ExpiresAt   time.Time  `bun:"expires_at"`
	UsedAt      *time.Time `bun:"used_at"`
}

// CreateSignedRequest inserts one request.
func (u *unit) CreateSignedRequest(ctx context.Context, r wallet.SignedRequest) error {
	return u.insert(ctx, &signedRequestRow{
		PlatformID: r.Platform.UUID(), ID: r.ID.UUID(), AccountID: r.Account.UUID(), Operation: string(r.Operation), Type: string(r.Credential),
		Fingerprint: r.Fingerprint[:], Basis: r.Basis[:], Payload: r.Payload, CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt, UsedAt: nullTime(r.UsedAt),
	})
}

// LockSignedRequest uses the primary key.
func (u *unit) LockSignedRequest(ctx context.Context, p ident.Platform, id ident.SignedRequest) (wallet.SignedRequest, error) {
	if err := u.flush(ctx); err != nil {
		return wallet.SignedRequest{}, err
	}
	return selectSignedRequest(ctx, u.db, u.db.bun.NewSelect().Conn(u.sqlConn).For("UPDATE"), p, id)
}

// SignedRequest uses the primary key.
func (db *DB) SignedRequest(ctx context.Context, p ident.Platform, id ident.SignedRequest) (wallet.SignedRequest, error) {
	return selectSignedRequest(ctx, db, db.bun.NewSelect(), p, id)
}

func selectSignedRequest(ctx context.Context, db *DB, query *bun.SelectQuery, p ident.Platform, id ident.SignedRequest) (wallet.SignedRequest, error) {
	found, err := selectOne(ctx, db, query.Where("platform_id = ? AND id = ?", p.UUID(), id.UUID()), (*signedRequestRow).request, wallet.InvalidRequestID())
	return found, translate(err)
}

// UseSignedRequest uses the primary key.
func (u *unit) UseSignedRequest(ctx context.Context, r wallet.SignedRequest) error {
	return u.setUsed(ctx, &signedRequestRow{PlatformID: r.Platform.UUID(), ID: r.ID.UUID(), UsedAt: nullTime(r.UsedAt)})
}

func (row *signedRequestRow) request() wallet.SignedRequest {
	r := wallet.SignedRequest{
		Operation: wallet.Operation(row.Operation), Credential: wallet.CredentialType(row.Type), Payload: row.Payload,
		CreatedAt: row.CreatedAt.UTC(), ExpiresAt: row.ExpiresAt.UTC(), UsedAt: timeOrZero(row.UsedAt),
	}
	copy(r.Fingerprint[:], row.Fingerprint)
	copy(r.Basis[:], row.Basis)
	r.Platform.SetUUID(row.PlatformID)
	r.ID.SetUUID(row.ID)
	r.Account.SetUUID(row.AccountID)
	return r
}

// walletExportRow is a row of wallet_exports.
type walletExportRow struct {
	bun.BaseModel `bun:"table:wallet_exports"`

	PlatformID   uuid.UUID     `bun:"platform_id,pk"`
	ID           uuid.UUID     `bun:"id,pk"`
	AccountID    uuid.UUID     `bun:"account_id"`
	SessionID    uuid.NullUUID `bun:"session_id"`
	CredentialID uuid.NullUUID `bun:"credential_id"`
	RequestID    uuid.UUID     `bun:"request_id"`
	TokenID      uuid.UUID     `bun:"token_id"`
	ExportedAt   time.Time     `bun:"exported_at"`
}

// RecordExport inserts one export.
func (u *unit) RecordExport(ctx context.Context, e wallet.Export) error {
	return u.insert(ctx, &walletExportRow{
		PlatformID: e.Platform.UUID(), ID: e.ID, AccountID: e.Account.UUID(), SessionID: nullID(e.Session.UUID()), CredentialID: nullID(e.Credential.UUID()),
		RequestID: e.Request.UUID(), TokenID: e.Token.UUID(), ExportedAt: e.At,
	})
}

// WalletExports uses wallet_exports_by_account.
func (db *DB) WalletExports(ctx context.Context, w ports.WalletID) ([]wallet.Export, error) {
	return selectAll(ctx, db, db.bun.NewSelect().Where("platform_id = ? AND account_id = ?", w.Platform.UUID(), w.Account.UUID()).Order("exported_at", "id"), (*walletExportRow).export)
}

func (row *walletExportRow) export() wallet.Export {
	e := wallet.Export{ID: row.ID, At: row.ExportedAt.UTC()}
	e.Platform.SetUUID(row.PlatformID)
	e.Account.SetUUID(row.AccountID)
	e.Session.SetUUID(row.SessionID.UUID)
	e.Credential.SetUUID(row.CredentialID.UUID)
	e.Request.SetUUID(row.RequestID)
	e.Token.SetUUID(row.TokenID)
	return e
}

// UpdateInternalAccount uses the primary key.
func (u *unit) UpdateInternalAccount(ctx context.Context, a account.Internal) error {
	if err := u.flush(ctx); err != nil {
		return err
	}
	row := &internalRow{PlatformID: a.Platform.UUID(), ID: a.ID.UUID(), PrivateEnabled: a.PrivateEnabled, UpdatedAt: a.UpdatedAt}
	result, err := u.db.bun.NewUpdate().Conn(u.sqlConn).Model(row).Column("private_enabled", "updated_at").WherePK().Exec(ctx)
	return checkRowChanged(result, err, internalAccountNotFound(a.ID))
}
