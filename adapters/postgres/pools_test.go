package postgres_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/ports/portstest"
)

func TestOpen_IdleConnectionsOfPoolsAreClosed(t *testing.T) {
	t.Parallel()
	// A pool opens connections as they are needed, up to its maximum, closes all that nothing needs any more, and opens others.
	db := openWith(t, postgres.Options{URL: pgtest.New(t), MaxConnections: 4, MaxReadConnections: 2,
		PoolIdleTime: 20 * time.Millisecond, Clock: portstest.NewFakeClock(noon)})
	for pool, most := range map[*pgxpool.Pool]int{db.Pool(): 4, db.ReadPool(): 2} {
		var held []*pgxpool.Conn
		for range most {
			conn, err := pool.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, conn)
		}
		if open := pool.Stat().TotalConns(); open != int32(most) {
			t.Errorf("%d connections are open, want %d", open, most)
		}
		for _, conn := range held {
			conn.Release()
		}

		for deadline := time.Now().Add(time.Minute); pool.Stat().TotalConns() > 0; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d connections stay open", pool.Stat().TotalConns())
			}
		}

		if err := pool.Ping(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
