// Package pgtest gives each test a Postgres database of its own, in some tens of
// milliseconds: a copy of a template that is migrated once. All test programs of
// a `go test ./...` share one throw-away server, which comes up when it is first
// needed and goes away when it is not used for a while.
//
// CAUSEWAY_TEST_POSTGRES names another server instead, as the URL of a role that
// may create databases and roles. The package is for tests alone.
package pgtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/peterldowns/pgtestdb"

	"causeway/adapters/pgembed"
	"causeway/migrations"
)

// serverEnv names a Postgres to use instead of the shared one.
const serverEnv = "CAUSEWAY_TEST_POSTGRES"

// New is the URL of a fresh database with the service's schema. It is dropped
// when the test has passed, with whatever is still connected, and kept for a look
// (its URL is in the test's log) when the test has failed.
//
// The role of the URL owns the database and is not a superuser, as in production.
func New(t testing.TB) string {
	t.Helper()
	return NewWithSchema(t, Schema{Hash: migrations.Hash(), Up: migrations.Up})
}

// NewEmpty is the URL of a fresh database with nothing in it.
func NewEmpty(t testing.TB) string {
	t.Helper()
	return NewWithSchema(t, Schema{Hash: "empty", Up: func(context.Context, *sql.DB) error { return nil }})
}

// Schema is what a database holds before a test begins.
type Schema struct {
	// Hash differs whenever Up would leave something else behind.
	Hash string
	// Up fills an empty database. It runs once for all tests with the same Hash.
	Up func(ctx context.Context, db *sql.DB) error
}

// NewWithSchema is New for another schema.
func NewWithSchema(t testing.TB, schema Schema) string {
	t.Helper()
	url := ServerURL(t)
	config, err := pgtestdbConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	return pgtestdb.Custom(t, config, schemaMigrator{schema, url}).URL()
}

// ServerURL is the URL of the shared server, as a superuser.
func ServerURL(t testing.TB) string {
	t.Helper()
	server, err := sharedServer()
	if err != nil {
		t.Fatalf("no Postgres to test on: %v", err)
	}
	return server.url
}

// server is the shared server as this program uses it.
type server struct {
	url       string
	usersLock *os.File // tells the keeper that it is in use, until the program ends
}

var sharedServer = sync.OnceValues(func() (server, error) {
	if named := os.Getenv(serverEnv); named != "" {
		return server{url: named}, nil
	}
	dir, err := sharedFolder()
	if err != nil {
		return server{}, err
	}
	membership, err := lock(filepath.Join(dir, usersLockName), syscall.LOCK_SH)
	if err != nil {
		return server{}, err
	}
	if err := startHostProcess(dir, defaultIdleTimeout); err != nil {
		return server{}, err
	}
	url, ok := pgembed.RunningSuperuserURL(dir)
	if !ok {
		return server{}, fmt.Errorf("the shared server in %s went away", dir)
	}
	return server{url: url, usersLock: membership}, nil
})

// pgtestdbConfig says in pgtestdb's words what a server URL says. It wants the
// parts one by one; a unix socket goes into the options.
func pgtestdbConfig(server string) (pgtestdb.Config, error) {
	u, err := url.Parse(server)
	if err != nil {
		return pgtestdb.Config{}, fmt.Errorf("%s is not a URL: %w", serverEnv, err)
	}
	password, _ := u.User.Password()
	port := u.Port()
	if port == "" {
		port = "5432"
	}
	database := "postgres"
	if len(u.Path) > 1 {
		database = u.Path[1:]
	}
	return pgtestdb.Config{
		DriverName: "pgx",
		Host:       u.Hostname(),
		Port:       port,
		User:       url.QueryEscape(u.User.Username()),
		Password:   url.QueryEscape(password),
		Database:   database,
		Options:    u.RawQuery,
		TestRole: &pgtestdb.Role{
			Username: "causeway_test", Password: "causeway_test",
			// What a role needs that owns its database and makes the service's role.
			Capabilities: "NOSUPERUSER NOCREATEDB CREATEROLE",
		},
		ForceTerminateConnections: true,
	}, nil
}

// schemaMigrator is a Schema as pgtestdb wants it.
type schemaMigrator struct {
	schema Schema
	server string
}

func (m schemaMigrator) Hash() (string, error) { return m.schema.Hash, nil }

// Migrate fills the template. Roles belong to the whole server and Postgres does
// not let two sessions make one at once, so schemas are filled one at a time.
func (m schemaMigrator) Migrate(ctx context.Context, template *sql.DB, _ pgtestdb.Config) (err error) {
	server, err := sql.Open("pgx", m.server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }() // which gives the lock back
	turn, err := server.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, turn.Close()) }()
	if _, err := turn.ExecContext(ctx, "SELECT pg_advisory_lock(hashtext('causeway schema'))"); err != nil {
		return err
	}
	return m.schema.Up(ctx, template)
}
