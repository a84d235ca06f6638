package migrations_test

import (
	"errors"
	"testing"

	"causeway/adapters/pgembed/pgtest"
	"causeway/migrations"
)

func TestCheck_SchemaVersion(t *testing.T) {
	t.Parallel()
	// A database is only good for the program whose schema it has, and says what to
	// do otherwise; looking changes nothing.
	empty := openDB(t, pgtest.NewEmpty(t))
	if err := migrations.Check(t.Context(), empty); !errors.Is(err, migrations.ErrNotMigrated) {
		t.Errorf("an empty database: %v", err)
	}
	var tables int
	if err := empty.QueryRow(`SELECT count(*) FROM pg_tables WHERE schemaname = 'public'`).Scan(&tables); err != nil || tables != 0 {
		t.Errorf("looking left %d tables, %v", tables, err)
	}

	current := openDB(t, pgtest.New(t))
	if err := migrations.Check(t.Context(), current); err != nil {
		t.Errorf("a migrated database: %v", err)
	}
	if _, err := current.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)`); err != nil {
		t.Fatal(err)
	}
	if err := migrations.Check(t.Context(), current); !errors.Is(err, migrations.ErrNewerDatabase) {
		t.Errorf("a newer database: %v", err)
	}
}
