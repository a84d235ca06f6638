package postgres

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"causeway/core/ident"
	"causeway/core/wallet"
)

// walletCodeRow is a row of wallet_codes.
type walletCodeRow struct {
	bun.BaseModel `bun:"table:wallet_codes"`

	PlatformID   uuid.UUID  `bun:"platform_id,pk"`
	CredentialID uuid.UUID  `bun:"credential_id,pk"`
	Hash         []byte     `bun:"hash"`
	Tries        int        `bun:"tries"`
	ExpiresAt    time.Time  `bun:"expires_at"`
	BurstUntil   time.Time  `bun:"burst_until"`
	HourUntil    time.Time  `bun:"hour_until"`
	Failures     int        `bun:"failures"`
	BlockedUntil *time.Time `bun:"blocked_until"`
}

// WalletCodeHash implements ports.WalletReader.
func (db *DB) WalletCodeHash(ctx context.Context, p ident.Platform, id ident.AuthMethod, code string) (wallet.CodeHash, error) {
	keyed, err := db.fingerprint(ctx, fmt.Sprintf("wallet code %s %s %s", p, id, code))
	return sha256.Sum256([]byte(keyed)), err
}

// LockWalletCode uses the primary key.
func (u *unit) LockWalletCode(ctx context.Context, p ident.Platform, id ident.AuthMethod) (wallet.Code, error) {
	found := wallet.Code{Platform: p, Credential: id}
	if err := u.flush(ctx); err != nil {
		return found, err
	}
	var row walletCodeRow
	err := u.db.bun.NewSelect().Conn(u.sqlConn).Model(&row).Where("platform_id = ? AND credential_id = ?", p.UUID(), id.UUID()).For("UPDATE").Scan(ctx)
	if isNoRows(err) {
		return found, nil
	}
	copy(found.Hash[:], row.Hash)
	found.Tries, found.ExpiresAt = row.Tries, row.ExpiresAt.UTC()
	found.Sending = wallet.CodeSending{BurstUntil: row.BurstUntil.UTC(), HourUntil: row.HourUntil.UTC()}
	found.Failures, found.BlockedUntil = row.Failures, timeOrZero(row.BlockedUntil)
	return found, translate(err)
}

// SaveWalletCode uses the primary key.
func (u *unit) SaveWalletCode(ctx context.Context, c wallet.Code) error {
	if err := u.flush(ctx); err != nil {
		return err
	}
	row := &walletCodeRow{PlatformID: c.Platform.UUID(), CredentialID: c.Credential.UUID(), Hash: c.Hash[:], Tries: c.Tries, ExpiresAt: c.ExpiresAt,
		BurstUntil: c.Sending.BurstUntil, HourUntil: c.Sending.HourUntil, Failures: c.Failures, BlockedUntil: nullTime(c.BlockedUntil)}
	_, err := u.db.bun.NewInsert().Conn(u.sqlConn).Model(row).On("CONFLICT (platform_id, credential_id) DO UPDATE").
		Set("hash = EXCLUDED.hash, tries = EXCLUDED.tries, expires_at = EXCLUDED.expires_at, burst_until = EXCLUDED.burst_until, hour_until = EXCLUDED.hour_until").
		Set("failures = EXCLUDED.failures, blocked_until = EXCLUDED.blocked_until").Exec(ctx)
	return translate(err)
}

// passkeyChallengeRow is a row of wallet_passkey_challenges.
type passkeyChallengeRow struct {
	bun.BaseModel `bun:"table:wallet_passkey_challenges"`

	PlatformID   uuid.UUID  `bun:"platform_id,pk"`
	ID           uuid.UUID  `bun:"id,pk"`
	CredentialID uuid.UUID  `bun:"credential_id"`
	Challenge    []byte     `bun:"challenge"`
	ClientKey    []byte     `bun:"client_key"`
	CreatedAt    time.Time  `bun:"created_at"`
	ExpiresAt    time.Time  `bun:"expires_at"`
	UsedAt       *time.Time `bun:"used_at"`
}

