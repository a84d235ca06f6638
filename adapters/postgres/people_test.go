package postgres_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/ports"
	"causeway/ports/portstest"
)

func newPerson(t testing.TB, email string, grants ...person.Grant) person.Person {
	t.Helper()
	if len(grants) == 0 {
		grants = []person.Grant{{Role: person.Finance}}
	}
	p, err := person.New(ident.NewPerson(generator.New, noon), email, "Ana Silva", grants, noon)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// createPeople stores people with all that belongs to each: factors, a link and a session, whose hashes begin with its number.
func createPeople(t testing.TB, db *postgres.DB, people ...person.Person) (
	factors []person.Factors, links []person.Link, sessions []person.Session) {
	t.Helper()
	err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		factors, links, sessions = nil, nil, nil
		for i, p := range people {
			f := person.Factors{Person: p.ID, PasswordHash: "$argon2id$secreto", TOTPSecret: "SECRETO", TOTPStep: 7,
				RecoveryCodes: []string{"SECRETO1", "SECRETO2"}, UpdatedAt: noon}
			hash := person.SecretHash{byte(i + 1)}
			l := person.Link{TokenHash: hash, Person: p.ID, SignsIn: i == 0, CreatedAt: noon, ExpiresAt: noon.Add(time.Hour)}
			s := person.Session{TokenHash: hash, Person: p.ID, Setup: i == 0, CreatedAt: noon, LastUsedAt: noon, ExpiresAt: noon.Add(time.Hour)}
			if err := errors.Join(tx.CreatePerson(ctx, p), tx.SaveFactors(ctx, f), tx.CreatePersonLink(ctx, l),
				tx.CreatePersonSession(ctx, s)); err != nil {
				return err
			}
			factors, links, sessions = append(factors, f), append(links, l), append(sessions, s)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return factors, links, sessions
}

func TestPeople_AreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	// What is stored of a person is read and locked as it was written, and changed as the caller says. An address is taken once.
	c := newEnv(t)
	ana := newPerson(t, "bo@example.com", person.Grant{Role: person.Finance}, person.Grant{Role: person.Viewer, Platform: c.platform.ID})
	bo := newPerson(t, "ana@example.com")
	factors, links, sessions := createPeople(t, c.DB, ana, bo)
	if all, err := c.People(t.Context()); err != nil || !reflect.DeepEqual(all, []person.Person{bo, ana}) {
		t.Errorf("read %+v, %v", all, err)
	}
	err := c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		return tx.CreatePerson(ctx, newPerson(t, "bo@example.com"))
	})
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("an address was taken twice: %v", err)
	}

	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		byID, errID := tx.LockPerson(ctx, ana.ID)
		byEmail, errEmail := tx.LockPersonByEmail(ctx, ana.Email)
		locked, errFactors := tx.LockFactors(ctx, ana.ID)
		link, errLink := tx.LockPersonLink(ctx, links[0].TokenHash)
		session, errSession := tx.LockPersonSession(ctx, sessions[0].TokenHash)
		if !reflect.DeepEqual([]any{byID, byEmail, locked, link, session}, []any{ana, ana, factors[0], links[0], sessions[0]}) {
			t.Errorf("locked %+v, %+v, %+v, %+v, %+v", byID, byEmail, locked, link, session)
		}
		return errors.Join(errID, errEmail, errFactors, errLink, errSession)
	})
	ana = ana.Disable(noon.Add(time.Minute))
	ana.Name, ana.Grants = "Ana Maria Silva", []person.Grant{{Role: person.Viewer}}
	factors[0].TOTPStep, factors[0].RecoveryCodes, factors[0].UpdatedAt = 8, nil, noon.Add(time.Minute)
	links[0].OpenedAt, sessions[0].LastUsedAt = noon.Add(time.Second), noon.Add(time.Minute)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return errors.Join(tx.UpdatePerson(ctx, ana), tx.SaveFactors(ctx, factors[0]), tx.UpdatePersonLink(ctx, links[0]),
			tx.UpdatePersonSession(ctx, sessions[0]))
	})
	byEmail, errEmail := c.PersonByEmail(t.Context(), ana.Email)
	read, errFactors := c.FactorsOf(t.Context(), ana.ID)
	link, p, errLink := c.LinkedPerson(t.Context(), links[0].TokenHash)
	session, q, errSession := c.SessionWithPerson(t.Context(), sessions[0].TokenHash)
	if err := errors.Join(errEmail, errFactors, errLink, errSession); err != nil ||
		!reflect.DeepEqual([]any{byEmail, read, link, p, session, q}, []any{ana, factors[0], links[0], ana, sessions[0], ana}) {
		t.Errorf("read %+v, %+v, %+v, %+v, %+v, %+v, %v", byEmail, read, link, p, session, q, err)
	}
	if other, err := c.FactorsOf(t.Context(), bo.ID); err != nil || !reflect.DeepEqual(other, factors[1]) {
		t.Errorf("those of the other are %+v, %v", other, err)
	}
}

