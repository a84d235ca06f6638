package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/core/person"
)

// personPasskeys is the table person_passkeys.
var personPasskeys = schema.New("person_passkeys", []string{"credential_id"}, func(k *person.Passkey) schema.Columns {
	return schema.Columns{
		{Name: "credential_id", Field: &k.ID}, {Name: "person_id", Field: &k.Person}, {Name: "name", Field: &k.Name},
		{Name: "public_key", Field: &k.PublicKey}, {Name: "sign_count", Field: &k.SignCount},
		{Name: "backup_eligible", Field: &k.BackupEligible}, {Name: "created_at", Field: &k.CreatedAt},
		{Name: "last_used_at", Field: &k.LastUsedAt}, {Name: "stopped_at", Field: &k.StoppedAt},
	}
})

var (
	insertPasskey = personPasskeys.Insert("ON CONFLICT (credential_id) DO NOTHING")
	updatePasskey = personPasskeys.Update("sign_count", "last_used_at", "stopped_at")
)

// PasskeysOf uses person_passkeys_by_person.
func (db *DB) PasskeysOf(ctx context.Context, id ident.Person) ([]person.Passkey, error) {
	return passkeysOf(ctx, db, db.read, id, "")
}

func passkeysOf(ctx context.Context, db *DB, read storage.Reader, id ident.Person, lock string) ([]person.Passkey, error) {
	return selectRows(ctx, db, read, personPasskeys, `WHERE person_id = $1 ORDER BY created_at, credential_id `+lock, id)
}

// LockPasskeysOf uses person_passkeys_by_person. The lock of the person guards the number of them.
func (u *Unit) LockPasskeysOf(ctx context.Context, id ident.Person) ([]person.Passkey, error) {
	return passkeysOf(ctx, u.db, u.query, id, "FOR UPDATE")
}

// Passkey uses the primary key.
func (db *DB) Passkey(ctx context.Context, id []byte) (person.Passkey, error) {
	return selectExisting(ctx, db, db.read, personPasskeys, person.ErrPasskey, `WHERE credential_id = $1`, id)
}

// LockPasskey uses the primary key.
func (u *Unit) LockPasskey(ctx context.Context, id []byte) (person.Passkey, error) {
	return selectExisting(ctx, u.db, u.query, personPasskeys, person.ErrPasskey, `WHERE credential_id = $1 FOR UPDATE`, id)
}

// CreatePasskey inserts one passkey.
func (u *Unit) CreatePasskey(ctx context.Context, k person.Passkey) error {
	return writeNow(ctx, u, insertPasskey, k, person.ErrPasskey)
}

// UpdatePasskey uses the primary key.
func (u *Unit) UpdatePasskey(ctx context.Context, k person.Passkey) error {
	return writeNow(ctx, u, updatePasskey, k, person.ErrPasskey)
}

// DeletePasskey uses the primary key.
func (u *Unit) DeletePasskey(_ context.Context, id []byte) error {
	u.queueExec(`DELETE FROM person_passkeys WHERE credential_id = $1`, id)
	return nil
}

// identityRow is a row of person_identities.
type identityRow struct {
	person.Identity
	person ident.Person
}

// personIdentities is the table person_identities.
var personIdentities = schema.New("person_identities", []string{"issuer", "subject"}, func(r *identityRow) schema.Columns {
	return schema.Columns{{Name: "issuer", Field: &r.Issuer}, {Name: "subject", Field: &r.Subject}, {Name: "person_id", Field: &r.person}}
})

var insertIdentity = personIdentities.Insert("ON CONFLICT DO NOTHING")

// PersonByIdentity uses the primary keys.
func (db *DB) PersonByIdentity(ctx context.Context, i person.Identity) (person.Person, error) {
	return selectExisting(ctx, db, db.read, people, person.NotFound(i.Subject),
		`WHERE id = (SELECT person_id FROM person_identities WHERE issuer = $1 AND subject = $2)`, i.Issuer, i.Subject)
}

// IdentityOf uses person_identity_person_unique.
func (db *DB) IdentityOf(ctx context.Context, id ident.Person) (person.Identity, error) {
	return identityOf(ctx, db, db.read, id)
}

func identityOf(ctx context.Context, db *DB, read storage.Reader, id ident.Person) (person.Identity, error) {
	found, _, err := selectRow(ctx, db, read, personIdentities, `WHERE person_id = $1`, id)
	return found.Identity, err
}