// CreatePasskeyChallenge inserts one challenge.
func (u *unit) CreatePasskeyChallenge(ctx context.Context, c wallet.PasskeyChallenge) error {
	return u.insert(ctx, &passkeyChallengeRow{PlatformID: c.Platform.UUID(), ID: c.ID.UUID(), CredentialID: c.Credential.UUID(), Challenge: c.Challenge,
		ClientKey: c.Client.Bytes(), CreatedAt: c.CreatedAt, ExpiresAt: c.ExpiresAt, UsedAt: nullTime(c.UsedAt)})
}

// LockPasskeyChallenge uses the primary key.
func (u *unit) LockPasskeyChallenge(ctx context.Context, p ident.Platform, id ident.SignedRequest) (wallet.PasskeyChallenge, error) {
	if err := u.flush(ctx); err != nil {
		return wallet.PasskeyChallenge{}, err
	}
	return selectPasskeyChallenge(ctx, u.db, u.db.bun.NewSelect().Conn(u.sqlConn).For("UPDATE"), p, id)
}

// PasskeyChallenge uses the primary key.
func (db *DB) PasskeyChallenge(ctx context.Context, p ident.Platform, id ident.SignedRequest) (wallet.PasskeyChallenge, error) {
	return selectPasskeyChallenge(ctx, db, db.bun.NewSelect(), p, id)
}

func selectPasskeyChallenge(ctx context.Context, db *DB, query *bun.SelectQuery, p ident.Platform, id ident.SignedRequest) (wallet.PasskeyChallenge, error) {
	found, err := selectOne(ctx, db, query.Where("platform_id = ? AND id = ?", p.UUID(), id.UUID()), (*passkeyChallengeRow).challenge, wallet.InvalidRequestID())
	return found, translate(err)
}

// UsePasskeyChallenge uses the primary key.
func (u *unit) UsePasskeyChallenge(ctx context.Context, c wallet.PasskeyChallenge) error {
	return u.setUsed(ctx, &passkeyChallengeRow{PlatformID: c.Platform.UUID(), ID: c.ID.UUID(), UsedAt: nullTime(c.UsedAt)})
}

// setUsed writes the column used_at of a row.
func (u *unit) setUsed(ctx context.Context, row any) error {
	if err := u.flush(ctx); err != nil {
		return err
	}
	result, err := u.db.bun.NewUpdate().Conn(u.sqlConn).Model(row).Column("used_at").WherePK().Exec(ctx)
	return checkRowChanged(result, err, wallet.InvalidRequestID())
}

func (row *passkeyChallengeRow) challenge() wallet.PasskeyChallenge {
	c := wallet.PasskeyChallenge{Challenge: row.Challenge, Client: wallet.StoredClientKey(row.ClientKey), CreatedAt: row.CreatedAt.UTC(), ExpiresAt: row.ExpiresAt.UTC(), UsedAt: timeOrZero(row.UsedAt)}
	c.Platform.SetUUID(row.PlatformID)
	c.ID.SetUUID(row.ID)
	c.Credential.SetUUID(row.CredentialID)
	return c
}

// usedChallengeRow is a row of wallet_used_challenges.
type usedChallengeRow struct {
	bun.BaseModel `bun:"table:wallet_used_challenges"`

	PlatformID uuid.UUID `bun:"platform_id,pk"`
	Hash       []byte    `bun:"hash,pk"`
	ExpiresAt  time.Time `bun:"expires_at"`
}

// UseOnce uses the primary key: of two units of work, the second waits for the first.
func (u *unit) UseOnce(ctx context.Context, p ident.Platform, hash [sha256.Size]byte, until time.Time) (bool, error) {
	if err := u.flush(ctx); err != nil {
		return false, err
	}
	result, err := u.db.bun.NewInsert().Conn(u.sqlConn).Model(&usedChallengeRow{PlatformID: p.UUID(), Hash: hash[:], ExpiresAt: until}).On("CONFLICT DO NOTHING").Exec(ctx)
	if err != nil {
		return false, translate(err)
	}
	inserted, err := result.RowsAffected()
	return inserted == 1, err
}

// WasUsed uses the primary key.
func (db *DB) WasUsed(ctx context.Context, p ident.Platform, hash [sha256.Size]byte) (bool, error) {
	return db.bun.NewSelect().Model((*usedChallengeRow)(nil)).Where("platform_id = ? AND hash = ?", p.UUID(), hash[:]).Exists(ctx)
}
