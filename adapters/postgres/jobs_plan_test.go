package postgres

import (
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/pgembed/pgtest"
)

// A hundred thousand due jobs of one platform, as many of another step, and one job of another
// platform that is due after them.
const fillJobs = `
INSERT INTO jobs (platform_id, id, step, due_at, subjects)
SELECT '00000000-0000-7000-8000-000000000001', gen_random_uuid(), step, now() - interval '1 hour' + n * interval '1 ms', '{}'
FROM generate_series(1, 100000) n, unnest(ARRAY['deliver', 'expire']) step;
INSERT INTO jobs (platform_id, id, step, due_at, subjects) VALUES ('00000000-0000-7000-8000-000000000002', gen_random_uuid(), 'deliver', now() - interval '1 minute', '{}')`

func TestTakeJobs_ReadsLittleOfBacklog(t *testing.T) {
	t.Parallel()
	// However many jobs of a platform are due, taking some reads a few pages: with the plan that was
	// made while the table was empty, and with one that knows its size. In turn, the job of the other
	// platform is among the first.
	url := pgtest.New(t)
	db, err := Open(t.Context(), Options{URL: url, AllPlatforms: true, MaxConnections: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	owner := pgtest.Connect(t, url)
	exec := func(c interface{ Conn() *pgx.Conn }, sql string) {
		t.Helper()
		if _, err := c.Conn().Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%v\n%s", err, sql)
		}
	}
	const (
		oldest = "EXECUTE oldest('deliver', now(), interval '1 hour', 64)"
		inTurn = "EXECUTE in_turn('deliver', now(), interval '1 hour', 64, '00000000-0000-0000-0000-000000000000', 32, '{}')"
	)
	exec(conn, "SET causeway.platform = '*'; PREPARE oldest(text, timestamptz, interval, int) AS "+takeJobs+
		"; PREPARE in_turn(text, timestamptz, interval, int, uuid, int, uuid[]) AS "+takeJobsInTurn+"; "+oldest+"; "+inTurn)
	if _, err := owner.Exec(t.Context(), fillJobs, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}

	for _, statistics := range []string{"none", "analyzed"} {
		if statistics == "analyzed" {
			if _, err := owner.Exec(t.Context(), "ANALYZE jobs"); err != nil {
				t.Fatal(err)
			}
		}
		for statement, rows := range map[string]float64{oldest: 64, inTurn: 33} {
			exec(conn, "BEGIN")
			var text string
			if err := conn.QueryRow(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+statement, pgx.QueryExecModeSimpleProtocol).Scan(
				&text); err != nil {
				t.Fatal(err)
			}
			exec(conn, "ROLLBACK")
			var plans []struct {
				Plan struct {
					Rows float64 `json:"Actual Rows"`
					Hit  int     `json:"Shared Hit Blocks"`
					Read int     `json:"Shared Read Blocks"`
				}
			}
			if err := json.Unmarshal([]byte(text), &plans); err != nil {
				t.Fatal(err)
			}
			if p := plans[0].Plan; p.Rows != rows || p.Hit+p.Read > 1500 {
				t.Errorf("statistics %s, %s: %v rows, want %v, from %d pages\n%s", statistics, statement, p.Rows, rows, p.Hit+p.Read, text)
			}
		}
	}
}
