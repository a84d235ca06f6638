package pgtest_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"testing"

	"causeway/adapters/pgembed/pgtest"
)

func TestNewWithSchema_DatabasesAreIndependent(t *testing.T) {
	t.Parallel()
	// Two databases of one schema start with the same content and are then independent. The
	// schema is built once.
	var built atomic.Int32
	schema := pgtest.Schema{Hash: "items/" + t.Name(), Up: func(ctx context.Context, db *sql.DB) error {
		built.Add(1)
		_, err := db.ExecContext(ctx, "CREATE TABLE items (id int); INSERT INTO items VALUES (1)")
		return err
	}}
	one, two := open(t, pgtest.NewWithSchema(t, schema)), open(t, pgtest.NewWithSchema(t, schema))

	if _, err := one.Exec("INSERT INTO items VALUES (2)"); err != nil {
		t.Fatal(err)
	}

	if got := count(t, one, "items"); got != 2 {
		t.Errorf("the first database contains %d rows, want 2", got)
	}
	if got := count(t, two, "items"); got != 1 {
		t.Errorf("the second database contains %d rows, want 1", got)
	}
	if built.Load() > 1 { // 0 when an earlier run left the template on the server
		t.Errorf("the schema was built %d times", built.Load())
	}
}

func TestNew_HasSchemaAndPlainRole(t *testing.T) {
	t.Parallel()
	// The service's tables exist and are empty, and their owner is not a superuser.
	db := open(t, pgtest.New(t))

	if got := count(t, db, "platforms"); got != 0 {
		t.Errorf("a fresh database contains %d platforms", got)
	}
	var super bool
	if err := db.QueryRow("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").Scan(&super); err != nil {
		t.Fatal(err)
	}
	if super {
		t.Error("the test role is a superuser")
	}
}

func TestNewEmpty_HasNoTables(t *testing.T) {
	t.Parallel()
	// An empty database has no tables.
	db := open(t, pgtest.NewEmpty(t))
	if got := count(t, db, "pg_tables WHERE schemaname = 'public'"); got != 0 {
		t.Errorf("an empty database contains %d tables", got)
	}
}

func TestNewEmpty_DatabaseIsDroppedAfterTest(t *testing.T) {
	t.Parallel()
	// The database of a passed test is dropped, even if a connection is open.
	var name string
	t.Run("user", func(t *testing.T) {
		db, err := sql.Open("pgx", pgtest.NewEmpty(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := db.QueryRow("SELECT current_database()").Scan(&name); err != nil {
			t.Fatal(err)
		}
	})

	server := open(t, pgtest.ServerURL(t))
	if got := count(t, server, fmt.Sprintf("pg_database WHERE datname = '%s'", name)); got != 0 {
		t.Errorf("database %s still exists", name)
	}
}

func open(t *testing.T, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func count(t *testing.T, db *sql.DB, from string) (n int) {
	t.Helper()
	if err := db.QueryRow("SELECT count(*) FROM " + from).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
