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
	// Several users who come at once get one server; it stays as long as one of
	// them is there, then goes away by itself, and its data with it. The next user
	// gets another.
	dir := filepath.Join(t.TempDir(), "shared")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var memberships [4]*os.File
		var users sync.WaitGroup
		for i := range memberships {
			users.Go(func() {
				var err error
				if memberships[i], err = lock(filepath.Join(dir, usersLockName), syscall.LOCK_SH); err != nil {
					t.Error(err)
				}
				if err := startHostProcess(dir, 50*time.Millisecond); err != nil {
					t.Error(err)
				}
			})
		}
		users.Wait()
		for i, membership := range memberships {
			url, ok := pgembed.RunningSuperuserURL(dir)
			if !ok {
				t.Fatalf("no server for user %d", i)
			}
			ping(t, url)
			if err := membership.Close(); err != nil {
				t.Fatal(err)
			}
		}

		// The keeper holds the lock alone while it tidies up.
		gone := filepath.Join(dir, "postgres")
		deadline := time.After(30 * time.Second)
		for look := time.NewTicker(10 * time.Millisecond); ; {
			if _, err := os.Stat(gone); errors.Is(err, os.ErrNotExist) {
				look.Stop()
				break
			}
			select {
			case <-look.C:
			case <-deadline:
				t.Fatal("the server is still there")
			}
		}
	}
}

func TestStartHostProcess_ReportsFailure(t *testing.T) {
	t.Parallel()
	// Whoever waits for a server that cannot come up is told the reason.
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "postgres"), []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := startHostProcess(dir, time.Second); err == nil || !strings.Contains(err.Error(), "is not a folder") {
		t.Errorf("answers %v", err)
	}
}

func TestPgtestdbConfig_RoundTripsURLs(t *testing.T) {
	t.Parallel()
	// Whatever form the URL of a server has, what pgtestdb makes of it leads to the
	// same place.
	for url, want := range map[string]string{
		"postgres://postgres@/postgres?host=%2Frun%2Fpg&port=5433":  "postgres://postgres:@:5432/postgres?host=%2Frun%2Fpg&port=5433",
		"postgres://me:p%40ss@db.example:6000/work?sslmode=disable": "postgres://me:p%40ss@db.example:6000/work?sslmode=disable",
		"postgres://me@localhost":                                   "postgres://me:@localhost:5432/postgres?",
	} {
		config, err := pgtestdbConfig(url)
		if err != nil || config.URL() != want {
			t.Errorf("%s becomes %s (%v), want %s", url, config.URL(), err, want)
		}
	}
	if _, err := pgtestdbConfig("postgres://%zz"); err == nil {
		t.Error("a URL that is none passes")
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
