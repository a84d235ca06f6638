package migrations_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"causeway/adapters/pgembed/pgtest"
	"causeway/migrations"
)

// first and second are small migrations; broken fails after it has created a table.
const (
	first  = "-- +goose Up\nCREATE TABLE one (id int);\n"
	second = "-- +goose Up\nCREATE TABLE two (id int);\n"
	broken = "-- +goose Up\nCREATE TABLE two (id int);\nSELECT no_such_function();\n"
)

func TestUp_CreatesSchema(t *testing.T) {
	t.Parallel()
	// All files apply to an empty database (pgtest does that), and a second time there is
	// nothing to do.
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
	// Several processes that start at the same time on an empty database all find it migrated,
	// and each file is applied once.
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
				t.Error("Up returned before the schema was complete")
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
	// A file that fails is rolled back; the files before it stay, and it can be applied once it
	// is corrected.
	db := openDB(t, pgtest.NewEmpty(t))

	if err := migrations.UpFrom(t.Context(), db, numberedFiles(first, broken)); err == nil {
		t.Fatal("the broken file was applied")
	}

	if !hasTable(t, db, "one") || hasTable(t, db, "two") {
		t.Error("want the table of the good file and not that of the broken one")
	}
	if err := migrations.UpFrom(t.Context(), db, numberedFiles(first, second)); err != nil {
		t.Fatal(err)
	}
	if !hasTable(t, db, "two") {
		t.Error("the corrected file was not applied")
	}
}

func TestApply_ReportsFilesAndVersions(t *testing.T) {
	t.Parallel()
	// The result names each applied file and the versions before and after: for an empty database,
	// when there is nothing to do, for an upgrade, and for the files before one that failed.
	db := openDB(t, pgtest.NewEmpty(t))
	for _, c := range []struct {
		files    fs.FS
		from, to int64
		applied  []string
		failed   bool
	}{
		{numberedFiles(first), 0, 1, []string{"00001_step.sql"}, false},
		{numberedFiles(first), 1, 1, nil, false},
		{numberedFiles(first, second, broken), 1, 2, []string{"00002_step.sql"}, true},
	} {
		result, err := migrations.ApplyFrom(t.Context(), db, c.files)

		var applied []string
		for _, f := range result.Applied {
			applied = append(applied, f.Name)
		}
		if (err != nil) != c.failed || result.From != c.from || result.To != c.to || !slices.Equal(applied, c.applied) {
			t.Errorf("from %d to %d with %q, %v; want from %d to %d with %q", result.From, result.To, applied, err, c.from, c.to, c.applied)
		}
	}
}

func TestUp_NewerDatabaseRefused(t *testing.T) {
	t.Parallel()
	// A program refuses a database that a newer release has migrated.
	db := openDB(t, pgtest.NewEmpty(t))
	if err := migrations.UpFrom(t.Context(), db, numberedFiles(first, second)); err != nil {
		t.Fatal(err)
	}
	if err := migrations.UpFrom(t.Context(), db, numberedFiles(first)); !errors.Is(err, migrations.ErrNewerDatabase) {
		t.Errorf("Up by an old program: %v", err)
	}
}

func TestHash_DiffersBySchema(t *testing.T) {
	t.Parallel()
	// Any change of a name, of content or of the boundary between two files gives another hash;
	// the same files give the same hash.
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
			t.Errorf("schemas %d and %d have the same hash", other, i)
		}
		seen[hash] = i
		if again, _ := migrations.HashOf(f); again != hash {
			t.Error("the same schema has two hashes")
		}
	}
	if !regexp.MustCompile("^[0-9a-f]{64}$").MatchString(migrations.Hash()) {
		t.Errorf("the hash of the schema is %q", migrations.Hash())
	}
}

