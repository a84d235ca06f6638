package pgembed

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFlags_PinnedSettingsCannotChange(t *testing.T) {
	t.Parallel()
	// Neither Options nor ALTER SYSTEM can change the pinned settings. Other settings can be changed.
	for _, name := range slices.Sorted(maps.Keys(pinnedSettings)) {
		if _, err := (Options{Settings: map[string]string{name: "x"}}).flags(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("setting %s: %v", name, err)
		}
	}
	s := startServer(t, Options{Dir: initializedDir(t), MaxConnections: 33, Settings: map[string]string{"work_mem": "5MB"}})
	conn := connect(t, s.SuperuserURL())
	execSQL(t, conn, "ALTER SYSTEM SET fsync = off")
	execSQL(t, conn, "ALTER SYSTEM SET listen_addresses = '*'")
	execSQL(t, conn, "SELECT pg_reload_conf()")

	for name, want := range map[string]string{
		"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on", "listen_addresses": "",
		"max_connections": "33", "work_mem": "5MB", "shared_buffers": "128MB", "TimeZone": "UTC",
	} {
		if got := queryValue[string](t, connect(t, s.URL()), "SELECT current_setting('"+name+"')"); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestFlags_ThrowawayDisablesFsync(t *testing.T) {
	t.Parallel()
	// Throwaway disables fsync and synchronous_commit.
	s := startServer(t, Options{Dir: initializedDir(t), Throwaway: true})
	if got := queryValue[string](t, connect(t, s.URL()),
		"SELECT current_setting('fsync') || current_setting('synchronous_commit')"); got != "offoff" {
		t.Errorf("fsync and synchronous_commit are %s", got)
	}
}

func TestFlags_RejectsNegativeConnections(t *testing.T) {
	t.Parallel()
	// A negative number of connections is rejected.
	if _, err := (Options{MaxConnections: -1}).flags(); err == nil {
		t.Error("-1 connections are accepted")
	}
}

func TestServer_LogOmitsValues(t *testing.T) {
	t.Parallel()
	// The values of a failed statement are not in the server's log.
	dir := initializedDir(t)
	s := startServer(t, Options{Dir: dir})
	conn := connect(t, s.URL())
	execSQL(t, conn, "CREATE TABLE people (email text UNIQUE); INSERT INTO people VALUES ('secret@example.com')")

	for _, sql := range []string{
		"INSERT INTO people VALUES ('secret@example.com')",
		"SELECT 'secret@example.com'::uuid",
		"SELECT secret@example.com FROM",
		"DO $$ BEGIN RAISE WARNING 'secret@example.com'; END $$",
	} {
		if _, err := conn.Exec(t.Context(), sql); err == nil && !strings.HasPrefix(sql, "DO") {
			t.Errorf("%s succeeded", sql)
		}
	}

	// Errors of the superuser are in the log, without values and statements.
	operator := connect(t, strings.Replace(s.SuperuserURL(), "/"+superuser+"?", "/"+serviceDatabase+"?", 1))
	if _, err := operator.Exec(t.Context(), "INSERT INTO people VALUES ('secret@example.com')"); err == nil {
		t.Error("the operator's insert succeeded")
	}

	log, err := os.ReadFile(filepath.Join(dir, "postgres.log"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(log), "people_email_key") {
		t.Error("the log does not contain the operator's error")
	}
	if strings.Contains(string(log), "secret") {
		t.Errorf("the log contains values:\n%s", log)
	}
}
