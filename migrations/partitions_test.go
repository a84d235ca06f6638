package migrations_test

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"causeway/adapters/pgembed/pgtest"
	"causeway/migrations"
)

const (
	partitioned = `-- +goose Up
CREATE TABLE log (id int, kind text) PARTITION BY RANGE (id);
CREATE TABLE log_first PARTITION OF log FOR VALUES FROM (0) TO (100);
CREATE TABLE log_default PARTITION OF log DEFAULT;
INSERT INTO log SELECT n, 'old' FROM generate_series(1, 200) n;
`
	indexedParent = "-- +goose Up\nCREATE INDEX log_by_kind ON ONLY log (kind, id) WHERE kind <> '';\n"
)

func query[T any](t *testing.T, db *sql.DB, statement string) (value T) {
	t.Helper()
	if err := db.QueryRow(statement).Scan(&value); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return value
}

func mustExec(t *testing.T, db interface {
	Exec(query string, args ...any) (sql.Result, error)
}, statement string) {
	t.Helper()
	if _, err := db.Exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

const (
	validParts = `SELECT string_agg(c.relname, ' ' ORDER BY c.relname) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
		WHERE c.relname LIKE 'log%kind%' AND i.indisvalid`
	building = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'CREATE INDEX CONCURRENTLY%'
		AND wait_event_type = 'Lock'`
)

func TestUp_IndexesPartitionsWithoutBlockingWrites(t *testing.T) {
	t.Parallel()
	// An index of a parent alone is built for each partition there is, while rows are written: it waits for a transaction that has written,
	// and no other write waits for it. Partitions that come later have it too.
	url := pgtest.NewEmpty(t)
	db := openDB(t, url)
	if err := migrations.UpFrom(t.Context(), db, numberedFiles(partitioned)); err != nil {
		t.Fatal(err)
	}
	writer, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	mustExec(t, writer, "INSERT INTO log_first VALUES (1, 'open')")

	done := make(chan error, 1)
	go func() {
		done <- migrations.UpFrom(t.Context(), openDB(t, url), numberedFiles(partitioned, indexedParent))
	}()
	for query[int](t, db, building) == 0 {
		select {
		case err := <-done:
			t.Fatalf("it did not wait for the writer: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	mustExec(t, db, "SET lock_timeout = '5s'; INSERT INTO log VALUES (2, 'meanwhile'), (500, 'meanwhile')")
	if err := writer.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	mustExec(t, db, "CREATE TABLE log_second PARTITION OF log FOR VALUES FROM (1000) TO (2000)")

	const want = "log_by_kind log_default_by_kind log_first_by_kind log_second_kind_id_idx"
	if got := query[string](t, db, validParts); got != want {
		t.Errorf("valid indexes: %s, want %s", got, want)
	}
}

func TestUp_GoesOnIndexingPartitions(t *testing.T) {
	t.Parallel()
	// What an interrupted attempt has left is used if it is whole, and built again if it is not; then there is nothing more to do.
	db := openDB(t, pgtest.NewEmpty(t))
	if err := migrations.UpFrom(t.Context(), db, numberedFiles(partitioned)); err != nil {
		t.Fatal(err)
	}
	mustExec(t, db, "CREATE INDEX log_default_by_kind ON log_default (kind, id) WHERE kind <> ''")
	if _, err := db.Exec("CREATE UNIQUE INDEX CONCURRENTLY log_first_by_kind ON log_first (kind)"); err == nil {
		t.Fatal("an index of equal values was made unique") // it is left invalid
	}
	oid := `SELECT oid::int FROM pg_class WHERE relname = '`
	whole, broken := query[int](t, db, oid+"log_default_by_kind'"), query[int](t, db, oid+"log_first_by_kind'")

	for range 2 {
		if err := migrations.UpFrom(t.Context(), db, numberedFiles(partitioned, indexedParent)); err != nil {
			t.Fatal(err)
		}
		if got := query[string](t, db, validParts); got != "log_by_kind log_default_by_kind log_first_by_kind" {
			t.Errorf("valid indexes: %s", got)
		}
	}
	if query[int](t, db, oid+"log_default_by_kind'") != whole || query[int](t, db, oid+"log_first_by_kind'") == broken {
		t.Error("want the whole index and not the broken one")
	}
}

func TestUp_RefusesIndexesThatItCannotBuild(t *testing.T) {
	t.Parallel()
	for name, index := range map[string]struct{ sql, problem string }{
		"unique":      {"CREATE UNIQUE INDEX log_by_kind ON ONLY log (kind, id)", "unique"},
		"a long name": {"CREATE INDEX log_" + strings.Repeat("x", 56) + " ON ONLY log (kind)", "63 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := openDB(t, pgtest.NewEmpty(t))
			err := migrations.UpFrom(t.Context(), db, numberedFiles(partitioned, "-- +goose Up\n"+index.sql+";\n"))
			if err == nil || !strings.Contains(err.Error(), index.problem) {
				t.Errorf("%v, want an error about: %s", err, index.problem)
			}
			if n := query[int](t, db, "SELECT count(*) FROM pg_index WHERE indrelid = 'log_first'::regclass"); n > 0 {
				t.Errorf("%d indexes were built", n)
			}
		})
	}
}

func TestUp_PartitionIsDroppedBeforeItIsIndexed(t *testing.T) {
	t.Parallel()
	// Retention drops a partition while its index waits to be built. What is left is indexed.
	url := pgtest.NewEmpty(t)
	db := openDB(t, url)
	if err := migrations.UpFrom(t.Context(), db, numberedFiles(partitioned)); err != nil {
		t.Fatal(err)
	}
	mustExec(t, db, "CREATE INDEX log_by_kind ON ONLY log (kind, id) WHERE kind <> ''")
	retention, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	mustExec(t, retention, "LOCK TABLE log_default")

	done := make(chan error, 1)
	go func() { done <- migrations.Attempt(t.Context(), openDB(t, url), numberedFiles(partitioned), 2) }()
	for query[int](t, db, building) == 0 {
		select {
		case err := <-done:
			t.Fatalf("it did not wait for the drop: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	mustExec(t, retention, "DROP TABLE log_default")
	if err := retention.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := query[string](t, db, validParts); got != "log_by_kind log_first_by_kind" {
		t.Errorf("valid indexes: %s", got)
	}
}