func TestUp_WaitsForNoLock(t *testing.T) {
	t.Parallel()
	// A file that cannot have its lock within a second is not applied: nothing waits behind it for longer. The error names
	// the file and says what to do, and once the lock is free a later attempt applies the file.
	files := numberedFiles(first, "-- +goose Up\nSET LOCAL lock_timeout = '1s';\nALTER TABLE one ADD COLUMN name text;\n")
	db := openDB(t, pgtest.NewEmpty(t))
	if err := migrations.UpFrom(t.Context(), db, numberedFiles(first)); err != nil {
		t.Fatal(err)
	}
	report, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := report.Exec("SELECT FROM one"); err != nil {
		t.Fatal(err)
	}

	err = migrations.UpFrom(t.Context(), db, files)

	if err == nil || !strings.Contains(err.Error(), "00002_step.sql waited a second for a table") ||
		!strings.Contains(err.Error(), "run causeway migrate again") {
		t.Errorf("beside a long report: %v", err)
	}
	ended := make(chan error, 1)
	time.AfterFunc(200*time.Millisecond, func() { ended <- report.Rollback() })
	if err := migrations.Attempt(t.Context(), db, files, 10); err != nil {
		t.Errorf("although the report ends: %v", err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestFiles_KeepTheRules(t *testing.T) {
	t.Parallel()
	// Each file after the baseline can fail for a lock instead of waiting for it, be repeated after it failed, and says whether
	// the previous version runs beside it.
	names, err := fs.Glob(migrations.Files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	baseline := names[:migrations.LastOfBaseline]
	for _, name := range names {
		text, err := fs.ReadFile(migrations.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		if broken := brokenRule(string(text)); broken != "" && !slices.Contains(baseline, name) {
			t.Errorf("%s %s", name, broken)
		}
	}
}

func TestBrokenRule(t *testing.T) {
	t.Parallel()
	// What the rules allow and what they do not.
	const (
		runs    = "-- The previous version runs beside it.\n"
		timeout = "-- +goose Up\n" + runs + "-- Why.\nSET LOCAL lock_timeout = '1s';\n"
		outside = "-- +goose NO TRANSACTION\n-- +goose Up\n" + runs
		silent  = "does not say whether the previous version runs beside it, or why it must be stopped"
	)
	for text, want := range map[string]string{
		timeout + "ALTER TABLE a ADD COLUMN b int;":                                                             "",
		strings.ReplaceAll(timeout, runs, ""):                                                                   silent,
		strings.ReplaceAll(timeout, runs, "-- The previous version must be stopped.\n"):                         silent,
		strings.ReplaceAll(timeout, runs, "-- The previous version must be stopped: \n"):                        silent,
		strings.ReplaceAll(timeout, runs, "-- The previous version must be stopped: it writes the column a.\n"): "",
		"-- +goose Up\n" + runs + "ALTER TABLE a ADD COLUMN b int;": "waits for locks: it needs SET " +
			"LOCAL lock_timeout",
		outside + "DROP INDEX CONCURRENTLY IF EXISTS i; -- left\nCREATE UNIQUE INDEX CONCURRENTLY i ON a (b);": "",
		outside + "CREATE INDEX CONCURRENTLY i ON a (b);": "cannot be repeated after it " +
			"failed to create i",
		outside + "DROP INDEX CONCURRENTLY IF EXISTS i;\nCREATE INDEX CONCURRENTLY IF NOT EXISTS i ON a (b);": "cannot be repeated after it " +
			"failed to create i",
		timeout + "CREATE INDEX i ON a (b);": "creates i and blocks writes " +
			"meanwhile: it needs CONCURRENTLY",
		timeout + "CREATE INDEX i ON ONLY a (b);":                     "",
		timeout + "CREATE TABLE a (b int);\nCREATE INDEX i ON a (b);": "",
	} {
		if got := brokenRule(text); got != want {
			t.Errorf("%s\n%q, want %q", text, got, want)
		}
	}
}

var (
	lockTimeout   = regexp.MustCompile(`(?m)^SET LOCAL lock_timeout = '1s';$`)
	createdIndex  = regexp.MustCompile(`CREATE (?:UNIQUE )?INDEX (CONCURRENTLY )?(IF NOT EXISTS )?(\w+) ON (ONLY )?(\w+)`)
	noTransaction = "-- +goose NO TRANSACTION\n"
)

// brokenRule returns the rule of README.md that a migration breaks; empty for none. A failed CREATE INDEX CONCURRENTLY
// leaves an invalid index: the file drops it, and IF NOT EXISTS would take it for the finished one.
func brokenRule(text string) string {
	if !migrations.PreviousVersion.MatchString(text) {
		return "does not say whether the previous version runs beside it, or why it must be stopped"
	}
	if !strings.HasPrefix(text, noTransaction) && !lockTimeout.MatchString(text) {
		return "waits for locks: it needs SET LOCAL lock_timeout"
	}
	for _, index := range createdIndex.FindAllStringSubmatch(text, -1) {
		concurrently, ifNotExists, name, only, table := index[1] != "", index[2] != "", index[3], index[4] != "", index[5]
		switch {
		case only: // of a partitioned table, whose partitions have theirs already
		case !concurrently && !strings.Contains(text, "CREATE TABLE "+table+" ("):
			return "creates " + name + " and blocks writes meanwhile: it needs CONCURRENTLY"
		case concurrently && (ifNotExists || !strings.Contains(text, "DROP INDEX CONCURRENTLY IF EXISTS "+name+";")):
			return "cannot be repeated after it failed to create " + name
		}
	}
	return ""
}

// numberedFiles returns migrations numbered from 1.
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
