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
	// Two databases of one schema are filled alike and then know nothing of each
	// other; the schema is built once.
	var built atomic.Int32
	schema := pgtest.Schema{Hash: "pens/" + t.Name(), Up: func(ctx context.Context, db *sql.DB) error {
		built.Add(1)
		_, err := db.ExecContext(ctx, "CREATE TABLE pens (id int); INSERT INTO pens VALUES (1)")
		return err
	}}
	one, two := open(t, pgtest.NewWithSchema(t, schema)), open(t, pgtest.NewWithSchema(t, schema))

	if _, err := one.Exec("INSERT INTO pens VALUES (2)"); err != nil {
		t.Fatal(err)
	}

	if got := count(t, one, "pens"); got != 2 {
		t.Errorf("the first database holds %d rows, want 2", got)
	}
	if got := count(t, two, "pens"); got != 1 {
		t.Errorf("the second database holds %d rows, want 1", got)
	}
	if built.Load() > 1 { // 0 when an earlier run left the template on the server
		t.Errorf("the schema was built %d times", built.Load())
	}
}

func TestNew_HasSchemaAndPlainRole(t *testing.T) {
	t.Parallel()
	// The service's tables are there, empty, and the role that owns them is an
	// ordinary one.
	db := open(t, pgtest.New(t))

	if got := count(t, db, "platforms"); got != 0 {
		t.Errorf("a fresh database holds %d platforms", got)
	}
	var super bool
	if err := db.QueryRow("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").Scan(&super); err != nil {
		t.Fatal(err)
	}
	if super {
		t.Error("tests run as a superuser, who may do what the service may not")
	}
}

func TestNewEmpty_HasNoTables(t *testing.T) {
	t.Parallel()
	// An empty database has no table of ours.
	db := open(t, pgtest.NewEmpty(t))
	if got := count(t, db, "pg_tables WHERE schemaname = 'public'"); got != 0 {
		t.Errorf("an empty database holds %d tables", got)
	}
}

func TestNewEmpty_DatabaseIsDroppedAfterTest(t *testing.T) {
	t.Parallel()
	// When a test has passed its database is gone, though it left a connection open.
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
		t.Errorf("database %s is still there", name)
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
