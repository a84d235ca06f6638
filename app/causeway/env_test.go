package main

import (
	"testing"

	"causeway/adapters/postgres"
)

// openDB opens a database until the end of the test.
func openDB(t testing.TB, o postgres.Options) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}
