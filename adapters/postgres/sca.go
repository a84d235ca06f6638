package postgres

import (
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/sca"
	"causeway/core/wallet"
)

// scaAccounts is the table sca_accounts.
var scaAccounts = schema.New("sca_accounts", []string{"platform_id", "customer_id"}, func(a *sca.Account) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &a.Platform}, {Name: "customer_id", Field: &a.Customer},
		{Name: "failed_logins", Field: &a.Failures.Logins}, {Name: "failed_sms", Field: &a.Failures.SMS},
		{Name: "failed_totp", Field: &a.Failures.TOTP}, {Name: "failed_passkeys", Field: &a.Failures.Passkeys},
		{Name: "locked_until", Field: &a.LockedUntil}, {Name: "suspended_at", Field: &a.SuspendedAt},
		{Name: "burst_until", Field: schema.Time(&a.Sending.BurstUntil)}, {Name: "hour_until", Field: schema.Time(&a.Sending.HourUntil)},
		{Name: "updated_at", Field: schema.Time(&a.UpdatedAt)},
	}
})

var (
	insertSCAAccount = scaAccounts.Insert("ON CONFLICT DO NOTHING")
	updateSCAAccount = scaAccounts.Update("failed_logins", "failed_sms", "failed_totp", "failed_passkeys", "locked_until", "suspended_at",
		"burst_until", "hour_until", "updated_at")
)

// LockSCAAccount uses the primary key. It inserts the row, so that the first attempts of a customer wait for each other too.
func (u *Unit) LockSCAAccount(ctx context.Context, p ident.Platform, id ident.Customer) (sca.Account, error) {
	if err := write(ctx, u, insertSCAAccount, sca.Account{Platform: p, Customer: id}); err != nil {
		return sca.Account{}, err
	}
	account, _, err := selectRow(ctx, u.db, u.query, scaAccounts, `WHERE platform_id = $1 AND customer_id = $2 FOR UPDATE`, p, id)
	return account, translate(err)
}

// SaveSCAAccount uses the primary key.
func (u *Unit) SaveSCAAccount(ctx context.Context, a sca.Account) error {
	return writeNow(ctx, u, updateSCAAccount, a, customerNotFound(a.Customer))
}

// scaCredentialRow is a row of sca_credentials, which has columns of a passkey also without one.
type scaCredentialRow struct {
	sca.Credential
	passkey wallet.PasskeyKey
}

// scaCredentials is the table sca_credentials.
var scaCredentials = schema.New("sca_credentials", keyOfPlatform, func(c *scaCredentialRow) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &c.Platform}, {Name: "id", Field: &c.ID}, {Name: "customer_id", Field: &c.Customer},
		{Name: "factor", Field: &c.Factor}, sealed.Text(sealed.SCACredentialsTOTPSecret, &c.TOTPSecret),
		{Name: "totp_step", Field: &c.TOTPStep},
		{Name: "recovery_codes", Field: schema.Converted(
			func() []byte {
				joined := []byte{}
				for _, hash := range c.RecoveryCodes {
					joined = append(joined, hash[:]...)
				}
				return joined
			},
			func(joined []byte) error {
				c.RecoveryCodes = nil
				for hash := range slices.Chunk(joined, sha256.Size) {
					c.RecoveryCodes = append(c.RecoveryCodes, person.SecretHash(hash))
				}
				return nil
			})},
		{Name: "passkey_id", Field: schema.Bytes(&c.passkey.CredentialID)}, {Name: "public_key", Field: schema.Bytes(&c.passkey.PublicKey)},
		{Name: "sign_count", Field: &c.passkey.SignCount}, {Name: "transports", Type: "text[]", Field: schema.Array(&c.passkey.Transports)},
		{Name: "backup_eligible", Field: &c.passkey.BackupEligible}, {Name: "backed_up", Field: &c.passkey.BackedUp},
		{Name: "created_at", Field: &c.CreatedAt}, {Name: "last_used_at", Field: &c.LastUsedAt},
	}
})

var saveSCACredential = scaCredentials.Insert(`ON CONFLICT (platform_id, id) DO UPDATE SET
	totp_step = EXCLUDED.totp_step, recovery_codes = EXCLUDED.recovery_codes, sign_count = EXCLUDED.sign_count,
	backed_up = EXCLUDED.backed_up, last_used_at = EXCLUDED.last_used_at`)

// SCACredentials uses sca_credential_one_of_each.
func (db *DB) SCACredentials(ctx context.Context, p ident.Platform, id ident.Customer) ([]sca.Credential, error) {
	return selectSCACredentials(ctx, db, db.read, p, id)
}

