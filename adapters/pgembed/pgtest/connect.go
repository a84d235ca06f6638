package pgtest

import (
	"context"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Pool works on a database as the service does: in its role, with statements not
// prepared unless asked for. It is closed when the test ends.
func Pool(t testing.TB, url string, most int32) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = most
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
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

// ExecAsSuperuser runs statements on a database as somebody who may do everything and whom no
// trigger stops.
func ExecAsSuperuser(t testing.TB, database, statements string) {
	t.Helper()
	server, err := url.Parse(ServerURL(t))
	if err != nil {
		t.Fatal(err)
	}
	own, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	server.Path = own.Path
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
