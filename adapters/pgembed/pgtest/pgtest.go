// Package pgtest creates a Postgres database for each test in some tens of milliseconds, as a
// copy of a template that is migrated once. All test binaries of a `go test ./...` share one
// server without durability, which starts when it is needed and stops when unused for a while.
//
// CAUSEWAY_TEST_POSTGRES selects another server: the URL of a role that may create databases and
// roles. The package is only for tests.
package pgtest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"causeway/adapters/pgembed"
	"causeway/migrations"
)

// serverEnv is the environment variable for the URL of another server.
const serverEnv = "CAUSEWAY_TEST_POSTGRES"

// New returns the URL of a new database with the service's schema. The database is dropped when
// the test passes, even if clients are connected. It is kept when the test fails; its URL is in
// the test's log.
//
// The role of the URL owns the database and is not a superuser, as in production.
func New(t testing.TB) string {
	t.Helper()
	return NewWithSchema(t, Schema{Hash: migrations.Hash(), Up: migrations.Up})
}

// NewEmpty returns the URL of a new empty database.
func NewEmpty(t testing.TB) string {
	t.Helper()
	return NewWithSchema(t, Schema{Hash: "empty", Up: func(context.Context, *sql.DB) error { return nil }})
}

// Schema is the initial content of a test database.
type Schema struct {
	// Hash must differ if the result of Up differs.
	Hash string
	// Up fills an empty database. It runs once for all tests with the same Hash.
	Up func(ctx context.Context, db *sql.DB) error
}

// NewWithSchema is like New with another schema.
func NewWithSchema(t testing.TB, schema Schema) string {
	t.Helper()
	database, drop, err := create(t.Context(), schema)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("test database: %s", database)
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		if err := drop(); err != nil {
			t.Error(err)
		}
	})
	return database
}

// Create is New for a database that several tests share: the caller drops it.
func Create(ctx context.Context) (database string, drop func() error, err error) {
	return create(ctx, Schema{Hash: migrations.Hash(), Up: migrations.Up})
}

func create(ctx context.Context, schema Schema) (database string, drop func() error, err error) {
	server, err := sharedServer()
	if err != nil {
		return "", nil, fmt.Errorf("no Postgres for tests: %w", err)
	}
	template, err := server.template(ctx, schema)
	if err != nil {
		return "", nil, err
	}
	name := "causeway_test_" + strings.ToLower(rand.Text())
	if err := server.copyDatabase(ctx, template, name); err != nil {
		return "", nil, err
	}
	return server.urlOf(testRole, name), func() error {
		if err := server.exec(context.Background(), `DROP DATABASE "`+name+`" WITH (FORCE)`); err != nil {
			return fmt.Errorf("drop the test database: %w", err)
		}
		return nil
	}, nil
}

// ServerURL returns the URL of the shared server as a superuser.
func ServerURL(t testing.TB) string {
	t.Helper()
	server, err := sharedServer()
	if err != nil {
		t.Fatalf("no Postgres for tests: %v", err)
	}
	return server.url.String()
}

var sharedServer = sync.OnceValues(func() (*server, error) {
	if configured := os.Getenv(serverEnv); configured != "" {
		return newServer(configured, nil)
	}
	dir, err := sharedFolder()
	if err != nil {
		return nil, err
	}
	usersLock, err := lock(filepath.Join(dir, usersLockName), syscall.LOCK_SH)
	if err != nil {
		return nil, err
	}
	if err := startHostProcess(dir, defaultIdleTimeout); err != nil {
		return nil, err
	}
	url, ok := pgembed.RunningSuperuserURL(dir)
	if !ok {
		return nil, fmt.Errorf("the shared server in %s has stopped", dir)
	}
	return newServer(url, usersLock)
})