// SCACredentials uses sca_credential_one_of_each. The account of the customer is their lock.
func (u *Unit) SCACredentials(ctx context.Context, p ident.Platform, id ident.Customer) ([]sca.Credential, error) {
	return selectSCACredentials(ctx, u.db, u.query, p, id)
}

func selectSCACredentials(ctx context.Context, db *DB, read storage.Reader, p ident.Platform, id ident.Customer) ([]sca.Credential, error) {
	rows, err := selectRows(ctx, db, read, scaCredentials, `WHERE platform_id = $1 AND customer_id = $2 ORDER BY id`, p, id)
	return mapped(rows, func(row scaCredentialRow) sca.Credential {
		if row.Factor == sca.Passkey {
			row.Passkey = &row.passkey
		}
		return row.Credential
	}), translate(err)
}

// SaveSCACredential uses the primary key.
func (u *Unit) SaveSCACredential(ctx context.Context, c sca.Credential) error {
	row := scaCredentialRow{Credential: c}
	if c.Passkey != nil {
		row.passkey = *c.Passkey
	}
	return writeNow(ctx, u, saveSCACredential, row, nil)
}

// DeleteSCACredential uses the primary key.
func (u *Unit) DeleteSCACredential(_ context.Context, p ident.Platform, id ident.SCACredential) error {
	u.queueExec(`DELETE FROM sca_credentials WHERE platform_id = $1 AND id = $2`, p, id)
	return nil
}

// scaChallenges is the table sca_challenges.
var scaChallenges = schema.New("sca_challenges", keyOfPlatform, func(c *sca.Challenge) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &c.Platform}, {Name: "id", Field: &c.ID}, {Name: "customer_id", Field: &c.Customer},
		{Name: "purpose", Field: &c.Purpose}, {Name: "subject", Field: &c.Subject}, {Name: "factor", Field: &c.Factor},
		{Name: "code_hash", Field: &c.CodeHash}, {Name: "passkey_challenge", Field: schema.Bytes(&c.PasskeyChallenge)},
		{Name: "attempts", Field: &c.Attempts}, {Name: "created_at", Field: &c.CreatedAt}, {Name: "expires_at", Field: &c.ExpiresAt},
		{Name: "ended_at", Field: &c.EndedAt},
	}
})

var saveSCAChallenge = scaChallenges.Insert(`ON CONFLICT (platform_id, id) DO UPDATE SET
	code_hash = EXCLUDED.code_hash, attempts = EXCLUDED.attempts, ended_at = EXCLUDED.ended_at`)

// SCACodeHash uses the data key in memory, as encrypted columns do.
func (u *Unit) SCACodeHash(ctx context.Context, text string) (wallet.CodeHash, error) {
	keyed, err := u.db.sealed.Fingerprint(ctx, "sca code "+text)
	return sha256.Sum256([]byte(keyed)), err
}

// LatestSCAChallenge uses sca_challenges_by_customer. The account of the customer is its lock.
func (u *Unit) LatestSCAChallenge(ctx context.Context, p ident.Platform, id ident.Customer, purpose sca.Purpose,
	subject sca.Digest) (sca.Challenge, bool, error) {
	c, found, err := selectRow(ctx, u.db, u.query, scaChallenges,
		`WHERE platform_id = $1 AND customer_id = $2 AND purpose = $3 AND subject = $4 ORDER BY id DESC LIMIT 1`, p, id, purpose, subject[:])
	return c, found, translate(err)
}

// SaveSCAChallenge uses the primary key.
func (u *Unit) SaveSCAChallenge(ctx context.Context, c sca.Challenge) error {
	return writeNow(ctx, u, saveSCAChallenge, c, nil)
}

// scaSessions is the table sca_sessions.
var scaSessions = schema.New("sca_sessions", keyOfPlatform, func(s *sca.Session) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &s.Platform}, {Name: "id", Field: &s.ID}, {Name: "customer_id", Field: &s.Customer},
		{Name: "factor", Field: &s.Factor}, sealed.Text(sealed.SCASessionsIPAddress, &s.IPAddress), {Name: "created_at", Field: &s.CreatedAt},
		{Name: "expires_at", Field: &s.ExpiresAt}, {Name: "ended_at", Field: &s.EndedAt},
	}
})

var insertSCASession = scaSessions.Insert("")

// CreateSCASession inserts one session.
func (u *Unit) CreateSCASession(ctx context.Context, s sca.Session) error {
	return writeNow(ctx, u, insertSCASession, s, nil)
}

