package pgtest

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"causeway/adapters/postgres/schema"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Pool returns a connection pool that uses the service's role, sees the rows of all platforms and,
// like the service, has its codecs and does not prepare statements by default. It is closed when the test ends.
func Pool(t testing.TB, url string, maxConnections int32) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = maxConnections
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.ConnConfig.RuntimeParams["causeway.platform"] = "*"
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		schema.RegisterCodecs(conn.TypeMap())
		_, err := conn.Exec(ctx, "SET ROLE causeway_service")
		return err
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// SimulateClock returns a URL of the same database whose sessions may post at times that are not
// the present.
func SimulateClock(t testing.TB, database string) string {
	t.Helper()
	target, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	query := target.Query()
	query.Set("options", "-c causeway.simulated_clock=on")
	target.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	return target.String()
}

// ExecAsSuperuser runs statements on a database as a superuser, with triggers disabled.
func ExecAsSuperuser(t testing.TB, database, statements string) {
	t.Helper()
	server, err := url.Parse(ServerURL(t))
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	server.Path = target.Path
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, "SET session_replication_role = replica; "+statements); err != nil {
		t.Fatal(err)
	}
}

// Dump returns the content of every table of a database, in the text and the binary format of COPY.
func Dump(t testing.TB, database string) []byte {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	tables := conn.ExecParams(t.Context(), `SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'm') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')`, nil, nil, nil, nil).Read()
	if tables.Err != nil || len(tables.Rows) == 0 {
		t.Fatalf("%d tables, %v", len(tables.Rows), tables.Err)
	}
	var out bytes.Buffer
	for _, row := range tables.Rows {
		for _, format := range []string{"text", "binary"} {
			if _, err := conn.CopyTo(t.Context(), &out, fmt.Sprintf("COPY (SELECT * FROM %s) TO STDOUT (FORMAT %s)", row[0], format)); err != nil {
				t.Fatalf("%s: %v", row[0], err)
			}
		}
	}
	return out.Bytes()
}

// Connect returns a connection as the owner of the tables. It is closed when the test ends.
func Connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}
