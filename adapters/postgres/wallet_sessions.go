package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"causeway/core/ident"
	"causeway/core/wallet"
	"causeway/ports"
)

// walletSessionRow is a row of wallet_sessions.
type walletSessionRow struct {
	bun.BaseModel `bun:"table:wallet_sessions"`

	PlatformID   uuid.UUID  `bun:"platform_id,pk"`
	ID           uuid.UUID  `bun:"id,pk"`
	AccountID    uuid.UUID  `bun:"account_id"`
	CredentialID uuid.UUID  `bun:"credential_id"`
	Type         string     `bun:"credential_type"`
	PublicKey    []byte     `bun:"public_key"`
	Statement    string     `bun:"statement"`
	WalletKey    []byte     `bun:"wallet_key"`
	Signature    []byte     `bun:"signature"`
	CreatedAt    time.Time  `bun:"created_at"`
	UpdatedAt    time.Time  `bun:"updated_at"`
	ExpiresAt    time.Time  `bun:"expires_at"`
	RevokedAt    *time.Time `bun:"revoked_at"`
}

// ActiveWalletSessions uses wallet_sessions_by_account.
func (db *DB) ActiveWalletSessions(ctx context.Context, w ports.WalletID, now time.Time) ([]wallet.Session, error) {
	return selectActiveSessions(ctx, db, db.bun.NewSelect(), w, now)
}

func selectActiveSessions(ctx context.Context, db *DB, query *bun.SelectQuery, w ports.WalletID, now time.Time) ([]wallet.Session, error) {
	return selectAll(ctx, db, query.Where("platform_id = ? AND account_id = ? AND expires_at > ? AND revoked_at IS NULL", w.Platform.UUID(), w.Account.UUID(), now).
		Order("created_at", "id"), (*walletSessionRow).session)
}

// WalletSession uses the primary key.
func (db *DB) WalletSession(ctx context.Context, p ident.Platform, id ident.Session) (wallet.Session, error) {
	return selectOne(ctx, db, db.bun.NewSelect().Where("platform_id = ? AND id = ?", p.UUID(), id.UUID()),
		(*walletSessionRow).session, wallet.SessionNotFound(id))
}

// LockWalletSessions uses the primary key. Payments may hold the lock of a session at the same time.
func (u *unit) LockWalletSessions(ctx context.Context, p ident.Platform, ids []ident.Session) (map[ident.Session]wallet.Session, error) {
	found := make(map[ident.Session]wallet.Session, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	if err := u.flush(ctx); err != nil {
		return nil, err
	}
	keys := make([]uuid.UUID, len(ids))
	for i, id := range ids {
		keys[i] = id.UUID()
	}
	sessions, err := selectAll(ctx, u.db, u.db.bun.NewSelect().Conn(u.sqlConn).Where("platform_id = ? AND id IN (?)", p.UUID(), bun.List(keys)).
		Order("id").For("SHARE"), (*walletSessionRow).session)
	for _, s := range sessions {
		found[s.ID] = s
	}
	return found, translate(err)
}

func newWalletSessionRow(s wallet.Session) *walletSessionRow {
	return &walletSessionRow{
		PlatformID: s.Platform.UUID(), ID: s.ID.UUID(), AccountID: s.Account.UUID(), CredentialID: s.Credential.UUID(), Type: string(s.Type),
		PublicKey: s.PublicKey[:], Statement: s.Certificate.Statement, WalletKey: s.Certificate.Key[:], Signature: append([]byte{}, s.Certificate.Signature...),
		CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt, ExpiresAt: s.ExpiresAt, RevokedAt: nullTime(s.RevokedAt),
	}
}

func (row *walletSessionRow) session() wallet.Session {
	s := wallet.Session{
		Type: wallet.CredentialType(row.Type), Certificate: wallet.Certificate{Statement: row.Statement, Signature: row.Signature},
		CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(), ExpiresAt: row.ExpiresAt.UTC(), RevokedAt: timeOrZero(row.RevokedAt),
	}
	copy(s.PublicKey[:], row.PublicKey)
	copy(s.Certificate.Key[:], row.WalletKey)
	s.Platform.SetUUID(row.PlatformID)
	s.ID.SetUUID(row.ID)
	s.Account.SetUUID(row.AccountID)
	s.Credential.SetUUID(row.CredentialID)
	return s
}
