package postgres

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/proposal"
)

// people is the table people.
var people = schema.New("people", []string{"id"}, func(p *person.Person) schema.Columns {
	return schema.Columns{
		{Name: "id", Field: &p.ID}, {Name: "email", Field: &p.Email}, {Name: "name", Field: &p.Name},
		{Name: "roles", Type: "text[]", Field: schema.Converted(
			func() []string { return mapped(p.Grants, person.Grant.String) },
			func(texts []string) error {
				p.Grants = make([]person.Grant, len(texts))
				for i, text := range texts {
					var err error
					if p.Grants[i], err = person.ParseGrant(text); err != nil {
						return err
					}
				}
				return nil
			})},
		{Name: "status", Field: &p.Status}, {Name: "created_at", Field: &p.CreatedAt}, {Name: "updated_at", Field: &p.UpdatedAt},
		{Name: "time_zone", Field: &p.TimeZone},
	}
})

var (
	insertPerson = people.Insert("ON CONFLICT (email) DO NOTHING")
	updatePerson = people.Update("name", "roles", "status", "updated_at", "time_zone")
)

// People implements people.Store. It reads the whole table.
func (db *DB) People(ctx context.Context) ([]person.Person, error) {
	return selectRows(ctx, db, db.read, people, `ORDER BY email`)
}

// LockPeopleOf uses the primary key of tokens, and reads the whole table of people. Those are not locked: a platform may only read
// them, and a role that is taken away holds from the next request on.
func (u *Unit) LockPeopleOf(ctx context.Context, p ident.Platform) (proposal.People, error) {
	tokens, err := u.LockTokens(ctx, p)
	if err != nil {
		return proposal.People{}, err
	}
	found, err := lockPeople(ctx, u.db, u.query, p)
	found.Tokens = tokens
	return found, err
}

func lockPeople(ctx context.Context, db *DB, read storage.Reader, p ident.Platform) (found proposal.People, err error) {
	if found.People, err = selectRows(ctx, db, read, people, `ORDER BY id`); err != nil {
		return found, err
	}
	// The environment of a platform never changes.
	environments, err := queryValues[platform.Environment](ctx, read, `SELECT environment FROM platforms WHERE id = $1`, p)
	found.IsSandbox = len(environments) == 1 && environments[0] == platform.Sandbox
	return found, err
}

// PersonByEmail uses person_email_unique.
func (db *DB) PersonByEmail(ctx context.Context, email string) (person.Person, error) {
	return personByEmail(ctx, db, db.read, email, "")
}

func personByEmail(ctx context.Context, db *DB, read storage.Reader, email, lock string) (person.Person, error) {
	return selectExisting(ctx, db, read, people, person.NotFound(email), `WHERE email = $1 `+lock, email)
}

// CreatePerson implements people.Tx.
func (u *Unit) CreatePerson(ctx context.Context, p person.Person) error {
	return writeNow(ctx, u, insertPerson, p, person.Exists(p.Email))
}

// LockPerson uses the primary key.
func (u *Unit) LockPerson(ctx context.Context, id ident.Person) (person.Person, error) {
	return selectExisting(ctx, u.db, u.query, people, person.NotFound(id.String()), `WHERE id = $1 FOR UPDATE`, id)
}

// LockPeopleWithRolesOn reads the whole table.
func (u *Unit) LockPeopleWithRolesOn(ctx context.Context, p ident.Platform) ([]person.Person, error) {
	return selectRows(ctx, u.db, u.query, people,
		`WHERE EXISTS (SELECT FROM unnest(roles) AS r(text) WHERE split_part(text, '@', 2) = $1) ORDER BY id FOR UPDATE`, p.String())
}

// LockPersonByEmail uses person_email_unique.
func (u *Unit) LockPersonByEmail(ctx context.Context, email string) (person.Person, error) {
	return personByEmail(ctx, u.db, u.query, email, "FOR UPDATE")
}

// UpdatePerson uses the primary key. If the person is disabled, the unit of work ends when no process uses their tokens any more.
func (u *Unit) UpdatePerson(ctx context.Context, p person.Person) error {
	u.revokes = u.revokes || p.Status == person.Disabled
	return writeNow(ctx, u, updatePerson, p, person.NotFound(p.Email))
}

// personFactors is the table person_factors. People belong to no platform.
var personFactors = schema.New("person_factors", keyOfPlatform, func(f *person.Factors) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: new(uuid.UUID)}, {Name: "id", Field: &f.Person},
		sealed.JSON(sealed.PersonFactorsSecrets,
			func() factorSecrets { return factorSecrets{f.PasswordHash, f.TOTPSecret, f.RecoveryCodes} },
			func(s factorSecrets) { f.PasswordHash, f.TOTPSecret, f.RecoveryCodes = s.Password, s.TOTP, s.Recovery }),
		{Name: "totp_step", Field: &f.TOTPStep}, {Name: "updated_at", Field: &f.UpdatedAt},
		{Name: "wrong_codes", Field: &f.WrongCodes}, {Name: "wrong_since", Field: &f.WrongSince},
	}
})

