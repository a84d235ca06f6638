package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/diff"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/ports"
)

func TestRecordOperatorAction_OfTokenNamesItsPerson(t *testing.T) {
	t.Parallel()
	// What is done with a token that belongs to a person has both, and is found by the person, also when the token is deleted. Of a token of
	// a service, and of a person who has given a name, the name is all.
	c := newEnv(t)
	ana := newPerson(t, "ana@example.com", person.Grant{Role: person.Finance})
	token, _ := newToken(t, c.platform, "x", platform.View)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreatePerson(ctx, ana) })
	for i, by := range []platform.Author{{Token: token.ID, Person: ana.ID}, {Token: token.ID}, {Actor: "Ana Lima", Person: ana.ID}} {
		at := noon.Add(time.Duration(i) * time.Second)
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
			return tx.RecordOperatorAction(ctx, platform.OperatorAction{ID: newIDAt(at), Platform: c.platform.ID, Kind: platform.UpdatedAgent,
				Actor: by.Name(), Person: by.Person, At: at})
		})
	}
	for text, want := range map[string]string{
		"ana@example.com": fmt.Sprintf("[ana@example.com (%s)]", token.ID),
		"token":           fmt.Sprintf("[%[1]s ana@example.com (%[1]s)]", token.ID),
		"lima":            "[Ana Silva (ana@example.com)]",
	} {
		found, err := c.Activities(ports.ForPlatform(t.Context(), c.platform.ID), ports.ActivityFilter{Platform: c.platform.ID, Actor: text,
			Limit: 10})
		actors := make([]string, len(found))
		for i, a := range found {
			actors[i] = a.Actor
		}
		if got := fmt.Sprint(actors); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestActivities_FoundByShownNames(t *testing.T) {
	t.Parallel()
	// What is done with a token is found by the name that it is shown with, also after it was deleted, whether it has done or decided it.
	// Only who has done it is named: a note that has the id of a token stays as it was written.
	c := newEnv(t)
	ana := newPerson(t, "ana@example.com", person.Grant{Role: person.Finance})
	backend, _ := newToken(t, c.platform, "Backend", platform.View)
	laptop, _ := newToken(t, c.platform, "Laptop", platform.View)
	laptop.Person = ana.ID
	act := func(second int, kind platform.OperatorActionKind, by platform.Author, changes ...diff.Field) platform.OperatorAction {
		at := noon.Add(time.Duration(second) * time.Second)
		return platform.OperatorAction{ID: newIDAt(at), Platform: c.platform.ID, Kind: kind, Subject: laptop.ID.UUID(), Actor: by.Name(),
			Person: by.Person, At: at, Changes: changes}
	}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreatePerson(ctx, ana) })
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return errors.Join(tx.CreateToken(ctx, backend),
			tx.RecordOperatorAction(ctx, act(0, platform.UpdatedAgent, platform.Author{Token: laptop.ID, Person: ana.ID})),
			tx.RecordOperatorAction(ctx, act(1, platform.OperatorDeletedToken, platform.Author{Token: backend.ID},
				platform.ChangedToken(laptop, platform.Token{})...)))
	})
	for second, insert := range map[int]string{
		2: `rail_decisions (platform_id, id, decided_at, payment_id, kind, decision, state, wait, reason, actor, note)
			VALUES ('%[1]s', '%[2]s', '%[3]s', '%[2]s', 'PAYOUT', 'RELEASE', 'REVIEW', '', '', 'olga', 'Seen by Token:%[4]s')`,
		3: `ledger_proposals (platform_id, id, action, operation, request, status, proposer, proposer_token_id, decider_token_id, created_at,
			expires_at, decided_at) VALUES ('%[1]s', '%[2]s', 'CLOSE', 'x', '{}', 'EXECUTED', '', '%[4]s', '%[5]s', '%[3]s', '%[3]s',
			timestamptz '%[3]s' + interval '500 ms')`,
		4: `ledger_period_changes (platform_id, month, action, changed_at, note, token_id)
			VALUES ('%[1]s', '2026-02-01', 'close', '%[3]s', 'Done', '%[5]s')`,
	} {
		at := noon.Add(time.Duration(second) * time.Second)
		pgtest.ExecAsSuperuser(t, c.url, "SET session_replication_role = replica; INSERT INTO "+fmt.Sprintf(insert, c.platform.ID.UUID(),
			newIDAt(at), at.Format(time.RFC3339), backend.ID.UUID(), laptop.ID.UUID()))
	}
	of := fmt.Sprintf("Laptop of ana@example.com, %s", laptop.ID)
	closed, proposed := "CLOSE_MONTH "+of+": Done", fmt.Sprintf("PROPOSE_CLOSE service Backend, %s: executed", backend.ID)
	approved := "APPROVE_CLOSE " + of + ": "
	deleted, updated := fmt.Sprintf("DELETE_TOKEN service Backend, %s: ", backend.ID), fmt.Sprintf("UPDATE_AGENT ana@example.com (%s): ", of)
	for _, test := range []struct {
		actor   string
		subject uuid.UUID
		want    []string
	}{
		{"backend", uuid.UUID{}, []string{proposed, deleted}},
		{"service backend, token:", uuid.UUID{}, []string{proposed, deleted}},
		{"laptop of ana@", uuid.UUID{}, []string{closed, approved, updated}},
		{strings.ToLower("ana@example.com (" + of), uuid.UUID{}, []string{updated}},
		{strings.ToLower(laptop.ID.String()), uuid.UUID{}, []string{closed, approved, updated}},
		{"laptop", laptop.ID.UUID(), []string{updated}},
		{"", laptop.ID.UUID(), []string{deleted, updated}},
		{"olga", uuid.UUID{}, []string{fmt.Sprintf("RELEASE_PAYOUT olga: Seen by %s", backend.ID)}},
		{"desktop", uuid.UUID{}, nil},
	} {
		found, err := c.Activities(ports.ForPlatform(t.Context(), c.platform.ID), ports.ActivityFilter{Platform: c.platform.ID,
			Actor: test.actor, SubjectID: test.subject, Limit: 10})
		var got []string
		for _, a := range found {
			got = append(got, fmt.Sprintf("%s %s: %s", a.Action, a.Actor, a.Note))
		}
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%q of %s: %q, %v; want %q", test.actor, test.subject, got, err, test.want)
		}
	}
}
