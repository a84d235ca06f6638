package filters_test

import (
	"fmt"
	"strings"
	"testing"

	"causeway/app/filters"
	"causeway/app/internal/apptest"
	"causeway/core/fault"
	"causeway/core/person"
	"causeway/ports"
)

func TestSave_OfOnePersonAndPlatform(t *testing.T) {
	t.Parallel()
	// A filter belongs to a person, a platform and a list. One that is saved again replaces the one with its name; a person has so many
	// and not more, and what is deleted makes room.
	env := apptest.New(t)
	service, ana, bob := filters.New(env.Store, env.Clock), env.NewPerson(person.Viewer), env.NewPerson(person.Viewer)
	platform, other := env.Admin.Platform, env.NewPlatform().ID
	ctx := ports.ForPlatform(t.Context(), platform)
	save := func(name, query string) error {
		return service.Save(ctx, person.SavedFilter{Platform: platform, Person: ana.ID, List: "payments", Name: name, Query: query})
	}
	names := func(f person.SavedFilter) string {
		t.Helper()
		found, err := service.SavedFilters(ports.ForPlatform(t.Context(), f.Platform), f.Platform, f.Person, f.List)
		if err != nil {
			t.Fatal(err)
		}
		texts := make([]string, len(found))
		for i, f := range found {
			texts[i] = f.Name + " " + f.Query
		}
		return strings.Join(texts, ", ")
	}
	own := person.SavedFilter{Platform: platform, Person: ana.ID, List: "payments"}
	for _, query := range []string{"status=FAILED", "status=PENDING"} {
		if err := save("mine", query); err != nil {
			t.Fatal(err)
		}
	}

	if got := names(own); got != "mine status=PENDING" {
		t.Errorf("saved twice: %s", got)
	}
	for name, f := range map[string]person.SavedFilter{"another person": {Platform: platform, Person: bob.ID, List: "payments"},
		"another platform": {Platform: other, Person: ana.ID, List: "payments"}, "another list": {Platform: platform, Person: ana.ID,
			List: "x"}} {
		if got := names(f); got != "" {
			t.Errorf("%s has %s", name, got)
		}
	}
	for n := range person.MaxSavedFilters - 1 {
		if err := save(fmt.Sprintf("more %d", n), "status=FAILED"); err != nil {
			t.Fatal(n, err)
		}
	}
	if err := save("one too many", "status=FAILED"); !fault.Is(err, fault.Conflict) {
		t.Errorf("one too many: %v", err)
	}
	if err := save("mine", "status=EXPIRED"); err != nil {
		t.Errorf("one of them again: %v", err)
	}
	if err := service.DeleteFilter(ctx, platform, ana.ID, "payments", "mine"); err != nil {
		t.Fatal(err)
	}
	if err := save("one more", "status=FAILED"); err != nil || strings.Contains(names(own), "mine") {
		t.Errorf("after a deletion: %v, %s", err, names(own))
	}
}
