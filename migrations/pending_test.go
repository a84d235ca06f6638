package migrations_test

import (
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"causeway/adapters/pgembed/pgtest"
	"causeway/migrations"
)

func TestPlan_ListsPending(t *testing.T) {
	t.Parallel()
	// The plan of an empty database is every file, that of a migrated one is empty, and of one between them the later files.
	// Making it changes nothing.
	all, err := migrations.Plan(t.Context(), openDB(t, pgtest.NewEmpty(t)))
	if err != nil || len(all) < migrations.LastOfBaseline || all[0].Name != "00001_foundations.sql" || all[0].Stop != "" {
		t.Errorf("of an empty database: %v, %v", all, err)
	}
	current := openDB(t, pgtest.New(t))
	if pending, err := migrations.Plan(t.Context(), current); err != nil || len(pending) != 0 {
		t.Errorf("of a migrated database: %v, %v", pending, err)
	}
	if _, err := current.Exec("DELETE FROM schema_migrations WHERE version_id > 20"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if pending, err := migrations.Plan(t.Context(), current); err != nil || !slices.Equal(pending, all[20:]) {
			t.Errorf("of version 20: %v, %v; want %v", pending, err, all[20:])
		}
	}
	if _, err := current.Exec("INSERT INTO schema_migrations (version_id, is_applied) VALUES (99999, true)"); err != nil {
		t.Fatal(err)
	}
	if _, err := migrations.Plan(t.Context(), current); !errors.Is(err, migrations.ErrNewerDatabase) {
		t.Errorf("of a newer database: %v", err)
	}
}

func TestApply_PreviousVersionIsStoppedBefore(t *testing.T) {
	t.Parallel()
	// A file that the previous version cannot run beside is not applied, nor is one before it, while a process is connected; the
	// error says which file, why, and who is connected. A file that it can run beside is applied, and so are all when the process
	// has stopped, and on an empty database.
	const add = "-- +goose Up\n-- The previous version runs beside it.\nCREATE TABLE %;\n"
	released := fstest.MapFS{"00019_one.sql": {Data: []byte(strings.ReplaceAll(add, "%", "one (id int)"))}}
	beside := fstest.MapFS{"00020_two.sql": {Data: []byte(strings.ReplaceAll(add, "%", "two (id int)"))}}
	stops := fstest.MapFS{"00021_three.sql": {Data: []byte(strings.ReplaceAll(add, "%", "three (id int)"))},
		"00022_drop.sql": {Data: []byte("-- +goose Up\n-- The previous version must be stopped: it reads the table one.\nDROP TABLE one;\n")}}
	for name, file := range released {
		beside[name] = file
	}
	for name, file := range beside {
		stops[name] = file
	}
	url := pgtest.NewEmpty(t)
	db := openDB(t, url)
	if err := migrations.UpFrom(t.Context(), db, released); err != nil {
		t.Fatal(err)
	}
	process := openProcess(t, url)

	if err := migrations.UpFrom(t.Context(), db, beside); err != nil || !hasTable(t, db, "two") {
		t.Errorf("a file that it can run beside: %v", err)
	}
	err := migrations.UpFrom(t.Context(), db, stops)
	if !errors.Is(err, migrations.ErrPreviousRuns) {
		t.Fatalf("while a process is connected: %v", err)
	}
	for _, part := range []string{"00022_drop.sql (it reads the table one)", ": 1)", "run causeway migrate again"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error lacks %q: %v", part, err)
		}
	}
	if hasTable(t, db, "three") || !hasTable(t, db, "one") {
		t.Error("a file was applied")
	}
	if err := process.Close(); err != nil {
		t.Fatal(err)
	}
	err = migrations.ErrPreviousRuns
	for end := time.Now().Add(time.Minute); errors.Is(err, migrations.ErrPreviousRuns) && time.Now().Before(end); {
		err = migrations.UpFrom(t.Context(), db, stops) // the server ends the session a moment after the process
	}
	if err != nil || !hasTable(t, db, "three") || hasTable(t, db, "one") {
		t.Errorf("after the process has stopped: %v", err)
	}
	empty := pgtest.NewEmpty(t)
	openProcess(t, empty)
	if err := migrations.UpFrom(t.Context(), openDB(t, empty), stops); err != nil {
		t.Errorf("on an empty database: %v", err)
	}
}

// openProcess opens a session as a process that serves has it.
func openProcess(t *testing.T, url string) *sql.DB {
	t.Helper()
	process := openDB(t, url)
	process.SetMaxOpenConns(1)
	if _, err := process.Exec("SET application_name = 'causeway watch'"); err != nil {
		t.Fatal(err)
	}
	return process
}
