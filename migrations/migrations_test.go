package migrations_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"regexp"
	"sync"
	"testing"
	"testing/fstest"

	"causeway/adapters/pgembed/pgtest"
	"causeway/migrations"
)

// first and second are small migrations; broken fails after it has made a table.
const (
	first  = "-- +goose Up\nCREATE TABLE one (id int);\n"
	second = "-- +goose Up\nCREATE TABLE two (id int);\n"
	broken = "-- +goose Up\nCREATE TABLE two (id int);\nSELECT no_such_function();\n"
)

func TestUp_CreatesSchema(t *testing.T) {
	t.Parallel()
	// Every file of the program applies to an empty database (which is what a fresh
	// test database has behind it), and a second time there is nothing to do.
	db := openDB(t, pgtest.New(t))
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if !hasTable(t, db, "platforms") {
		t.Error("the schema has no platforms")
	}
}

func TestUp_ConcurrentProcesses(t *testing.T) {
	t.Parallel()
	// Several processes that start together on an empty database all find it
	// migrated, and each file has been applied once.
	url := pgtest.NewEmpty(t)
	var starts sync.WaitGroup
	for range 4 {
		starts.Go(func() {
			db, err := sql.Open("pgx", url)
			if err != nil {
				t.Error(err)
				return
			}
			defer db.Close()
			if err := migrations.UpFrom(t.Context(), db, numberedFiles(first, second)); err != nil {
				t.Error(err)
			}
			if !hasTable(t, db, "two") {
				t.Error("a process goes on before the schema is there")
			}
		})
	}
	starts.Wait()

	var applied int
	if err := openDB(t, url).QueryRow("SELECT count(*) FROM schema_migrations WHERE version_id > 0").Scan(&applied); err != nil {
		t.Fatal(err)
	}
	if applied != 2 {
		t.Errorf("%d files were applied, want 2", applied)
	}
}

func TestUp_FileIsAtomic(t *testing.T) {
	t.Parallel()
	// A file that fails half-way leaves nothing of itself; the ones before it stay,
	// and once it is mended it goes through.
	db := openDB(t, pgtest.NewEmpty(t))

	if err := migrations.UpFrom(t.Context(), db, numberedFiles(first, broken)); err == nil {
		t.Fatal("a broken file passes")
	}

	if !hasTable(t, db, "one") || hasTable(t, db, "two") {
		t.Error("want the table of the good file and not that of the broken one")
	}
	if err := migrations.UpFrom(t.Context(), db, numberedFiles(first, second)); err != nil {
		t.Fatal(err)
	}
	if !hasTable(t, db, "two") {
		t.Error("the mended file was not applied")
	}
}

func TestUp_NewerDatabaseRefused(t *testing.T) {
	t.Parallel()
	// A program that knows less than the database has does not work on it.
	db := openDB(t, pgtest.NewEmpty(t))
	if err := migrations.UpFrom(t.Context(), db, numberedFiles(first, second)); err != nil {
		t.Fatal(err)
	}
	if err := migrations.UpFrom(t.Context(), db, numberedFiles(first)); !errors.Is(err, migrations.ErrNewerDatabase) {
		t.Errorf("an old program is answered %v", err)
	}
}

func TestHash_DiffersBySchema(t *testing.T) {
	t.Parallel()
	// Any change of a name, a content or the border between two files is another
	// schema; the same files are the same schema.
	seen := map[string]int{}
	for i, f := range []fs.FS{
		numberedFiles(first), numberedFiles(first, second), numberedFiles(second, first), numberedFiles(first, second+" "),
		fstest.MapFS{"00001_other.sql": {Data: []byte(first)}}, numberedFiles(first + second),
	} {
		hash, err := migrations.HashOf(f)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[hash]; ok {
			t.Errorf("schemas %d and %d have one hash", other, i)
		}
		seen[hash] = i
		if again, _ := migrations.HashOf(f); again != hash {
			t.Error("one schema has two hashes")
		}
	}
	if !regexp.MustCompile("^[0-9a-f]{64}$").MatchString(migrations.Hash()) {
		t.Errorf("the hash of the schema is %q", migrations.Hash())
	}
}

// numberedFiles are migrations numbered from 1.
func numberedFiles(sql ...string) fstest.MapFS {
	tree := fstest.MapFS{}
	for i, text := range sql {
		tree["0000"+string(rune('1'+i))+"_step.sql"] = &fstest.MapFile{Data: []byte(text)}
	}
	return tree
}

func openDB(t *testing.T, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func hasTable(t *testing.T, db *sql.DB, name string) (has bool) {
	t.Helper()
	if err := db.QueryRow("SELECT to_regclass($1) IS NOT NULL", name).Scan(&has); err != nil {
		t.Error(err)
	}
	return has
}