// activeSCASession finds one session of a customer ($1, $2) that counts at a time ($3). It uses sca_sessions_by_customer.
const activeSCASession = `WHERE platform_id = $1 AND customer_id = $2 AND expires_at > $3 AND ended_at IS NULL ORDER BY expires_at DESC LIMIT 1`

// SCASession returns the session of a customer that lasts longest, or SCA_SESSION_REQUIRED.
func (db *DB) SCASession(ctx context.Context, p ident.Platform, id ident.Customer, now time.Time) (sca.Session, error) {
	return selectExisting(ctx, db, db.read, scaSessions, sca.ErrSessionRequired, activeSCASession, p, id, now)
}

// SCASession is that of DB.
func (u *Unit) SCASession(ctx context.Context, p ident.Platform, id ident.Customer, now time.Time) (sca.Session, error) {
	s, err := selectExisting(ctx, u.db, u.query, scaSessions, sca.ErrSessionRequired, activeSCASession, p, id, now)
	return s, translate(err)
}

// EndSCASessions uses sca_sessions_by_customer and sca_challenges_by_customer.
func (u *Unit) EndSCASessions(_ context.Context, p ident.Platform, id ident.Customer, opened sca.Factor, now time.Time) error {
	u.queueExec(`UPDATE sca_sessions SET ended_at = $4 WHERE platform_id = $1 AND customer_id = $2 AND ($3 = '' OR factor = $3)
		AND expires_at > $4 AND ended_at IS NULL`, p, id, opened, now)
	u.queueExec(`UPDATE sca_challenges SET ended_at = $4 WHERE platform_id = $1 AND customer_id = $2 AND ($3 = '' OR factor = $3)
		AND expires_at > $4 AND ended_at IS NULL`, p, id, opened, now)
	return nil
}

// scaResets is the table sca_resets.
var scaResets = schema.New("sca_resets", keyOfPlatform, func(r *sca.Reset) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &r.Platform}, {Name: "id", Field: &r.ID}, {Name: "customer_id", Field: &r.Customer},
		{Name: "factor", Field: &r.Factor}, {Name: "status", Field: &r.Status}, {Name: "created_at", Field: &r.CreatedAt},
		{Name: "updated_at", Field: &r.UpdatedAt}, {Name: "expires_at", Field: &r.ExpiresAt}, {Name: "completed_at", Field: &r.CompletedAt},
	}
})

var saveSCAReset = scaResets.Insert(`ON CONFLICT (platform_id, id) DO UPDATE SET status = EXCLUDED.status,
	updated_at = EXCLUDED.updated_at, completed_at = EXCLUDED.completed_at`)

// SCAResets returns the latest resets of a customer, the newest first. It uses sca_resets_by_customer.
func (u *Unit) SCAResets(ctx context.Context, p ident.Platform, id ident.Customer) ([]sca.Reset, error) {
	found, err := selectRows(ctx, u.db, u.query, scaResets, `WHERE platform_id = $1 AND customer_id = $2 ORDER BY id DESC LIMIT $3`, p, id,
		sca.MaxResets)
	return found, translate(err)
}

// SCAReset uses the primary key.
func (db *DB) SCAReset(ctx context.Context, p ident.Platform, id ident.SCAReset) (sca.Reset, error) {
	return selectExisting(ctx, db, db.read, scaResets, sca.ErrNoReset, `WHERE platform_id = $1 AND id = $2`, p, id)
}

// OpenSCAResets uses sca_resets_open.
func (db *DB) OpenSCAResets(ctx context.Context, p ident.Platform, now time.Time) ([]sca.Reset, error) {
	return selectRows(ctx, db, db.read, scaResets, `WHERE platform_id = $1 AND expires_at > $2 AND status IN ('INITIATED', 'PENDING_REVIEW')
		ORDER BY expires_at, id LIMIT 1000`, p, now)
}

// LockSCAReset uses the primary key.
func (u *Unit) LockSCAReset(ctx context.Context, p ident.Platform, id ident.SCAReset) (sca.Reset, error) {
	r, err := selectExisting(ctx, u.db, u.query, scaResets, sca.ErrNoReset, `WHERE platform_id = $1 AND id = $2 FOR UPDATE`, p, id)
	return r, translate(err)
}

// SaveSCAReset uses the primary key.
func (u *Unit) SaveSCAReset(ctx context.Context, r sca.Reset) error {
	return writeNow(ctx, u, saveSCAReset, r, nil)
}
