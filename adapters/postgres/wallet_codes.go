package postgres

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/core/wallet"
)

// walletCodes is the table wallet_codes.
var walletCodes = schema.New("wallet_codes", []string{"platform_id", "credential_id"}, func(c *wallet.Code) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &c.Platform}, {Name: "credential_id", Field: &c.Credential},
		{Name: "hash", Field: &c.Hash}, {Name: "tries", Field: &c.Tries}, {Name: "expires_at", Field: schema.Time(&c.ExpiresAt)},
		{Name: "burst_until", Field: schema.Time(&c.Sending.BurstUntil)}, {Name: "hour_until", Field: schema.Time(&c.Sending.HourUntil)},
		{Name: "failures", Field: &c.Failures}, {Name: "blocked_until", Field: &c.BlockedUntil},
	}
})

var saveWalletCode = walletCodes.Insert(`ON CONFLICT (platform_id, credential_id) DO UPDATE SET
	hash = EXCLUDED.hash, tries = EXCLUDED.tries, expires_at = EXCLUDED.expires_at, burst_until = EXCLUDED.burst_until,
	hour_until = EXCLUDED.hour_until, failures = EXCLUDED.failures, blocked_until = EXCLUDED.blocked_until`)

// WalletCodeHash implements wallets.Store.
func (db *DB) WalletCodeHash(ctx context.Context, p ident.Platform, id ident.AuthMethod, code string) (wallet.CodeHash, error) {
	keyed, err := db.sealed.Fingerprint(ctx, fmt.Sprintf("wallet code %s %s %s", p, id, code))
	return sha256.Sum256([]byte(keyed)), err
}

// LockWalletCode uses the primary key.
func (u *Unit) LockWalletCode(ctx context.Context, p ident.Platform, id ident.AuthMethod) (wallet.Code, error) {
	code, found, err := selectRow(ctx, u.db, u.query, walletCodes, `WHERE platform_id = $1 AND credential_id = $2 FOR UPDATE`, p, id)
	if !found {
		code = wallet.Code{Platform: p, Credential: id}
	}
	return code, translate(err)
}

// SaveWalletCode uses the primary key.
func (u *Unit) SaveWalletCode(ctx context.Context, c wallet.Code) error {
	return writeNow(ctx, u, saveWalletCode, c, nil)
}

// passkeyChallenges is the table wallet_passkey_challenges.
var passkeyChallenges = schema.New("wallet_passkey_challenges", keyOfPlatform, func(c *wallet.PasskeyChallenge) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &c.Platform}, {Name: "id", Field: &c.ID}, {Name: "credential_id", Field: &c.Credential},
		{Name: "challenge", Field: &c.Challenge},
		{Name: "client_key", Field: schema.Converted(
			func() []byte { return c.Client.Bytes() },
			func(point []byte) error {
				c.Client = wallet.StoredClientKey(point)
				return nil
			})},
		{Name: "created_at", Field: &c.CreatedAt}, {Name: "expires_at", Field: &c.ExpiresAt}, {Name: "used_at", Field: &c.UsedAt},
	}
})

var (
	insertPasskeyChallenge = passkeyChallenges.Insert("")
	usePasskeyChallenge    = passkeyChallenges.Update("used_at")
)

// CreatePasskeyChallenge inserts one challenge.
func (u *Unit) CreatePasskeyChallenge(ctx context.Context, c wallet.PasskeyChallenge) error {
	return writeNow(ctx, u, insertPasskeyChallenge, c, nil)
}

// LockPasskeyChallenge uses the primary key.
func (u *Unit) LockPasskeyChallenge(ctx context.Context, p ident.Platform, id ident.SignedRequest) (wallet.PasskeyChallenge, error) {
	return lockByID(ctx, u, passkeyChallenges, wallet.InvalidRequestID(), p, id)
}

// PasskeyChallenge uses the primary key.
func (db *DB) PasskeyChallenge(ctx context.Context, p ident.Platform, id ident.SignedRequest) (wallet.PasskeyChallenge, error) {
	return readByID(ctx, db, passkeyChallenges, wallet.InvalidRequestID(), p, id)
}

// UsePasskeyChallenge uses the primary key.
func (u *Unit) UsePasskeyChallenge(ctx context.Context, c wallet.PasskeyChallenge) error {
	return writeNow(ctx, u, usePasskeyChallenge, c, wallet.InvalidRequestID())
}

// UseOnce uses the primary key: of two units of work, the second waits for the first.
func (u *Unit) UseOnce(ctx context.Context, p ident.Platform, hash [sha256.Size]byte, until time.Time) (inserted bool, err error) {
	_, err = storage.ReadRow(
		ctx, u.query, `INSERT INTO wallet_used_challenges (platform_id, hash, expires_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING true`,
		[]any{p, hash, until}, &inserted)
	return inserted, translate(err)
}

// WasUsed uses the primary key.
func (db *DB) WasUsed(ctx context.Context, p ident.Platform, hash [sha256.Size]byte) (used bool, err error) {
	_, err = storage.ReadRow(ctx, db.read, `SELECT EXISTS (SELECT FROM wallet_used_challenges WHERE platform_id = $1 AND hash = $2)`,
		[]any{p, hash}, &used)
	return used, err
}
