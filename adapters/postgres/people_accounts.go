package postgres

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
)

// SessionsOf uses person_sessions_by_person.
func (db *DB) SessionsOf(ctx context.Context, id ident.Person) ([]person.Session, error) {
	return selectRows(ctx, db, db.read, personSessions, `WHERE person_id = $1 ORDER BY last_used_at DESC, token_hash`, id)
}

// PeopleSessions reads the whole table, from which those that have expired are deleted.
func (db *DB) PeopleSessions(ctx context.Context) ([]person.Session, error) {
	return selectRows(ctx, db, db.read, personSessions, `ORDER BY last_used_at DESC, token_hash`)
}

// PeopleFactors reads the whole table.
func (db *DB) PeopleFactors(ctx context.Context) ([]person.Factors, error) {
	return selectRows(ctx, db, db.read, personFactors, `WHERE platform_id = $1`, uuid.Nil)
}

// selectAccounts finds the last sign-in of each person with operator_actions_by_subject: ids of actions are in the order of time.
const selectAccounts = `SELECT p.id, (SELECT count(*) FROM person_passkeys k WHERE k.person_id = p.id),
	EXISTS (SELECT FROM person_identities i WHERE i.person_id = p.id),
	(SELECT a.at FROM operator_actions a WHERE a.platform_id = $1 AND a.subject_id = p.id AND a.action = ANY($2) ORDER BY a.id DESC LIMIT 1)
	FROM people p`

// PeopleSignIns reads the whole table of people, and what belongs to each by indexes.
func (db *DB) PeopleSignIns(ctx context.Context) (map[ident.Person]person.Account, error) {
	found := map[ident.Person]person.Account{}
	begins := []string{string(platform.PersonSetUp), string(platform.PersonSignedIn)}
	err := db.read(ctx, selectAccounts, []any{uuid.Nil, begins}, func(rows pgx.Rows) error {
		var id ident.Person
		var a person.Account
		err := rows.Scan(&id, &a.Passkeys, &a.HasProvider, schema.Optional(&a.LastSignIn))
		found[id] = a
		return err
	})
	return found, err
}
