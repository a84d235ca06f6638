package notes_test

import (
	"context"
	"strings"
	"testing"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/app/notes"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/ports"
)

func TestNotes_AreKeptWithTheirAuthor(t *testing.T) {
	t.Parallel()
	// Notes are listed newest first with who wrote them, for their customer and platform alone. An empty one, one that is too long and one
	// about a customer that was erased or does not exist are refused, and those of an erased customer are gone.
	env := apptest.New(t)
	service, ana := notes.New(env.Store, env.Clock, env.IDs), env.NewPerson(person.Support)
	platform, of := env.Platform.ID, env.NewCustomer("noted")
	ctx := ports.ForPlatform(t.Context(), platform)
	read := func(p ident.Platform, c ident.Customer) string {
		t.Helper()
		found, err := service.Notes(ports.ForPlatform(t.Context(), p), p, c)
		if err != nil {
			t.Fatal(err)
		}
		texts := make([]string, len(found))
		for i, n := range found {
			texts[i] = n.Author + ": " + n.Content
		}
		return strings.Join(texts, "|")
	}
	for _, text := range []string{" First ", strings.Repeat("ä", customer.MaxNote)} {
		if err := service.Add(ctx, platform, of.ID, ana, text); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(platform, of.ID); got != ana.Name+": "+strings.Repeat("ä", customer.MaxNote)+"|"+ana.Name+": First" {
		t.Errorf("%.100s", got)
	}
	if got := read(platform, env.Customer.ID) + read(env.NewPlatform().ID, of.ID); got != "" {
		t.Errorf("others have %s", got)
	}
	for text, code := range map[string]fault.Code{" ": fault.InvalidInput, strings.Repeat("a", customer.MaxNote+1): fault.InvalidInput} {
		if err := service.Add(ctx, platform, of.ID, ana, text); !fault.Is(err, code) {
			t.Errorf("%.10q: %v", text, err)
		}
	}
	if err := service.Add(ctx, platform, ident.NewCustomer(env.IDs.New, env.Clock.Now()), ana, "x"); !fault.Is(err, fault.UserNotFound) {
		t.Errorf("of nobody: %v", err)
	}
	of.ErasedAt = env.Clock.Now()
	env.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.UpdateCustomer(ctx, of) })
	if err := service.Add(ctx, platform, of.ID, ana, "x"); !fault.Is(err, fault.CustomerDeleted) {
		t.Errorf("of an erased customer: %v", err)
	}
}