func TestPeople_EndOfWhatBelongsToOne(t *testing.T) {
	t.Parallel()
	// Factors are deleted with the links that were not opened, and sessions one by one or all of a person; nothing of another person
	// is. What is not there has its own fault, and ends without one.
	c := newEnv(t)
	ana, bo := newPerson(t, "ana@example.com"), newPerson(t, "bo@example.com")
	_, links, sessions := createPeople(t, c.DB, ana, bo)
	opened := links[0]
	opened.TokenHash, opened.OpenedAt = person.SecretHash{9}, noon
	second := sessions[0]
	second.TokenHash = person.SecretHash{9}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return errors.Join(tx.CreatePersonLink(ctx, opened), tx.CreatePersonSession(ctx, second))
	})
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return errors.Join(tx.DeleteFactors(ctx, ana.ID), tx.DeletePersonSession(ctx, sessions[0].TokenHash),
			tx.DeletePersonSession(ctx, person.SecretHash{77}))
	})
	if f, err := c.FactorsOf(t.Context(), ana.ID); err != nil || !reflect.DeepEqual(f, person.Factors{Person: ana.ID}) {
		t.Errorf("the factors are %+v, %v", f, err)
	}
	left := func(name string, want bool, err, none error) {
		t.Helper()
		if want && err != nil || !want && !errors.Is(err, none) {
			t.Errorf("%s: %v", name, err)
		}
	}
	linkErr := func(token person.SecretHash) error { _, _, err := c.LinkedPerson(t.Context(), token); return err }
	sessionErr := func(secret person.SecretHash) error {
		_, _, err := c.SessionWithPerson(t.Context(), secret)
		return err
	}
	left("a link that waits", false, linkErr(links[0].TokenHash), person.ErrLink)
	left("an opened link", true, linkErr(opened.TokenHash), nil)
	left("a link of another", true, linkErr(links[1].TokenHash), nil)
	left("the session", false, sessionErr(sessions[0].TokenHash), person.ErrNoSession)
	left("another session", true, sessionErr(second.TokenHash), nil)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return errors.Join(tx.DeletePersonSessions(ctx, ana.ID), tx.UpdatePersonSession(ctx, second))
	})
	left("the last session", false, sessionErr(second.TokenHash), person.ErrNoSession)
	left("a session of another", true, sessionErr(sessions[1].TokenHash), nil)

	unknown := newPerson(t, "nobody@example.com")
	for name, ask := range map[string]func(context.Context, *postgres.Unit) error{
		"LockPerson": func(ctx context.Context, tx *postgres.Unit) error {
			_, err := tx.LockPerson(ctx, unknown.ID)
			return err
		},
		"LockPersonByEmail": func(ctx context.Context, tx *postgres.Unit) error {
			_, err := tx.LockPersonByEmail(ctx, unknown.Email)
			return err
		},
		"UpdatePerson": func(ctx context.Context, tx *postgres.Unit) error { return tx.UpdatePerson(ctx, unknown) },
	} {
		if err := c.Do(t.Context(), ask); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, ask := range map[string]func(context.Context, *postgres.Unit) error{
		"LockPersonLink": func(ctx context.Context, tx *postgres.Unit) error {
			_, err := tx.LockPersonLink(ctx, person.SecretHash{77})
			return err
		},
		"LockPersonSession": func(ctx context.Context, tx *postgres.Unit) error {
			_, err := tx.LockPersonSession(ctx, person.SecretHash{77})
			return err
		},
		"UpdatePersonLink": func(ctx context.Context, tx *postgres.Unit) error {
			return tx.UpdatePersonLink(ctx, person.Link{TokenHash: person.SecretHash{77}, Person: ana.ID})
		},
	} {
		if err := c.Do(t.Context(), ask); !errors.Is(err, person.ErrLink) && !errors.Is(err, person.ErrNoSession) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPeople_AttemptsAreLocked(t *testing.T) {
	t.Parallel()
	// The attempts of an address are locked until the commit, also the first time; a rollback stores nothing.
	c := newEnv(t)
	address := person.SecretHash{1}
	read := func() (a person.Attempts) {
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) (err error) {
			a, err = tx.LockSignInAttempts(ctx, address)
			return err
		})
		return a
	}
	aborted := errors.New("aborted")
	if err := c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		_, err := tx.LockSignInAttempts(ctx, address)
		return errors.Join(err, tx.SaveSignInAttempts(ctx, address, person.Attempts{Failed: 4, LastAt: noon}), aborted)
	}); !errors.Is(err, aborted) {
		t.Fatal(err)
	}
	if a := read(); a != (person.Attempts{}) {
		t.Errorf("read %+v", a)
	}
	done := make(chan error, 10)
	for range 10 {
		go func() {
			done <- c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
				a, err := tx.LockSignInAttempts(ctx, address)
				if err != nil {
					return err
				}
				return tx.SaveSignInAttempts(ctx, address, person.Attempts{Failed: a.Failed + 1, LastAt: noon})
			})
		}()
	}
	for range 10 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if a := read(); a.Failed != 10 || !a.LastAt.Equal(noon) {
		t.Errorf("read %+v", a)
	}
}

