package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/ports/portstest"
)

func TestOpen_SessionsHaveTheirOwnSettings(t *testing.T) {
	t.Parallel()
	// The settings that statements depend on are those of the session, whatever the server's are.
	db := openWith(t, postgres.Options{URL: pgtest.New(t), MaxConnections: 1, MaxReadConnections: 1,
		Clock: portstest.NewFakeClock(noon)})
	common := map[string]string{"jit": "off", "random_page_cost": "1.1", "TimeZone": "UTC", "lock_timeout": "3s", "statement_timeout": "30s",
		"enable_seqscan": "off", "plan_cache_mode": "force_generic_plan", "client_connection_check_interval": "5s", "role": "causeway_service"}
	work, reads := maps.Clone(common), maps.Clone(common)
	work["idle_in_transaction_session_timeout"], work["default_transaction_read_only"] = "5s", "off"
	reads["idle_in_transaction_session_timeout"], reads["default_transaction_read_only"] = "1min", "on"
	work["application_name"], reads["application_name"] = "causeway work", "causeway readers"
	work["causeway.platform"], reads["causeway.platform"] = "", ""

	for _, c := range []struct {
		name string
		pool interface {
			QueryRow(context.Context, string, ...any) pgx.Row
		}
		want map[string]string
	}{{"work", db.Pool(), work}, {"reads", db.ReadPool(), reads}} {
		for name, want := range c.want {
			var got string
			if err := c.pool.QueryRow(t.Context(), "SELECT current_setting($1)", name).Scan(&got); err != nil || got != want {
				t.Errorf("%s: %s = %q (%v), want %q", c.name, name, got, err, want)
			}
		}
	}
}

func TestOpen_FindsThePrimary(t *testing.T) {
	t.Parallel()
	// With target_session_attrs=read-write, as operators set it for a failover, all connections are
	// to the primary, including those of readers, whose sessions are read-only.
	db := openWith(t, postgres.Options{URL: pgtest.New(t) + "&target_session_attrs=read-write", MaxConnections: 1,
		MaxReadConnections: 1})

	var refused *pgconn.PgError
	_, err := db.ReadPool().Exec(t.Context(), "DELETE FROM quotes")
	if !errors.As(err, &refused) || refused.Code != "25006" {
		t.Errorf("a reader writes: got %v, want that its transaction is read-only", err)
	}
}

func TestOpen_ServerThatDoesNotRespondIsGivenUp(t *testing.T) {
	t.Parallel()
	// A host that accepts connections and then says nothing does not block the caller for ever,
	// although its context has no deadline.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	url := "postgres://me@" + listener.Addr().String() + "/db?sslmode=disable&connect_timeout=1"

	db, err := postgres.Open(context.Background(), postgres.Options{URL: url})

	if err == nil {
		db.Close()
		t.Fatal("connected to nothing")
	}
	owner, err := postgres.OpenOwner(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = owner.Close() })
	if err := owner.PingContext(context.Background()); err == nil {
		t.Error("the owner connected to nothing")
	}
}

func TestOpen_SlowServerIsWaitedForAsTheURLSays(t *testing.T) {
	t.Parallel()
	// connect_timeout of the URL is the limit for the first statements of a session too. They take longer here than
	// the default.
	database, err := url.Parse(pgtest.New(t))
	if err != nil {
		t.Fatal(err)
	}
	query := database.Query()
	database.Host = delayFirstStatement(t, database.String(), 6*time.Second)
	query.Del("host")
	query.Del("port")
	query.Set("sslmode", "disable")
	query.Set("connect_timeout", "600")
	database.RawQuery = query.Encode()

	db, err := postgres.Open(t.Context(), postgres.Options{URL: database.String(), MaxConnections: 1, Clock: portstest.NewFakeClock(noon)})

	if err != nil {
		t.Fatal(err)
	}
	db.Close()
}

// delayFirstStatement returns the address of a server that passes one connection on to a database, and its first
// statement later.
func delayFirstStatement(t *testing.T, database string, delay time.Duration) string {
	t.Helper()
	config, err := pgx.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		defer func() { _ = client.Close() }()
		network, address := pgconn.NetworkAddress(config.Host, config.Port)
		server, err := net.Dial(network, address)
		if err != nil {
			return
		}
		defer func() { _ = server.Close() }()
		go func() { _, _ = io.Copy(client, server) }()
		for sent := make([]byte, 1<<16); ; {
			n, err := client.Read(sent)
			if err != nil {
				return
			}
			if bytes.Contains(sent[:n], []byte("SET ROLE")) {
				time.Sleep(delay)
			}
			if _, err := server.Write(sent[:n]); err != nil {
				return
			}
		}
	}()
	return listener.Addr().String()
}

func TestOpen_ReadersHaveTheirOwnConnections(t *testing.T) {
	t.Parallel()
	// Reads that hold all connections of their pool take none from units of work, and the other
	// way round.
	db := openWith(t, postgres.Options{URL: pgtest.New(t), MaxConnections: 1, MaxReadConnections: 1,
		Clock: portstest.NewFakeClock(noon)})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()

	err := pgx.BeginFunc(ctx, db.ReadPool(), func(pgx.Tx) error {
		return db.Ping(ctx)
	})
	if err != nil {
		t.Errorf("a unit of work got no connection beside a reader: %v", err)
	}
	err = pgx.BeginFunc(ctx, db.Pool(), func(pgx.Tx) error {
		return db.ReadPool().Ping(ctx)
	})
	if err != nil {
		t.Errorf("a reader got no connection beside a unit of work: %v", err)
	}
}

func TestReaders_ReadWithoutConnectionsOfWork(t *testing.T) {
	t.Parallel()
	// Readers read while units of work hold all of their connections, and cannot write.
	db := openWith(t, postgres.Options{URL: pgtest.New(t), MaxConnections: 1, MaxReadConnections: 1, AllPlatforms: true,
		Clock: portstest.NewFakeClock(noon)})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	platform := newPlatform(t, "P")
	create := func(ctx context.Context, tx *postgres.Unit) error { return tx.CreatePlatform(ctx, platform) }
	if err := db.Do(ctx, create); err != nil {
		t.Fatal(err)
	}

	err := pgx.BeginFunc(ctx, db.Pool(), func(pgx.Tx) error {
		_, err := db.Readers().Platform(ctx, platform.ID)
		return err
	})
	if err != nil {
		t.Errorf("read: %v", err)
	}
	platform = newPlatform(t, "Q")
	if err := db.Readers().Do(ctx, create); err == nil {
		t.Error("readers can write")
	}
}
