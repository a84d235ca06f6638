package postgres

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/wallet"
	"causeway/ports"
)

// walletCredentialRow is a row of wallet_credentials.
type walletCredentialRow struct {
	bun.BaseModel `bun:"table:wallet_credentials"`

	PlatformID       uuid.UUID       `bun:"platform_id,pk"`
	ID               uuid.UUID       `bun:"id,pk"`
	AccountID        uuid.UUID       `bun:"account_id"`
	Type             string          `bun:"credential_type"`
	Nickname         string          `bun:"nickname"`
	Email            string          `bun:"email"`
	EmailFingerprint string          `bun:"email_fingerprint"`
	StoredIdentity   json.RawMessage `bun:"column:identity,type:jsonb"`
	PasskeyID        []byte          `bun:"passkey_id"`
	PublicKey        []byte          `bun:"public_key"`
	SignCount        int64           `bun:"sign_count"`
	Transports       []string        `bun:"transports,array"`
	BackupEligible   bool            `bun:"backup_eligible"`
	BackedUp         bool            `bun:"backed_up"`
	UserVerified     bool            `bun:"user_verified"`
	VerifiedAt       *time.Time      `bun:"verified_at"`
	CreatedAt        time.Time       `bun:"created_at"`
	UpdatedAt        time.Time       `bun:"updated_at"`
	RevokedAt        *time.Time      `bun:"revoked_at"`

	Identity *walletIdentityColumn `bun:"-"`
}

// walletIdentityColumn is the column identity.
type walletIdentityColumn struct {
	Issuer   string `json:"issuer"`
	Audience string `json:"audience"`
	Subject  string `json:"subject"`
	Email    string `json:"email,omitempty"`
}

// LockWallet uses the primary key of internal_accounts. The row of the account is the lock of its wallet,
// also while no credential is stored.
func (u *unit) LockWallet(ctx context.Context, w ports.WalletID, now time.Time) (wallet.Wallet, error) {
	if err := u.flush(ctx); err != nil {
		return wallet.Wallet{}, err
	}
	var row internalRow
	err := u.db.bun.NewSelect().Conn(u.sqlConn).Model(&row).Column("id").
		Where("platform_id = ? AND id = ?", w.Platform.UUID(), w.Account.UUID()).For("NO KEY UPDATE").Scan(ctx)
	if isNoRows(err) {
		return wallet.Wallet{}, internalAccountNotFound(w.Account)
	}
	if err != nil {
		return wallet.Wallet{}, translate(err)
	}
	return selectWallet(ctx, u.db, func() *bun.SelectQuery { return u.db.bun.NewSelect().Conn(u.sqlConn) }, w, now)
}

func internalAccountNotFound(id ident.InternalAccount) error {
	return fault.New(fault.InternalAccountNotFound, "There is no internal account %s.", id)
}

// Wallet uses wallet_credentials_by_account and wallet_sessions_by_account.
func (db *DB) Wallet(ctx context.Context, w ports.WalletID, now time.Time) (wallet.Wallet, error) {
	return selectWallet(ctx, db, func() *bun.SelectQuery { return db.bun.NewSelect() }, w, now)
}