func TestPeople_VisibleForAllPlatformsOnly(t *testing.T) {
	t.Parallel()
	// A call for one platform, or for none, sees and changes no link, session, factor or attempt, whatever its statement asks. For one
	// platform it sees who may approve, and changes nobody; for none it sees nobody.
	c := newEnv(t)
	createPeople(t, c.DB, newPerson(t, "ana@example.com"))
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		_, err := tx.LockSignInAttempts(ctx, person.SecretHash{1})
		return err
	})
	service := connect(t, c.url)
	exec(t, service, "SET ROLE causeway_service")
	for setting, want := range map[string]int64{"": 0, c.platform.ID.UUID().String(): 0, uuid.Nil.String(): 0, "*": 1} {
		exec(t, service, "SELECT set_config('causeway.platform', $1, false)", setting)
		for table, column := range map[string]string{"people": "name", "person_factors": "secrets", "person_links": "signs_in",
			"person_sessions": "setup", "sign_in_attempts": "failed"} {
			if table == "person_factors" && setting == uuid.Nil.String() {
				continue // which no scope sets, as "no id" below shows
			}
			var found int64
			visible := want
			if table == "people" && setting != "" {
				visible = 1
			}
			if err := service.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&found); err != nil || found != visible {
				t.Errorf("%s with %q: %d rows, %v", table, setting, found, err)
			}
			if tag, err := service.Exec(t.Context(), "UPDATE "+table+" SET "+column+" = "+column); err != nil || tag.RowsAffected() != want {
				t.Errorf("%s with %q: %d rows changed, %v", table, setting, tag.RowsAffected(), err)
			}
		}
	}
	exec(t, service, "SELECT set_config('causeway.platform', $1, false)", c.platform.ID.UUID().String())
	for _, statement := range []string{
		"INSERT INTO sign_in_attempts (address_hash, failed) VALUES (sha256('x'), 0)",
		"INSERT INTO people SELECT gen_random_uuid(), 'eve@example.com', 'Eve', '{ADMINISTRATOR}', 'ACTIVE', now(), now()",
		"INSERT INTO person_sessions SELECT sha256('x'), gen_random_uuid(), false, now(), now(), now() + interval '1 day'",
	} {
		if _, err := service.Exec(t.Context(), statement); err == nil || !strings.Contains(err.Error(), "row-level security") {
			t.Errorf("%s: %v", statement, err)
		}
	}
	if _, err := service.Exec(t.Context(), "DELETE FROM people"); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("people can be deleted: %v", err)
	}

	db := openWith(t, postgres.Options{URL: c.url, MaxConnections: 1, Clock: portstest.NewFakeClock(noon), IDs: generator})
	for name, scope := range map[string]struct {
		ctx  context.Context
		want int
	}{
		"none":  {t.Context(), 0},
		"no id": {ports.ForPlatform(t.Context(), ident.Platform{}), 0},
		"one":   {ports.ForPlatform(t.Context(), c.platform.ID), 1},
		"all":   {ports.ForAllPlatforms(t.Context()), 1},
	} {
		found, err := db.People(scope.ctx)
		_, _, errSession := db.SessionWithPerson(scope.ctx, person.SecretHash{1})
		if err != nil || len(found) != scope.want || (errSession == nil) != (name == "all") {
			t.Errorf("scope %s: %v, %v, %v", name, found, err, errSession)
		}
	}
}

