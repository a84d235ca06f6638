package postgres

import (
	"context"
	"time"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/core/wallet"
	"causeway/ports"
)

// walletSessions is the table wallet_sessions.
var walletSessions = schema.New("wallet_sessions", keyOfPlatform, func(s *wallet.Session) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &s.Platform}, {Name: "id", Field: &s.ID}, {Name: "account_id", Field: &s.Account},
		{Name: "credential_id", Field: &s.Credential}, {Name: "credential_type", Field: &s.Type},
		{Name: "public_key", Field: &s.PublicKey}, {Name: "statement", Field: &s.Certificate.Statement},
		{Name: "wallet_key", Field: &s.Certificate.Key}, {Name: "signature", Field: schema.Bytes(&s.Certificate.Signature)},
		{Name: "created_at", Field: &s.CreatedAt}, {Name: "updated_at", Field: &s.UpdatedAt},
		{Name: "expires_at", Field: &s.ExpiresAt}, {Name: "revoked_at", Field: &s.RevokedAt},
	}
})

var saveWalletSession = walletSessions.Insert(
	`ON CONFLICT (platform_id, id) DO UPDATE SET updated_at = EXCLUDED.updated_at, revoked_at = EXCLUDED.revoked_at`)

// ActiveWalletSessions uses wallet_sessions_by_account.
func (db *DB) ActiveWalletSessions(ctx context.Context, w ports.WalletID, now time.Time) ([]wallet.Session, error) {
	return selectActiveSessions(ctx, db, db.read, w, now)
}

func selectActiveSessions(ctx context.Context, db *DB, read storage.Reader, w ports.WalletID, now time.Time) ([]wallet.Session, error) {
	return selectRows(ctx, db, read, walletSessions,
		`WHERE platform_id = $1 AND account_id = $2 AND expires_at > $3 AND revoked_at IS NULL ORDER BY created_at, id`,
		w.Platform, w.Account, now)
}

// WalletSession uses the primary key.
func (db *DB) WalletSession(ctx context.Context, p ident.Platform, id ident.Session) (wallet.Session, error) {
	return readByID(ctx, db, walletSessions, wallet.SessionNotFound(id), p, id)
}

// LockWalletSessions uses the primary key. Payments may hold the lock of a session at the same time.
func (u *Unit) LockWalletSessions(ctx context.Context, p ident.Platform, ids []ident.Session) (map[ident.Session]wallet.Session, error) {
	found := make(map[ident.Session]wallet.Session, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	sessions, err := selectRows(ctx, u.db, u.query, walletSessions, `WHERE platform_id = $1 AND id = ANY($2::uuid[]) ORDER BY id FOR SHARE`,
		p, ids)
	for _, s := range sessions {
		found[s.ID] = s
	}
	return found, translate(err)
}