// factorSecrets is the column secrets.
type factorSecrets struct {
	Password string   `json:"password"` // its hash
	TOTP     string   `json:"totp"`
	Recovery []string `json:"recovery"`
}

var saveFactors = personFactors.Insert(
	`ON CONFLICT (platform_id, id) DO UPDATE SET secrets = EXCLUDED.secrets, totp_step = EXCLUDED.totp_step, updated_at = EXCLUDED.updated_at,
		wrong_codes = EXCLUDED.wrong_codes, wrong_since = EXCLUDED.wrong_since`)

// FactorsOf uses the primary key.
func (db *DB) FactorsOf(ctx context.Context, id ident.Person) (person.Factors, error) {
	return factorsOf(ctx, db, db.read, id, "")
}

func factorsOf(ctx context.Context, db *DB, read storage.Reader, id ident.Person, lock string) (person.Factors, error) {
	found, _, err := selectRow(ctx, db, read, personFactors, `WHERE platform_id = $1 AND id = $2 `+lock, uuid.Nil, id.UUID())
	found.Person = id
	return found, err
}

// LockFactors uses the primary key. Those of a person who has none yet are guarded by the lock of the person.
func (u *Unit) LockFactors(ctx context.Context, id ident.Person) (person.Factors, error) {
	return factorsOf(ctx, u.db, u.query, id, "FOR UPDATE")
}

// SaveFactors uses the primary key.
func (u *Unit) SaveFactors(ctx context.Context, f person.Factors) error {
	return writeNow(ctx, u, saveFactors, f, nil)
}

// DeleteFactors uses the primary key and the indexes by person.
func (u *Unit) DeleteFactors(_ context.Context, id ident.Person) error {
	u.queueExec(`DELETE FROM person_factors WHERE platform_id = $1 AND id = $2`, uuid.Nil, id)
	u.queueExec(`DELETE FROM person_passkeys WHERE person_id = $1`, id)
	u.queueExec(`DELETE FROM person_identities WHERE person_id = $1`, id)
	u.queueExec(`DELETE FROM sign_in_challenges WHERE person_id = $1`, id)
	u.queueExec(`DELETE FROM person_links WHERE person_id = $1 AND opened_at IS NULL`, id)
	return nil
}

// personLinks is the table person_links.
var personLinks = schema.New("person_links", []string{"token_hash"}, func(l *person.Link) schema.Columns {
	return schema.Columns{
		{Name: "token_hash", Field: &l.TokenHash}, {Name: "person_id", Field: &l.Person}, {Name: "signs_in", Field: &l.SignsIn},
		{Name: "created_at", Field: &l.CreatedAt}, {Name: "expires_at", Field: &l.ExpiresAt}, {Name: "opened_at", Field: &l.OpenedAt},
	}
})

var (
	insertPersonLink = personLinks.Insert("")
	updatePersonLink = personLinks.Update("opened_at")
)

// CreatePersonLink inserts one link.
func (u *Unit) CreatePersonLink(ctx context.Context, l person.Link) error {
	return writeNow(ctx, u, insertPersonLink, l, nil)
}

// withPerson returns the row of a secret with its person. It uses the primary keys.
func withPerson[T any](ctx context.Context, db *DB, t *schema.Table[T], none error, secret person.SecretHash,
	of func(T) ident.Person) (row T, p person.Person, err error) {
	if row, err = selectExisting(ctx, db, db.read, t, none, `WHERE token_hash = $1`, secret[:]); err == nil {
		p, err = selectExisting(ctx, db, db.read, people, none, `WHERE id = $1`, of(row))
	}
	return row, p, err
}

// LinkedPerson uses the primary keys.
func (db *DB) LinkedPerson(ctx context.Context, token person.SecretHash) (person.Link, person.Person, error) {
	return withPerson(ctx, db, personLinks, person.ErrLink, token, func(l person.Link) ident.Person { return l.Person })
}

// LockPersonLink uses the primary key.
func (u *Unit) LockPersonLink(ctx context.Context, token person.SecretHash) (person.Link, error) {
	return selectExisting(ctx, u.db, u.query, personLinks, person.ErrLink, `WHERE token_hash = $1 FOR UPDATE`, token[:])
}

// UpdatePersonLink uses the primary key.
func (u *Unit) UpdatePersonLink(ctx context.Context, l person.Link) error {
	return writeNow(ctx, u, updatePersonLink, l, person.ErrLink)
}

// personSessions is the table person_sessions.
var personSessions = schema.New("person_sessions", []string{"token_hash"}, func(s *person.Session) schema.Columns {
	return schema.Columns{
		{Name: "token_hash", Field: &s.TokenHash}, {Name: "person_id", Field: &s.Person}, {Name: "setup", Field: &s.Setup},
		{Name: "command_line", Field: &s.CommandLine}, {Name: "single_sign_on", Field: &s.SingleSignOn}, {Name: "device", Field: &s.Device},
		{Name: "confirmed_action", Field: &s.ConfirmedAction}, {Name: "confirmed_until", Field: &s.ConfirmedUntil},
		{Name: "created_at", Field: &s.CreatedAt}, {Name: "last_used_at", Field: &s.LastUsedAt}, {Name: "expires_at", Field: &s.ExpiresAt},
	}
})