// LockIdentityOf uses person_identity_person_unique. The lock of the person guards its identity.
func (u *Unit) LockIdentityOf(ctx context.Context, id ident.Person) (person.Identity, error) {
	return identityOf(ctx, u.db, u.query, id)
}

// CreateIdentity inserts one identity.
func (u *Unit) CreateIdentity(ctx context.Context, i person.Identity, of ident.Person) error {
	return writeNow(ctx, u, insertIdentity, identityRow{i, of}, person.ErrProvider)
}

// challenges is the table sign_in_challenges.
var challenges = schema.New("sign_in_challenges", []string{"challenge_hash"}, func(c *person.Challenge) schema.Columns {
	return schema.Columns{
		{Name: "challenge_hash", Field: &c.Hash}, {Name: "purpose", Field: &c.Purpose}, {Name: "person_id", Field: &c.Person},
		{Name: "holder_hash", Field: &c.Holder}, {Name: "action", Field: &c.Action}, {Name: "created_at", Field: &c.CreatedAt},
		{Name: "expires_at", Field: &c.ExpiresAt},
	}
})

var insertChallenge = challenges.Insert("")

// CreateChallenge inserts one challenge.
func (u *Unit) CreateChallenge(ctx context.Context, c person.Challenge) error {
	return writeNow(ctx, u, insertChallenge, c, nil)
}

// LockChallenge uses the primary key.
func (u *Unit) LockChallenge(ctx context.Context, hash person.SecretHash) (person.Challenge, error) {
	return selectExisting(ctx, u.db, u.query, challenges, person.ErrChallenge, `WHERE challenge_hash = $1 FOR UPDATE`, hash[:])
}

// DeleteChallenge uses the primary key.
func (u *Unit) DeleteChallenge(_ context.Context, hash person.SecretHash) error {
	u.queueExec(`DELETE FROM sign_in_challenges WHERE challenge_hash = $1`, hash[:])
	return nil
}

// lockSignInAttempts makes or locks the row in one statement: one that is old may be deleted at any time.
const lockSignInAttempts = `INSERT INTO sign_in_attempts AS a (address_hash, failed) VALUES ($1, 0)
	ON CONFLICT (address_hash) DO UPDATE SET failed = a.failed RETURNING failed, last_at`

// LockSignInAttempts uses the primary key.
func (u *Unit) LockSignInAttempts(ctx context.Context, address person.SecretHash) (a person.Attempts, err error) {
	err = u.query(ctx, lockSignInAttempts, []any{address[:]}, func(rows pgx.Rows) error {
		return rows.Scan(&a.Failed, schema.Optional(&a.LastAt))
	})
	return a, err
}

// signInAttemptRow is a row of sign_in_attempts.
type signInAttemptRow struct {
	person.Attempts
	address person.SecretHash
}

// signInAttempts is the table sign_in_attempts.
var signInAttempts = schema.New("sign_in_attempts", []string{"address_hash"}, func(r *signInAttemptRow) schema.Columns {
	return schema.Columns{{Name: "address_hash", Field: &r.address}, {Name: "failed", Field: &r.Failed}, {Name: "last_at", Field: &r.LastAt}}
})

var updateSignInAttempts = signInAttempts.Update("failed", "last_at")

// SaveSignInAttempts uses the primary key.
func (u *Unit) SaveSignInAttempts(ctx context.Context, address person.SecretHash, a person.Attempts) error {
	return write(ctx, u, updateSignInAttempts, signInAttemptRow{a, address})
}

// OldSignIns returns the links, sessions, requests and challenges that ended before a time, and the attempts to sign in that were the
// last before another.
func OldSignIns(ended, attempts time.Time) []storage.OldRows {
	rows := func(table, key, at string, before time.Time) storage.OldRows {
		return storage.OldRows{Table: table, Before: before, Delete: fmt.Sprintf(
			`DELETE FROM %[1]s WHERE %[2]s IN (SELECT %[2]s FROM %[1]s WHERE %[3]s < $1 ORDER BY %[3]s LIMIT $2 FOR UPDATE SKIP LOCKED)`,
			table, key, at)}
	}
	return []storage.OldRows{
		rows("person_links", "token_hash", "expires_at", ended),
		rows("person_sessions", "token_hash", "expires_at", ended),
		rows("sign_in_requests", "code", "expires_at", ended),
		rows("sign_in_challenges", "challenge_hash", "expires_at", ended),
		rows("sign_in_attempts", "address_hash", "last_at", attempts),
	}
}
