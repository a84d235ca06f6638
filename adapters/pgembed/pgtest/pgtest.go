// Package pgtest creates a Postgres database for each test in some tens of milliseconds, as a
// copy of a template that is migrated once. All test binaries of a `go test ./...` share one
// server without durability, which starts when it is needed and stops when unused for a while.
//
// CAUSEWAY_TEST_POSTGRES selects another server: the URL of a role that may create databases and
// roles. The package is only for tests.
package pgtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/peterldowns/pgtestdb"

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
	url := ServerURL(t)
	config, err := pgtestdbConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	return pgtestdb.Custom(t, config, schemaMigrator{schema, url}).URL()
}

// ServerURL returns the URL of the shared server as a superuser.
func ServerURL(t testing.TB) string {
	t.Helper()
	server, err := sharedServer()
	if err != nil {
		t.Fatalf("no Postgres for tests: %v", err)
	}
	return server.url
}

// server is the shared server as used by this test binary.
type server struct {
	url       string
	usersLock *os.File // held until this process ends; shows the host process that the server is in use
}

var sharedServer = sync.OnceValues(func() (server, error) {
	if configured := os.Getenv(serverEnv); configured != "" {
		return server{url: configured}, nil
	}
	dir, err := sharedFolder()
	if err != nil {
		return server{}, err
	}
	usersLock, err := lock(filepath.Join(dir, usersLockName), syscall.LOCK_SH)
	if err != nil {
		return server{}, err
	}
	if err := startHostProcess(dir, defaultIdleTimeout); err != nil {
		return server{}, err
	}
	url, ok := pgembed.RunningSuperuserURL(dir)
	if !ok {
		return server{}, fmt.Errorf("the shared server in %s has stopped", dir)
	}
	return server{url: url, usersLock: usersLock}, nil
})

// pgtestdbConfig converts a server URL to a pgtestdb configuration. A unix socket is passed in
// the options.
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
	options := u.Query()
	// A test opens many connections at once, which takes seconds on a busy machine. The service gives up earlier.
	if !options.Has("connect_timeout") {
		options.Set("connect_timeout", "180")
	}
	return pgtestdb.Config{
		DriverName: "pgx",
		Host:       u.Hostname(),
		Port:       port,
		User:       url.QueryEscape(u.User.Username()),
		Password:   url.QueryEscape(password),
		Database:   database,
		Options:    strings.ReplaceAll(options.Encode(), "+", "%20"),
		TestRole: &pgtestdb.Role{
			Username: "causeway_test", Password: "causeway_test",
			// The role owns its database and creates the service's role.
			Capabilities: "NOSUPERUSER NOCREATEDB CREATEROLE",
		},
		ForceTerminateConnections: true,
	}, nil
}

// schemaMigrator implements pgtestdb's Migrator for a Schema.
type schemaMigrator struct {
	schema Schema
	server string
}

func (m schemaMigrator) Hash() (string, error) { return m.schema.Hash, nil }

// Migrate fills the template. Two sessions cannot create the same role at the same time, and
// roles belong to the server, so Migrate runs once at a time.
func (m schemaMigrator) Migrate(ctx context.Context, template *sql.DB, _ pgtestdb.Config) (err error) {
	server, err := sql.Open("pgx", m.server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }() // which releases the lock
	conn, err := server.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(hashtext('causeway schema'))"); err != nil {
		return err
	}
	return m.schema.Up(ctx, template)
}