var (
	insertPersonSession = personSessions.Insert("")
	updatePersonSession = personSessions.Update("last_used_at")
	confirmSession      = personSessions.Update("confirmed_action", "confirmed_until")
	nameSessionDevice   = personSessions.Update("device")
)

// CreatePersonSession inserts one session.
func (u *Unit) CreatePersonSession(ctx context.Context, s person.Session) error {
	return writeNow(ctx, u, insertPersonSession, s, nil)
}

// SessionWithPerson uses the primary keys.
func (db *DB) SessionWithPerson(ctx context.Context, secret person.SecretHash) (person.Session, person.Person, error) {
	return withPerson(ctx, db, personSessions, person.ErrNoSession, secret, func(s person.Session) ident.Person { return s.Person })
}

// LockPersonSession uses the primary key.
func (u *Unit) LockPersonSession(ctx context.Context, secret person.SecretHash) (person.Session, error) {
	return selectExisting(ctx, u.db, u.query, personSessions, person.ErrNoSession, `WHERE token_hash = $1 FOR UPDATE`, secret[:])
}

// UpdatePersonSession uses the primary key. A session that has ended meanwhile is no error.
func (u *Unit) UpdatePersonSession(ctx context.Context, s person.Session) error {
	return write(ctx, u, updatePersonSession, s)
}

// ConfirmPersonSession uses the primary key.
func (u *Unit) ConfirmPersonSession(ctx context.Context, s person.Session) error {
	return writeNow(ctx, u, confirmSession, s, person.ErrNoSession)
}

// NamePersonSessionDevice uses the primary key. A session that has ended meanwhile is no error.
func (u *Unit) NamePersonSessionDevice(ctx context.Context, s person.Session) error {
	return write(ctx, u, nameSessionDevice, s)
}

// signInRequests is the table sign_in_requests.
var signInRequests = schema.New("sign_in_requests", []string{"code"}, func(r *person.SignInRequest) schema.Columns {
	return schema.Columns{
		{Name: "code", Field: &r.Code}, {Name: "token_hash", Field: &r.SecretHash}, {Name: "requested_from", Field: &r.From},
		{Name: "created_at", Field: &r.CreatedAt}, {Name: "expires_at", Field: &r.ExpiresAt},
	}
})

var insertSignInRequest = signInRequests.Insert("")

// CreateSignInRequest inserts one request.
func (u *Unit) CreateSignInRequest(ctx context.Context, r person.SignInRequest) error {
	return writeNow(ctx, u, insertSignInRequest, r, nil)
}

// SignInRequest uses the primary key.
func (db *DB) SignInRequest(ctx context.Context, code string) (person.SignInRequest, error) {
	return selectExisting(ctx, db, db.read, signInRequests, person.ErrSignInRequest, `WHERE code = $1`, code)
}

// LockSignInRequest uses the primary key.
func (u *Unit) LockSignInRequest(ctx context.Context, code string) (person.SignInRequest, error) {
	return selectExisting(ctx, u.db, u.query, signInRequests, person.ErrSignInRequest, `WHERE code = $1 FOR UPDATE`, code)
}

// DeleteSignInRequest uses the primary key.
func (u *Unit) DeleteSignInRequest(_ context.Context, code string) error {
	u.queueExec(`DELETE FROM sign_in_requests WHERE code = $1`, code)
	return nil
}

// PeopleInProduction reads both tables until it finds one.
func (db *DB) PeopleInProduction(ctx context.Context) (isProduction, canSignIn bool, err error) {
	const query = `SELECT EXISTS (SELECT FROM platforms WHERE environment = 'PRODUCTION'), EXISTS (SELECT FROM people WHERE status = 'ACTIVE')`
	err = db.read(ctx, query, nil, func(rows pgx.Rows) error { return rows.Scan(&isProduction, &canSignIn) })
	return isProduction, canSignIn, err
}

// DeletePersonSession uses the primary key.
func (u *Unit) DeletePersonSession(_ context.Context, secret person.SecretHash) error {
	u.queueExec(`DELETE FROM person_sessions WHERE token_hash = $1`, secret[:])
	return nil
}

// DeletePersonSessions uses person_sessions_by_person.
func (u *Unit) DeletePersonSessions(_ context.Context, id ident.Person) error {
	u.queueExec(`DELETE FROM person_sessions WHERE person_id = $1`, id)
	return nil
}

// DeleteOtherPersonSessions uses person_sessions_by_person.
func (u *Unit) DeleteOtherPersonSessions(_ context.Context, id ident.Person, kept person.SecretHash) error {
	u.queueExec(`DELETE FROM person_sessions WHERE person_id = $1 AND token_hash <> $2`, id, kept[:])
	return nil
}
