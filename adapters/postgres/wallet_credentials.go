package postgres

import (
	"context"
	"strings"
	"time"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/core/wallet"
	"causeway/ports"
)

// walletCredentialRow is a row of wallet_credentials, which has columns of a passkey also without one.
type walletCredentialRow struct {
	wallet.Credential
	passkey wallet.PasskeyKey
}

// walletIdentityColumn is the column identity.
type walletIdentityColumn struct {
	Issuer   string `json:"issuer"`
	Audience string `json:"audience"`
	Subject  string `json:"subject"`
	Email    string `json:"email,omitempty"`
}

// walletCredentials is the table wallet_credentials.
var walletCredentials = schema.New("wallet_credentials", keyOfPlatform, func(c *walletCredentialRow) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &c.Platform}, {Name: "id", Field: &c.ID}, {Name: "account_id", Field: &c.Account},
		{Name: "credential_type", Field: &c.Type},
		sealed.Text(sealed.WalletCredentialsNickname, &c.Nickname), sealed.Text(sealed.WalletCredentialsEmail, &c.SentTo),
		sealed.KeyedHash("email_fingerprint", func() string {
			if c.SentTo == "" {
				return ""
			}
			return emailFingerprintText(c.SentTo)
		}, nil),
		sealed.OrNull(sealed.WalletCredentialsIdentity,
			func() *walletIdentityColumn { return (*walletIdentityColumn)(c.Identity) },
			func(identity *walletIdentityColumn) { c.Identity = (*wallet.Identity)(identity) }),
		{Name: "passkey_id", Field: schema.Bytes(&c.passkey.CredentialID)}, {Name: "public_key", Field: schema.Bytes(&c.passkey.PublicKey)},
		{Name: "sign_count", Field: &c.passkey.SignCount}, {Name: "transports", Type: "text[]", Field: schema.Array(&c.passkey.Transports)},
		{Name: "backup_eligible", Field: &c.passkey.BackupEligible}, {Name: "backed_up", Field: &c.passkey.BackedUp},
		{Name: "user_verified", Field: &c.passkey.UserVerified}, {Name: "verified_at", Field: &c.VerifiedAt},
		{Name: "created_at", Field: &c.CreatedAt}, {Name: "updated_at", Field: &c.UpdatedAt}, {Name: "revoked_at", Field: &c.RevokedAt},
	}
})

var saveWalletCredential = walletCredentials.Insert(`ON CONFLICT (platform_id, id) DO UPDATE SET
	nickname = EXCLUDED.nickname, email = EXCLUDED.email, email_fingerprint = EXCLUDED.email_fingerprint,
	public_key = EXCLUDED.public_key, sign_count = EXCLUDED.sign_count, backup_eligible = EXCLUDED.backup_eligible,
	backed_up = EXCLUDED.backed_up, user_verified = EXCLUDED.user_verified,
	verified_at = EXCLUDED.verified_at, updated_at = EXCLUDED.updated_at, revoked_at = EXCLUDED.revoked_at`)

func (c walletCredentialRow) credential() wallet.Credential {
	if c.Type == wallet.Passkey {
		c.Passkey = &c.passkey
	}
	return c.Credential
}

// LockWallet uses the primary key of internal_accounts. The row of the account is the lock of its wallet,
// also while no credential is stored.
func (u *Unit) LockWallet(ctx context.Context, w ports.WalletID, now time.Time) (wallet.Wallet, error) {
	var id ident.InternalAccount
	found, err := storage.ReadRow(ctx, u.query, `SELECT id FROM internal_accounts WHERE platform_id = $1 AND id = $2 FOR NO KEY UPDATE`,
		[]any{w.Platform, w.Account}, &id)
	if err != nil {
		return wallet.Wallet{}, translate(err)
	}
	if !found {
		return wallet.Wallet{}, internalAccountNotFound(w.Account)
	}
	return selectWallet(ctx, u.db, u.query, w, now)
}

// Wallet uses wallet_credentials_by_account and wallet_sessions_by_account.
func (db *DB) Wallet(ctx context.Context, w ports.WalletID, now time.Time) (wallet.Wallet, error) {
	return selectWallet(ctx, db, db.read, w, now)
}

func selectWallet(ctx context.Context, db *DB, read storage.Reader, w ports.WalletID, now time.Time) (found wallet.Wallet, err error) {
	found.Platform, found.Account = w.Platform, w.Account
	credentials, err := selectRows(ctx, db, read, walletCredentials,
		`WHERE platform_id = $1 AND account_id = $2 AND revoked_at IS NULL ORDER BY created_at, id`, w.Platform, w.Account)
	if err != nil {
		return found, err
	}
	for _, c := range credentials {
		found.Credentials = append(found.Credentials, c.credential())
	}
	if found.Sessions, err = selectActiveSessions(ctx, db, read, w, now); err != nil {
		return found, err
	}
	for i := range found.Sessions {
		if c, err := found.Credential(found.Sessions[i].Credential); err == nil {
			found.Sessions[i] = found.Sessions[i].Of(c)
		}
	}
	return found, nil
}

// SaveWallet uses the primary keys.
func (u *Unit) SaveWallet(ctx context.Context, c wallet.Change) error {
	for _, changed := range c.Credentials {
		row := walletCredentialRow{Credential: changed}
		if changed.Passkey != nil {
			row.passkey = *changed.Passkey
		}
		if err := write(ctx, u, saveWalletCredential, row); err != nil {
			return err
		}
	}
	for _, changed := range c.Sessions {
		if err := write(ctx, u, saveWalletSession, changed); err != nil {
			return err
		}
	}
	return translate(u.flush(ctx))
}

// WalletCredential uses the primary key.
func (db *DB) WalletCredential(ctx context.Context, p ident.Platform, id ident.AuthMethod) (wallet.Credential, error) {
	row, err := readByID(ctx, db, walletCredentials, wallet.CredentialNotFound(id), p, id)
	return row.credential(), err
}

// OtherWalletWithEmail uses wallet_credentials_by_email. Rows that were stored before there was a data key
// have the plain address.
func (db *DB) OtherWalletWithEmail(ctx context.Context, w ports.WalletID, email string) (exists bool, err error) {
	plain := emailFingerprintText(email)
	fingerprint, err := db.sealed.Fingerprint(ctx, plain)
	if err != nil {
		return false, err
	}
	_, err = storage.ReadRow(ctx, db.read, `SELECT EXISTS (SELECT FROM wallet_credentials
		WHERE platform_id = $1 AND email_fingerprint IN ($2, $3) AND email_fingerprint <> '' AND revoked_at IS NULL AND account_id <> $4)`,
		[]any{w.Platform, fingerprint, plain, w.Account}, &exists)
	return exists, err
}

// emailFingerprintText returns what the fingerprint of an address is made of: addresses that differ in case
// are one.
func emailFingerprintText(email string) string { return "wallet e-mail " + strings.ToLower(email) }
