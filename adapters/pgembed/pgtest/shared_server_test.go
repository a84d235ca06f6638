package pgtest

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"causeway/adapters/pgembed"
)

func TestSharedServer_StopsAfterLastUser(t *testing.T) {
	t.Parallel()
	// Concurrent users share one server. It runs until the last user has ended, then stops and
	// removes its data. The next user gets a new one.
	dir := filepath.Join(t.TempDir(), "shared")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var locks [4]*os.File
		var users sync.WaitGroup
		for i := range locks {
			users.Go(func() {
				var err error
				if locks[i], err = lock(filepath.Join(dir, usersLockName), syscall.LOCK_SH); err != nil {
					t.Error(err)
				}
				if err := startHostProcess(dir, 50*time.Millisecond); err != nil {
					t.Error(err)
				}
			})
		}
		users.Wait()
		for i, userLock := range locks {
			url, ok := pgembed.RunningSuperuserURL(dir)
			if !ok {
				t.Fatalf("no server for user %d", i)
			}
			ping(t, url)
			if err := userLock.Close(); err != nil {
				t.Fatal(err)
			}
		}

		// The host process holds the exclusive lock while it cleans up.
		data := filepath.Join(dir, "postgres")
		deadline := time.After(3 * time.Minute)
		for poll := time.NewTicker(10 * time.Millisecond); ; {
			if _, err := os.Stat(data); errors.Is(err, os.ErrNotExist) {
				poll.Stop()
				break
			}
			select {
			case <-poll.C:
			case <-deadline:
				t.Fatal("the server is still running")
			}
		}
	}
}

func TestStartHostProcess_ReportsFailure(t *testing.T) {
	t.Parallel()
	// A user of a server that cannot start gets the reason.
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "postgres"), []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := startHostProcess(dir, time.Second); err == nil || !strings.Contains(err.Error(), "is not a folder") {
		t.Errorf("got %v", err)
	}
}

func TestNewServer_RoundTripsURLs(t *testing.T) {
	t.Parallel()
	// The URL of a server and those of its databases lead to the same server, with a long time to connect unless it says one.
	for url, want := range map[string]struct{ server, database string }{
		"postgres://postgres@/postgres?host=%2Frun%2Fpg&port=5433": {
			"postgres://postgres@/postgres?connect_timeout=180&host=%2Frun%2Fpg&port=5433",
			"postgres://ana:ana@/one?connect_timeout=180&host=%2Frun%2Fpg&port=5433"},
		"postgres://me:p%40ss@db.example:6000/work?sslmode=disable": {
			"postgres://me:p%40ss@db.example:6000/work?connect_timeout=180&sslmode=disable",
			"postgres://ana:ana@db.example:6000/one?connect_timeout=180&sslmode=disable"},
		"postgres://me@localhost?connect_timeout=7": {
			"postgres://me@localhost/postgres?connect_timeout=7", "postgres://ana:ana@localhost/one?connect_timeout=7"},
	} {
		s, err := newServer(url, nil)
		if err != nil || s.url.String() != want.server || s.urlOf("ana", "one") != want.database {
			t.Errorf("%s becomes %s and %s (%v), want %s", url, s.url, s.urlOf("ana", "one"), err, want)
		}
	}
	if _, err := newServer("postgres://%zz", nil); err == nil {
		t.Error("an invalid URL was accepted")
	}
}

func ping(t *testing.T, url string) {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Ping(), db.Close()); err != nil {
		t.Error(err)
	}
}
