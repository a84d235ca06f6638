package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"causeway/adapters/postgres"
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
		"lima":            "[Ana Lima]",
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
