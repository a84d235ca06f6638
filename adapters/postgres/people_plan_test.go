package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"causeway/adapters/pgembed/pgtest"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/ports"
)

// fillPeople writes many people, with factors, links, sessions and attempts.
const fillPeople = `
SET session_replication_role = replica;
INSERT INTO people SELECT gen_random_uuid(), n || '@example.com', 'Ana', '{VIEWER}', 'ACTIVE', now(), now() FROM generate_series(1, 5000) n;
INSERT INTO person_factors SELECT '00000000-0000-0000-0000-000000000000', id, '{}', 0, now() FROM people;
INSERT INTO person_links SELECT sha256(uuid_send(gen_random_uuid())), id, false, now(), now() - random() * interval '90 days', NULL FROM people;
INSERT INTO person_sessions SELECT token_hash, person_id, false, created_at, created_at, expires_at FROM person_links;
INSERT INTO person_passkeys SELECT token_hash, person_id, 'k', 'k', 0, false, now() FROM person_links;
INSERT INTO person_identities SELECT 'i', token_hash::text, person_id FROM person_links;
INSERT INTO sign_in_challenges SELECT token_hash, 'PASSKEY_SIGN_IN', person_id, token_hash, '', created_at, expires_at FROM person_links;
INSERT INTO sign_in_attempts SELECT token_hash, 1, expires_at FROM person_links;
ANALYZE;`

