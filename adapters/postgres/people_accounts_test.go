package postgres_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
)

func TestPeople_AccountsOfEverybody(t *testing.T) {
	t.Parallel()
	// Of everybody, what belongs to it is counted, and the last sign-in is found among all that was done; nothing of another person is
	// counted. The sessions of a person but one are deleted, and no others.
	c := newEnv(t)
	ana, bo := newPerson(t, "ana@example.com"), newPerson(t, "bo@example.com")
	factors, _, sessions := createPeople(t, c.DB, ana, bo)
	second := sessions[0]
	second.TokenHash, second.LastUsedAt = person.SecretHash{9}, noon.Add(time.Minute)
	action := func(kind platform.OperatorActionKind, after time.Duration) platform.OperatorAction {
		return platform.OperatorAction{ID: generator.New(noon.Add(after)), Kind: kind, Subject: ana.ID.UUID(), Actor: ana.Email,
			At: noon.Add(after)}
	}
	elsewhere := action(platform.PersonSignedIn, time.Hour)
	elsewhere.Platform = c.platform.ID
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return errors.Join(tx.CreatePersonSession(ctx, second),
			tx.CreatePasskey(ctx, person.Passkey{ID: []byte{1}, PublicKey: []byte{1}, Person: ana.ID, Name: "k", CreatedAt: noon}),
			tx.CreateIdentity(ctx, person.Identity{Issuer: "i", Subject: "s"}, bo.ID),
			tx.RecordOperatorAction(ctx, action(platform.PersonSetUp, 0)),
			tx.RecordOperatorAction(ctx, action(platform.PersonSignedIn, time.Minute)),
			tx.RecordOperatorAction(ctx, action(platform.PersonAddedPasskey, time.Hour)), tx.RecordOperatorAction(ctx, elsewhere))
	})
	found, err := c.PeopleSignIns(t.Context())
	want := map[ident.Person]person.Account{ana.ID: {Passkeys: 1, LastSignIn: noon.Add(time.Minute)}, bo.ID: {HasProvider: true}}
	if err != nil || !reflect.DeepEqual(found, want) {
		t.Errorf("found %+v, %v; want %+v", found, err, want)
	}
	all, err := c.PeopleFactors(t.Context())
	if len(all) == 2 && all[0].Person != ana.ID {
		all[0], all[1] = all[1], all[0]
	}
	if err != nil || !reflect.DeepEqual(all, factors) {
		t.Errorf("factors %+v, %v", all, err)
	}
	if all, err := c.PeopleSessions(t.Context()); err != nil || !reflect.DeepEqual(all, []person.Session{second, sessions[0], sessions[1]}) {
		t.Errorf("sessions %+v, %v", all, err)
	}
	second.Device = "Firefox"
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.NamePersonSessionDevice(ctx, second) })
	if all, err := c.SessionsOf(t.Context(), ana.ID); err != nil || !reflect.DeepEqual(all, []person.Session{second, sessions[0]}) {
		t.Errorf("sessions of one %+v, %v", all, err)
	}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.DeleteOtherPersonSessions(ctx, ana.ID, second.TokenHash)
	})
	if all, err := c.PeopleSessions(t.Context()); err != nil || !reflect.DeepEqual(all, []person.Session{second, sessions[1]}) {
		t.Errorf("left %+v, %v", all, err)
	}
}
