package e2e

import (
	"testing"
	"time"

	"causeway/adapters/pgembed/pgtest"
)

// databaseCounts counts what Postgres has done in databases, with what runs beside. Statements are counted by servers that load
// pg_stat_statements, as that of the benchmarks.
type databaseCounts struct {
	envs       []*testEnv
	statements bool
	began      [2]int64
}

func newDatabaseCounts(b *testing.B, envs ...*testEnv) databaseCounts {
	b.Helper()
	const counted = `SELECT count(*) FROM pg_settings WHERE name = 'pg_stat_statements.track'`
	c := databaseCounts{envs: envs, statements: envs[0].queryInt(counted) == 1}
	for _, e := range envs {
		if c.statements {
			pgtest.ExecAsSuperuser(b, e.databaseURL, "CREATE EXTENSION pg_stat_statements; GRANT SELECT ON pg_stat_statements TO PUBLIC")
		}
	}
	c.began = c.read()
	return c
}

// read returns the commits and the statements.
func (c databaseCounts) read() (counts [2]int64) {
	for _, e := range c.envs {
		counts[0] += e.queryInt(`SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()`)
		if c.statements {
			counts[1] += e.queryInt(`SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements JOIN pg_database d ON d.oid = dbid
				WHERE datname = current_database()`)
		}
	}
	return counts
}

// report reports what each of so many payments has cost.
func (c databaseCounts) report(b *testing.B, payments int64) {
	b.Helper()
	time.Sleep(2 * time.Second) // until Postgres has counted
	counts := c.read()
	b.ReportMetric(float64(counts[0]-c.began[0])/float64(payments), "commits/payment")
	if c.statements {
		b.ReportMetric(float64(counts[1]-c.began[1])/float64(payments), "statements/payment")
	}
}
