package migrations_test

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"causeway/adapters/pgembed/pgtest"
	"causeway/migrations"
)

func TestUp_BackfillsCorridorHistory(t *testing.T) {
	t.Parallel()
	// A database whose operator has changed terms before the history came begins its
	// history with what was in force.
	db := openDB(t, pgtest.NewEmpty(t))
	if err := migrations.UpFrom(t.Context(), db, filesBefore(t, "00009")); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`INSERT INTO corridor_overrides VALUES (NULL, 'USD', 'BTC', 7, '0.002', NULL, NULL, 90)`); err != nil {
		t.Fatal(err)
	}

	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}

	var rows, fixed, lock int
	var old *int
	var note string
	err := db.QueryRow(`SELECT count(*) OVER (), old_fee_fixed, new_fee_fixed, new_lock_seconds, note FROM corridor_changes`).Scan(&rows, &old, &fixed, &lock, &note)
	if err != nil || rows != 1 || old != nil || fixed != 7 || lock != 90 || note == "" {
		t.Errorf("%d rows, from %v to %d, held %d s, %q, %v", rows, old, fixed, lock, note, err)
	}
}

// filesBefore are the program's files up to a number.
func filesBefore(t *testing.T, number string) fs.FS {
	t.Helper()
	names, err := fs.Glob(migrations.Files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	tree := fstest.MapFS{}
	for _, name := range names {
		text, err := fs.ReadFile(migrations.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		if name < number {
			tree[name] = &fstest.MapFile{Data: text}
		}
	}
	return tree
}
