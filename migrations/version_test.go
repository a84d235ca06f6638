package migrations_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/DATA-DOG/go-sqlmock"

	"causeway/adapters/pgembed/pgtest"
	"causeway/migrations"
)

func TestCheck_SchemaVersion(t *testing.T) {
	t.Parallel()
	// Check accepts a database with exactly the program's schema, and changes nothing.
	empty := openDB(t, pgtest.NewEmpty(t))
	if err := migrations.Check(t.Context(), empty); !errors.Is(err, migrations.ErrNotMigrated) {
		t.Errorf("an empty database: %v", err)
	}
	var tables int
	if err := empty.QueryRow(`SELECT count(*) FROM pg_tables WHERE schemaname = 'public'`).Scan(&tables); err != nil || tables != 0 {
		t.Errorf("Check left %d tables, %v", tables, err)
	}

	current := openDB(t, pgtest.New(t))
	if err := migrations.Check(t.Context(), current); err != nil {
		t.Errorf("a migrated database: %v", err)
	}
	if _, err := current.Exec(`INSERT INTO schema_migrations (version_id, is_applied) VALUES (99999, true)`); err != nil {
		t.Fatal(err)
	}
	if err := migrations.Check(t.Context(), current); !errors.Is(err, migrations.ErrNewerDatabase) {
		t.Errorf("a newer database: %v", err)
	}
}

func TestCheck_ConnectionLostBetweenStatements(t *testing.T) {
	t.Parallel()
	// A connection that is lost after the first statements says nothing about the schema: the error is that of the
	// connection, and does not ask for a migration.
	db, mock, err := sqlmock.New()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	lost := errors.New("connection lost")
	mock.ExpectQuery("to_regclass").WillReturnRows(sqlmock.NewRows([]string{"development"}).AddRow(false))
	mock.ExpectQuery("FROM schema_migrations").WillReturnError(lost)

	err = migrations.Check(t.Context(), db)

	if !errors.Is(err, lost) || errors.Is(err, migrations.ErrNotMigrated) ||
		!strings.Contains(err.Error(), "read the version of the database") {
		t.Errorf("%v, want that of the connection", err)
	}
	if err := mock.ExpectationsWereMet(); err != nil {
		t.Error(err)
	}
}

func TestUp_DevelopmentDatabaseRefused(t *testing.T) {
	t.Parallel()
	// A database of a development version, earlier or later, is refused as it is, and the message says what to do.
	for _, marks := range []string{
		`CREATE TABLE goose_db_version (version_id bigint, is_applied boolean); INSERT INTO goose_db_version VALUES (19, true)`,
		`CREATE FUNCTION delete_webhook_events() RETURNS int LANGUAGE sql AS 'SELECT 0'`,
	} {
		db := openDB(t, pgtest.NewEmpty(t))
		if _, err := db.Exec(marks); err != nil {
			t.Fatal(err)
		}

		for name, open := range map[string]func(context.Context, *sql.DB) error{"Up": migrations.Up, "Check": migrations.Check} {
			err := open(t.Context(), db)
			if !errors.Is(err, migrations.ErrDevelopmentDatabase) || !strings.Contains(err.Error(), "start with an empty data folder or a new "+
				"database") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if hasTable(t, db, "platforms") || hasTable(t, db, "schema_migrations") {
			t.Error("the database was changed")
		}
	}
}
