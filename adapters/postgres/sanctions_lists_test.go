package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/screening"
	"causeway/ports/portstest"
)

func TestSanctionsLists_AreReplacedAsAWhole(t *testing.T) {
	t.Parallel()
	// The newest version of each list is returned with its entries, and those of the version before are
	// deleted. A list that cannot be stored changes nothing.
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	db := openWith(t, postgres.Options{URL: pgtest.New(t), AllPlatforms: true, MaxConnections: 2,
		Clock: portstest.NewFakeClock(now)})
	entries := func(list screening.List, n int) []screening.Entry {
		made := make([]screening.Entry, n)
		for i := range made {
			made[i] = screening.Entry{List: list, Ref: fmt.Sprint(i), Kind: screening.Person, Names: []screening.EntryName{{Text: "Ivan Testov"},
				{Text: "Vanya", Weak: true}},
				Births: []screening.Birth{{Year: 1956, ToYear: 1956, Month: 6, Day: 18}}, Countries: []string{"RU"}, Programs: []string{"X"}}
		}
		return made
	}
	load := func(list screening.List, n int, at time.Time) error {
		return db.ReplaceSanctionsList(t.Context(), screening.LoadedList{ID: uuid.New(), List: list, SHA256: "00", Entries: n, LoadedAt: at,
			PublishedAt: at.Add(-time.Hour), Actor: "ana"}, entries(list, n), nil)
	}
	for _, err := range []error{load(screening.OFAC, 2500, now), load(screening.EU, 2, now),
		load(screening.OFAC, 1001, now.Add(time.Minute))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	twice := append(entries(screening.EU, 1), entries(screening.EU, 1)...)
	if err := db.ReplaceSanctionsList(t.Context(), screening.LoadedList{ID: uuid.New(), List: screening.EU, SHA256: "00", Entries: 2,
		LoadedAt: now.Add(time.Hour), Actor: "ana"}, twice, nil); err == nil {
		t.Error("a list with an entry twice is stored")
	}

	lists, err := db.SanctionsLists(t.Context())
	if err != nil || len(lists) != 2 || lists[0].List != screening.EU || lists[0].Entries != 2 || lists[1].Entries != 1001 ||
		!lists[1].LoadedAt.Equal(now.Add(time.Minute)) ||
		!lists[1].PublishedAt.Equal(now.Add(time.Minute-time.Hour)) || lists[1].Actor != "ana" {
		t.Errorf("%+v, %v", lists, err)
	}
	// A list that is stored last counts, also if its load began first.
	if err := load(screening.OFAC, 1, now.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if lists, err := db.SanctionsLists(t.Context()); err != nil || len(lists) != 2 || lists[1].Entries != 1 ||
		!lists[1].LoadedAt.Equal(now.Add(-time.Hour)) {
		t.Errorf("%+v, %v", lists, err)
	}
	stored, err := db.SanctionsEntries(t.Context())
	if err != nil || len(stored) != 3 || stored[0].Version() != entries(stored[0].List, 1)[0].Version() {
		t.Errorf("%d entries, %v", len(stored), err)
	}
}
