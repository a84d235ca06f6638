package pgtest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
)

// testRole is the name and the password of the role that owns test databases. It creates the service's role.
const testRole = "causeway_test"

// server is the shared server as used by this test binary.
type server struct {
	url       *url.URL // of a superuser
	admin     *sql.DB  // as the superuser, for as long as this process runs
	usersLock *os.File // held until this process ends; shows the host process that the server is in use
	templates sync.Map // what template returns, by hash
}

func newServer(address string, usersLock *os.File) (*server, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("%s is not a URL: %w", serverEnv, err)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/postgres"
	}
	options := u.Query()
	// A test opens many connections at once, which takes seconds on a busy machine. The service gives up earlier.
	if !options.Has("connect_timeout") {
		options.Set("connect_timeout", "180")
	}
	u.RawQuery = strings.ReplaceAll(options.Encode(), "+", "%20")
	admin, err := sql.Open("pgx", u.String())
	if err != nil {
		return nil, fmt.Errorf("open the server for tests: %w", err)
	}
	admin.SetMaxOpenConns(4)
	admin.SetMaxIdleConns(4)
	return &server{url: u, admin: admin, usersLock: usersLock}, nil
}

// urlOf returns the URL of a database for a role whose password is its name.
func (s *server) urlOf(role, database string) string {
	u := *s.url
	u.User, u.Path = url.UserPassword(role, role), "/"+database
	return u.String()
}

func (s *server) exec(ctx context.Context, statement string) error {
	_, err := s.admin.ExecContext(ctx, statement)
	return err
}

// copyDatabase creates a database with the content of another. Its files are copied: the default of Postgres, which writes
// each page to its log, takes three times as long.
func (s *server) copyDatabase(ctx context.Context, from, to string) error {
	if err := s.exec(ctx, `CREATE DATABASE "`+to+`" TEMPLATE "`+from+`" STRATEGY file_copy OWNER `+testRole); err != nil {
		return fmt.Errorf("create the test database: %w", err)
	}
	return nil
}

// template returns the name of a database with a schema, which it creates unless this or another process has.
func (s *server) template(ctx context.Context, schema Schema) (string, error) {
	create, _ := s.templates.LoadOrStore(schema.Hash, sync.OnceValues(func() (string, error) {
		hash := sha256.Sum256([]byte(schema.Hash))
		name := "causeway_template_" + hex.EncodeToString(hash[:16])
		return name, s.createTemplate(context.WithoutCancel(ctx), name, schema)
	}))
	return create.(func() (string, error))()
}

// createTemplate creates a template under another name, and renames it when it is complete. One process does so at a time,
// because two sessions cannot create the same role at the same time, and roles belong to the server.
func (s *server) createTemplate(ctx context.Context, name string, schema Schema) (err error) {
	conn, err := pgx.Connect(ctx, s.url.String())
	if err != nil {
		return fmt.Errorf("connect to the server for tests: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }() // which releases the lock
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtext('causeway schema'))"); err != nil {
		return err
	}
	var role, exists bool
	if err := conn.QueryRow(ctx, `SELECT to_regrole($1) IS NOT NULL, EXISTS (SELECT FROM pg_database WHERE datname = $2)`, testRole, name).
		Scan(&role, &exists); err != nil || exists {
		return err
	}
	if !role {
		// It is not a superuser and creates no database, as in production.
		if _, err := conn.Exec(ctx, "CREATE ROLE "+testRole+" LOGIN CREATEROLE PASSWORD '"+testRole+"'"); err != nil {
			return err
		}
	}
	incomplete := name + "_incomplete"
	for _, statement := range []string{`DROP DATABASE IF EXISTS "` + incomplete + `" WITH (FORCE)`, `CREATE DATABASE "` + incomplete +
		`" OWNER ` + testRole} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	database, err := sql.Open("pgx", s.urlOf(testRole, incomplete))
	if err != nil {
		return err
	}
	if err := errors.Join(schema.Up(ctx, database), database.Close()); err != nil {
		return fmt.Errorf("fill the template of test databases: %w", err)
	}
	_, err = conn.Exec(ctx, `ALTER DATABASE "`+incomplete+`" RENAME TO "`+name+`"`)
	return err
}