func selectWallet(ctx context.Context, db *DB, query func() *bun.SelectQuery, w ports.WalletID, now time.Time) (found wallet.Wallet, err error) {
	found.Platform, found.Account = w.Platform, w.Account
	if found.Credentials, err = selectAll(ctx, db, query().Where("platform_id = ? AND account_id = ? AND revoked_at IS NULL", w.Platform.UUID(), w.Account.UUID()).
		Order("created_at", "id"), (*walletCredentialRow).credential); err != nil {
		return found, err
	}
	if found.Sessions, err = selectActiveSessions(ctx, db, query(), w, now); err != nil {
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
func (u *unit) SaveWallet(ctx context.Context, c wallet.Change) error {
	if err := u.flush(ctx); err != nil {
		return err
	}
	for _, changed := range c.Credentials {
		row, err := u.db.newWalletCredentialRow(ctx, changed)
		if err != nil {
			return err
		}
		if _, err := u.db.bun.NewInsert().Conn(u.sqlConn).Model(row).On("CONFLICT (platform_id, id) DO UPDATE").
			Set("nickname = EXCLUDED.nickname, email = EXCLUDED.email, email_fingerprint = EXCLUDED.email_fingerprint").
			Set("public_key = EXCLUDED.public_key, sign_count = EXCLUDED.sign_count, backup_eligible = EXCLUDED.backup_eligible, backed_up = EXCLUDED.backed_up, user_verified = EXCLUDED.user_verified").
			Set("verified_at = EXCLUDED.verified_at, updated_at = EXCLUDED.updated_at, revoked_at = EXCLUDED.revoked_at").Exec(ctx); err != nil {
			return translate(err)
		}
	}
	for _, changed := range c.Sessions {
		if _, err := u.db.bun.NewInsert().Conn(u.sqlConn).Model(newWalletSessionRow(changed)).On("CONFLICT (platform_id, id) DO UPDATE").
			Set("updated_at = EXCLUDED.updated_at, revoked_at = EXCLUDED.revoked_at").Exec(ctx); err != nil {
			return translate(err)
		}
	}
	return nil
}

// WalletCredential uses the primary key.
func (db *DB) WalletCredential(ctx context.Context, p ident.Platform, id ident.AuthMethod) (wallet.Credential, error) {
	return selectOne(ctx, db, db.bun.NewSelect().Where("platform_id = ? AND id = ?", p.UUID(), id.UUID()),
		(*walletCredentialRow).credential, wallet.CredentialNotFound(id))
}

// OtherWalletWithEmail uses wallet_credentials_by_email. Rows that were stored before there was a data key
// have the plain address.
func (db *DB) OtherWalletWithEmail(ctx context.Context, w ports.WalletID, email string) (bool, error) {
	plain := emailFingerprintText(email)
	fingerprint, err := db.fingerprint(ctx, plain)
	if err != nil {
		return false, err
	}
	return db.bun.NewSelect().Model((*walletCredentialRow)(nil)).
		Where("platform_id = ? AND email_fingerprint IN (?, ?) AND email_fingerprint <> '' AND revoked_at IS NULL AND account_id <> ?", w.Platform.UUID(), fingerprint, plain, w.Account.UUID()).Exists(ctx)
}

// emailFingerprintText returns what the fingerprint of an address is made of: addresses that differ in case
// are one.
func emailFingerprintText(email string) string { return "wallet e-mail " + strings.ToLower(email) }

// fingerprint returns the keyed hash of a text, or the text if there is no key.
func (db *DB) fingerprint(ctx context.Context, text string) (string, error) {
	if db.cipher == nil {
		return text, nil
	}
	return db.cipher.Fingerprint(ctx, text)
}

func (db *DB) newWalletCredentialRow(ctx context.Context, c wallet.Credential) (row *walletCredentialRow, err error) {
	row = &walletCredentialRow{
		PlatformID: c.Platform.UUID(), ID: c.ID.UUID(), AccountID: c.Account.UUID(), Type: string(c.Type), StoredIdentity: json.RawMessage("null"),
		PasskeyID: []byte{}, PublicKey: []byte{}, Transports: []string{},
		VerifiedAt: nullTime(c.VerifiedAt), CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, RevokedAt: nullTime(c.RevokedAt),
	}
	if key := c.Passkey; key != nil {
		row.PasskeyID, row.PublicKey, row.SignCount = append(row.PasskeyID, key.CredentialID...), append(row.PublicKey, key.PublicKey...), int64(key.SignCount)
		row.Transports = append(row.Transports, key.Transports...)
		row.BackupEligible, row.BackedUp, row.UserVerified = key.BackupEligible, key.BackedUp, key.UserVerified
	}
	if row.Nickname, err = db.sealText(ctx, row.sealedRow(), walletCredentialsNickname, c.Nickname); err != nil {
		return nil, err
	}
	if row.Email, err = db.sealText(ctx, row.sealedRow(), walletCredentialsEmail, c.Email); err != nil {
		return nil, err
	}
	if c.Email != "" {
		if row.EmailFingerprint, err = db.fingerprint(ctx, emailFingerprintText(c.Email)); err != nil {
			return nil, err
		}
	}
	if c.Identity != nil {
		row.StoredIdentity, err = db.sealJSON(ctx, row.sealedRow(), walletCredentialsIdentity, walletIdentityColumn(*c.Identity))
	}
	return row, err
}

func (row *walletCredentialRow) sealedRow() sealedRow { return sealedRow{row.PlatformID, row.ID} }

func (row *walletCredentialRow) open(ctx context.Context, db *DB) (err error) {
	if row.Nickname, err = db.openText(ctx, row.sealedRow(), walletCredentialsNickname, row.Nickname); err != nil {
		return err
	}
	if row.Email, err = db.openText(ctx, row.sealedRow(), walletCredentialsEmail, row.Email); err != nil {
		return err
	}
	return db.openJSON(ctx, row.sealedRow(), walletCredentialsIdentity, row.StoredIdentity, &row.Identity)
}

func (row *walletCredentialRow) credential() wallet.Credential {
	c := wallet.Credential{
		Type: wallet.CredentialType(row.Type), Nickname: row.Nickname, Email: row.Email, Identity: (*wallet.Identity)(row.Identity),
		VerifiedAt: timeOrZero(row.VerifiedAt), CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(), RevokedAt: timeOrZero(row.RevokedAt),
	}
	if c.Type == wallet.Passkey {
		c.Passkey = &wallet.PasskeyKey{CredentialID: row.PasskeyID, PublicKey: row.PublicKey, SignCount: uint32(row.SignCount),
			Transports: row.Transports, BackupEligible: row.BackupEligible, BackedUp: row.BackedUp, UserVerified: row.UserVerified}
	}
	c.Platform.SetUUID(row.PlatformID)
	c.ID.SetUUID(row.ID)
	c.Account.SetUUID(row.AccountID)
	return c
}