func TestPeople_FactorsAreEncryptedAndFoundByKeys(t *testing.T) {
	t.Parallel()
	// What people sign in with is encrypted at once, bound to its person, and found when keys are counted, replaced and removed,
	// although it belongs to no platform.
	c := newEnv(t)
	var clock *portstest.FakeClock
	db, cipher := openForKeys(t, c.url, &clock)
	ana, bo := newPerson(t, "ana@example.com"), newPerson(t, "bo@example.com")
	early, _, _ := createPeople(t, c.DB, ana) // before there was a key
	used := func(key uuid.UUID) (rows int) {
		t.Helper()
		uses, err := db.DataKeyUses(t.Context(), func(string, int) {})
		if err != nil {
			t.Fatal(err)
		}
		for _, use := range uses {
			if use.Table == "person_factors" && use.Key == key {
				rows += use.Rows
			}
		}
		return rows
	}
	if used(uuid.Nil) != 1 {
		t.Errorf("%d rows are plain", used(uuid.Nil))
	}
	before := generator.New(noon)
	if err := cipher.Create(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	late := person.Factors{Person: bo.ID, PasswordHash: "$argon2id$secreto", TOTPSecret: "SECRETO", RecoveryCodes: []string{"SECRETO"},
		UpdatedAt: noon}
	if err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		return errors.Join(tx.CreatePerson(ctx, bo), tx.SaveFactors(ctx, late))
	}); err != nil {
		t.Fatal(err)
	}
	if used(before) != 1 {
		t.Errorf("%d rows use the key", used(before))
	}
	if changed := reencrypt(t, db); changed != 1 || used(before) != 2 || used(uuid.Nil) != 0 {
		t.Errorf("%d rows were encrypted, %d use the key, %d are plain", changed, used(before), used(uuid.Nil))
	}
	clock.Advance(time.Minute)
	newest := generator.New(clock.Now())
	if err := cipher.Create(t.Context(), newest); err != nil {
		t.Fatal(err)
	}
	if changed := reencrypt(t, db); changed != 2 || used(before) != 0 || used(newest) != 2 {
		t.Errorf("%d rows were encrypted again, %d use the key before, %d the newest", changed, used(before), used(newest))
	}
	if err := db.RemoveDataKey(t.Context(), before); err != nil {
		t.Error(err)
	}
	for _, want := range []person.Factors{early[0], late} {
		if got, err := db.FactorsOf(t.Context(), want.Person); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("read %+v, %v", got, err)
		}
	}
	owner := connect(t, c.url)
	if shown := countRows(t, c.url, `SELECT count(*) FROM person_factors WHERE secrets::text ILIKE '%secreto%'`); shown != 0 {
		t.Errorf("%d rows show secrets", shown)
	}
	exec(t, owner, `UPDATE person_factors SET secrets = (SELECT secrets FROM person_factors WHERE id = $1) WHERE id = $2`,
		ana.ID.UUID(), bo.ID.UUID())
	if got, err := db.FactorsOf(t.Context(), bo.ID); !errors.Is(err, ports.ErrCannotDecrypt) {
		t.Errorf("the secrets of another person are read: %+v, %v", got, err)
	}
}

