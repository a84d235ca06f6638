package kit

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestPostgres_KillAndFailover(t *testing.T) {
	t.Parallel()
	// A killed server has its commits when it is started again, on the same address. Its standby has
	// them too, and accepts writes once it is promoted; the URL of both leads to it.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dir, err := PostgresFolder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	server, err := CreatePostgres(ctx, filepath.Join(dir, "primary"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	standby, err := server.NewStandby(ctx, filepath.Join(dir, "standby"), "standby")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(standby.Kill)

	runSQL(ctx, t, server.URL(), "CREATE TABLE commits (n int)")
	if err := server.Exec(ctx, "ALTER SYSTEM SET synchronous_standby_names = 'standby'"); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	if err := server.Start(ctx); err != nil {
		t.Fatal(err)
	}
	runSQL(ctx, t, FailoverURL(standby, server), "INSERT INTO commits VALUES (1)")
	server.Kill()
	if err := standby.Exec(ctx, "SELECT pg_promote()"); err != nil {
		t.Fatal(err)
	}

	if rows := runSQL(ctx, t, FailoverURL(server, standby), "UPDATE commits SET n = 2"); rows != 1 {
		t.Errorf("the standby has %d of 1 commits", rows)
	}
}

// runSQL runs a statement, and returns how many rows it changed.
func runSQL(ctx context.Context, t *testing.T, url, statement string) int64 {
	t.Helper()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	tag, err := conn.Exec(ctx, statement)
	if err != nil {
		t.Fatal(err)
	}
	return tag.RowsAffected()
}
