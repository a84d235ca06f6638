package postgres_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/core/customer"
	"causeway/core/search"
	"causeway/ports"
)

func TestSearchKeys_AreKeyedHashes(t *testing.T) {
	t.Parallel()
	// A customer is found by keys that were made before there was a data key, after it and after they were replaced. No stored hash is
	// then the plain one, which short names could be guessed from.
	c := newEnv(t)
	db, cipher := openWithCipher(t, c)
	ana, ben := newCustomer(c.platform, "c-1"), newCustomer(c.platform, "c-2")
	ana.FullName, ben.FullName = "Ana Secreta", "Ben Secreta"
	index := func(of customer.Customer) {
		t.Helper()
		if err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
			taken, err := tx.TakeSearchQueue(ctx, 10)
			if err != nil || len(taken) == 0 {
				t.Errorf("taken %v, %v", taken, err)
			}
			return tx.SaveSearchKeys(ctx, []ports.SearchKeys{{Platform: of.Platform, SearchHit: ports.SearchHit{Kind: ports.FoundCustomer,
				ID: of.ID.UUID()}, Keys: search.KeysOfCustomer(of)}}, uuid.New)
		}); err != nil {
			t.Fatal(err)
		}
	}
	find := func(text string) (names []string) {
		t.Helper()
		found, err := db.FindCustomersByKeys(t.Context(), c.platform.ID, search.Parse(text).NameKeys(c.platform.ID), 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range found {
			names = append(names, k.FullName)
		}
		slices.Sort(names)
		return names
	}
	c.createCustomers(t, ana)
	index(ana)
	if err := cipher.Create(t.Context(), generator.New(noon)); err != nil {
		t.Fatal(err)
	}
	if err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateCustomer(ctx, ben) }); err != nil {
		t.Fatal(err)
	}
	index(ben)
	for round := range 2 {
		if got := find("secreta"); !slices.Equal(got, []string{"Ana Secreta", "Ben Secreta"}) {
			t.Errorf("round %d: %q", round, got)
		}
		if got := find("secreta ben"); !slices.Equal(got, []string{"Ben Secreta"}) {
			t.Errorf("round %d: %q", round, got)
		}
		reencrypt(t, db)
	}
	var plain int
	if err := connect(t, c.url).QueryRow(t.Context(), "SELECT count(*) FROM search_keys WHERE NOT starts_with(hash, 'hmac-sha256:')").
		Scan(&plain); err != nil || plain > 0 {
		t.Errorf("%d hashes are plain, %v", plain, err)
	}
}