func TestOldSignIns_AreDeleted(t *testing.T) {
	t.Parallel()
	// Links and sessions are deleted after their end, and attempts a day after the last one, by the role of the service; the rest
	// stays, as do people and what they sign in with.
	c := newRetentionEnv(t)
	ana, bo := newPerson(t, "ana@example.com"), newPerson(t, "bo@example.com")
	createPeople(t, c.DB, ana, bo)
	exec(t, c.owner, `UPDATE person_links SET expires_at = $1 WHERE person_id = $2`, noon.Add(justBefore), ana.ID.UUID())
	exec(t, c.owner, `UPDATE person_sessions SET expires_at = $1 WHERE person_id = $2`, noon.Add(justBefore), ana.ID.UUID())
	exec(t, c.owner, `UPDATE person_links SET expires_at = $1 WHERE person_id = $2`, noon, bo.ID.UUID())
	exec(t, c.owner, `UPDATE person_sessions SET expires_at = $1 WHERE person_id = $2`, noon, bo.ID.UUID())
	exec(t, c.owner, `INSERT INTO sign_in_challenges VALUES (sha256('a'), 'PASSKEY_SIGN_IN', NULL, sha256(''), '', $1, $1), (sha256('b'),
		'PASSKEY_SIGN_IN', NULL, sha256(''), '', $2, $2)`, noon.Add(justBefore), noon)
	attemptsBefore := noon.Add(-person.AttemptsRetention)
	exec(t, c.owner, `INSERT INTO sign_in_attempts VALUES (sha256('a'), 3, $1), (sha256('b'), 0, $1), (sha256('c'), 3, $2)`,
		attemptsBefore.Add(justBefore), attemptsBefore)
	deleted := map[string]int{}
	for range 2 {
		cutoffs := postgres.RetentionCutoffs{WithoutPlatform: postgres.OldSignIns(noon, attemptsBefore)}
		if err := c.DeleteOld(t.Context(), cutoffs, func(table string, rows int) { deleted[table] += rows }); err != nil {
			t.Fatal(err)
		}
	}
	for table, want := range map[string][2]int{"person_links": {1, 1}, "person_sessions": {1, 1}, "sign_in_attempts": {2, 1},
		"sign_in_challenges": {1, 1},
		"people":             {0, 2}, "person_factors": {0, 2}} {
		if left := c.count(t, table); deleted[table] != want[0] || left != want[1] {
			t.Errorf("%s: %d deleted, %d left, want %v", table, deleted[table], left, want)
		}
	}
	if left := c.count(t, "person_links WHERE person_id = $1", bo.ID.UUID()); left != 1 {
		t.Error("the link that has not ended was deleted")
	}
}

func TestPeople_BadRowsAreRefused(t *testing.T) {
	t.Parallel()
	// The schema refuses what the program never writes: nobody without a role, an unknown status, secrets that are no hashes, and
	// what belongs to nobody.
	owner := connect(t, pgtest.New(t))
	for constraint, statement := range map[string]string{
		"person_has_role":                   `INSERT INTO people VALUES (gen_random_uuid(), 'a@b.example', 'A', '{}', 'ACTIVE', now(), now())`,
		"person_status_known":               `INSERT INTO people VALUES (gen_random_uuid(), 'a@b.example', 'A', '{VIEWER}', 'ROOT', now(), now())`,
		"person_email_length":               `INSERT INTO people VALUES (gen_random_uuid(), repeat('a', 201), 'A', '{VIEWER}', 'ACTIVE', now(), now())`,
		"person_name_length":                `INSERT INTO people VALUES (gen_random_uuid(), 'a@b.example', '', '{VIEWER}', 'ACTIVE', now(), now())`,
		"person_factors_person_fkey":        `INSERT INTO person_factors VALUES ('00000000-0000-0000-0000-000000000000', gen_random_uuid(), '{}', 0, now())`,
		"person_link_person_fkey":           `INSERT INTO person_links VALUES (sha256('a'), gen_random_uuid(), false, now(), now())`,
		"person_session_person_fkey":        `INSERT INTO person_sessions VALUES (sha256('a'), gen_random_uuid(), false, now(), now(), now())`,
		"person_link_token_is_sha256":       `INSERT INTO person_links VALUES ('a', gen_random_uuid(), false, now(), now())`,
		"person_session_token_is_sha256":    `INSERT INTO person_sessions VALUES ('a', gen_random_uuid(), false, now(), now(), now())`,
		"sign_in_attempt_address_is_sha256": `INSERT INTO sign_in_attempts VALUES ('a', 1, now())`,
	} {
		if _, err := owner.Exec(t.Context(), statement); err == nil || !strings.Contains(err.Error(), constraint) {
			t.Errorf("%s: %v", statement, err)
		}
	}
}