func TestPeoplePlans_FoundByIndexes(t *testing.T) {
	t.Parallel()
	// Among many people, each is found by its id or address, and what belongs to it by a hash or its id, also under row-level
	// security. Only the list of everybody reads the whole table.
	plans := newPlanEnv(t)
	url := plans.conn.Config().ConnString()
	pgtest.ExecAsSuperuser(t, url, fillPeople)
	db, trace := newTracedEnv(t, url)
	plans.becomeService()
	var id ident.Person
	id.SetUUID([16]byte{1})
	hash := person.SecretHash{1}
	p, err := person.New(id, "ana@example.com", "Ana", []person.Grant{{Role: person.Viewer}}, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		conditions []string // of the statements
		run        func(context.Context, *Unit) error
	}{
		"PersonByEmail": {[]string{"(email = $1)"}, func(ctx context.Context, _ *Unit) error {
			_, err := db.PersonByEmail(ctx, "a")
			return err
		}},
		"LockPersonByEmail": {[]string{"(email = $1)"}, func(ctx context.Context, tx *Unit) error {
			_, err := tx.LockPersonByEmail(ctx, "a")
			return err
		}},
		"LockPerson": {[]string{"(id = $1)"}, func(ctx context.Context, tx *Unit) error {
			_, err := tx.LockPerson(ctx, id)
			return err
		}},
		"UpdatePerson": {[]string{"(id = $"}, func(ctx context.Context, tx *Unit) error { return tx.UpdatePerson(ctx, p) }},
		"FactorsOf": {[]string{"(platform_id = $1) AND (id = $2)"}, func(ctx context.Context, _ *Unit) error {
			_, err := db.FactorsOf(ctx, id)
			return errors.Join(err, person.NotFound(""))
		}},
		"LockFactors": {[]string{"(platform_id = $1) AND (id = $2)"}, func(ctx context.Context, tx *Unit) error {
			_, err := tx.LockFactors(ctx, id)
			return errors.Join(err, person.NotFound(""))
		}},
		"DeleteFactors": {[]string{"(platform_id = $1) AND (id = $2)", "(person_id = $1)", "(person_id = $1)", "(person_id = $1)",
			"(person_id = $1)"}, func(ctx context.Context, tx *Unit) error {
			return errors.Join(tx.DeleteFactors(ctx, id), tx.flush(ctx), person.NotFound(""))
		}},
		"LinkedPerson": {[]string{"(token_hash = $1)"}, func(ctx context.Context, _ *Unit) error {
			_, _, err := db.LinkedPerson(ctx, hash)
			return err
		}},
		"LockPersonLink": {[]string{"(token_hash = $1)"}, func(ctx context.Context, tx *Unit) error {
			_, err := tx.LockPersonLink(ctx, hash)
			return err
		}},
		"SessionWithPerson": {[]string{"(token_hash = $1)"}, func(ctx context.Context, _ *Unit) error {
			_, _, err := db.SessionWithPerson(ctx, hash)
			return err
		}},
		"LockPersonSession": {[]string{"(token_hash = $1)"}, func(ctx context.Context, tx *Unit) error {
			_, err := tx.LockPersonSession(ctx, hash)
			return err
		}},
		"UpdatePersonSession": {[]string{"(token_hash = $"}, func(ctx context.Context, tx *Unit) error {
			return errors.Join(tx.UpdatePersonSession(ctx, person.Session{}), tx.flush(ctx), person.NotFound(""))
		}},
		"DeletePersonSession": {[]string{"(token_hash = $1)"}, func(ctx context.Context, tx *Unit) error {
			return errors.Join(tx.DeletePersonSession(ctx, hash), tx.flush(ctx), person.NotFound(""))
		}},
		"DeletePersonSessions": {[]string{"(person_id = $1)"}, func(ctx context.Context, tx *Unit) error {
			return errors.Join(tx.DeletePersonSessions(ctx, id), tx.flush(ctx), person.NotFound(""))
		}},
		"DeleteOtherPersonSessions": {[]string{"(person_id = $1)"}, func(ctx context.Context, tx *Unit) error {
			return errors.Join(tx.DeleteOtherPersonSessions(ctx, id, hash), tx.flush(ctx), person.NotFound(""))
		}},
		"NamePersonSessionDevice": {[]string{"(token_hash = $"}, func(ctx context.Context, tx *Unit) error {
			return errors.Join(tx.NamePersonSessionDevice(ctx, person.Session{}), tx.flush(ctx), person.NotFound(""))
		}},
		"SessionsOf": {[]string{"(person_id = $1)"}, func(ctx context.Context, _ *Unit) error {
			_, err := db.SessionsOf(ctx, id)
			return errors.Join(err, person.NotFound(""))
		}},
		"PersonByIdentity": {[]string{"(id = "}, func(ctx context.Context, _ *Unit) error {
			_, err := db.PersonByIdentity(ctx, person.Identity{Issuer: "i", Subject: "s"})
			return err
		}},
		"IdentityOf": {[]string{"(person_id = $1)"}, func(ctx context.Context, _ *Unit) error {
			_, err := db.IdentityOf(ctx, id)
			return errors.Join(err, person.NotFound(""))
		}},
		"LockIdentityOf": {[]string{"(person_id = $1)"}, func(ctx context.Context, tx *Unit) error {
			_, err := tx.LockIdentityOf(ctx, id)
			return errors.Join(err, person.NotFound(""))
		}},
		"PasskeysOf": {[]string{"(person_id = $1)"}, func(ctx context.Context, _ *Unit) error {
			_, err := db.PasskeysOf(ctx, id)
			return errors.Join(err, person.NotFound(""))
		}},
		"LockPasskey": {[]string{"(credential_id = $1)"}, func(ctx context.Context, tx *Unit) error {
			_, err := tx.LockPasskey(ctx, hash[:])
			return err
		}},
		"UpdatePasskey": {[]string{"(credential_id = $"}, func(ctx context.Context, tx *Unit) error {
			return tx.UpdatePasskey(ctx, person.Passkey{ID: hash[:]})
		}},
		"LockChallenge": {[]string{"(challenge_hash = $1)"}, func(ctx context.Context, tx *Unit) error {
			_, err := tx.LockChallenge(ctx, hash)
			return err
		}},
		"SaveSignInAttempts": {[]string{"(address_hash = $"}, func(ctx context.Context, tx *Unit) error {
			return errors.Join(tx.SaveSignInAttempts(ctx, hash, person.Attempts{}), tx.flush(ctx), person.NotFound(""))
		}},
	} {
		trace.statements = nil
		if err := db.Do(ports.ForAllPlatforms(t.Context()), c.run); err == nil {
			t.Errorf("%s committed", name)
		}
		if len(trace.statements) != len(c.conditions) {
			t.Fatalf("%s: %d statements", name, len(trace.statements))
		}
		for i, s := range trace.statements {
			wantIndexCondition(t, plans, fmt.Sprintf(`"%s %d"`, name, i), s.SQL, c.conditions[i])
		}
	}
	for _, old := range OldSignIns(time.Now(), time.Now()) {
		column := "expires_at"
		if old.Table == "sign_in_attempts" {
			column = "last_at"
		}
		wantIndexCondition(t, plans, `"old `+old.Table+`"`, old.Delete, "("+column+" < $1)")
	}
}

// wantIndexCondition checks that a statement finds its rows by an index with a condition.
func wantIndexCondition(t *testing.T, plans planEnv, name, statement, condition string) {
	t.Helper()
	plan := strings.Join(plans.explain(name, statement, countArguments(statement)), "\n")
	found := false
	for line := range strings.SplitSeq(plan, "\n") {
		found = found || strings.Contains(line, "Index Cond: ") && strings.Contains(line, condition)
	}
	if !found || strings.Contains(plan, "Seq Scan on") {
		t.Errorf("%s: %s\n%s", name, statement, plan)
	}
}
