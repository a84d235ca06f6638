package postgres

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/pgembed/pgtest"
)

// fillManyQueues writes jobs of two platforms that are due later, of which few are due now, and payments that have ended or are on
// their way, of which few wait.
const fillManyQueues = `
SET session_replication_role = replica;
INSERT INTO platforms (id, name, environment, regulated, uma_domain, currencies, created_at, updated_at)
SELECT ('00000000-0000-7000-800' || p || '-000000000000')::uuid, 'P', 'PRODUCTION', true, '', '[]', now(), now() FROM generate_series(1, 2) p;
INSERT INTO jobs (platform_id, id, step, due_at, subjects)
SELECT ('00000000-0000-7000-800' || p || '-000000000000')::uuid, gen_random_uuid(), step, now() + (n - 50) * interval '1 hour', '{}'
FROM generate_series(1, 2) p, generate_series(1, 20000) n, unnest(ARRAY['check-return', 'expire']) step;
INSERT INTO rail_accounts (connection, currency) SELECT 'bank-' || n, 'EUR' FROM generate_series(1, 10) n;
INSERT INTO rail_payments (platform_id, id, kind, rail, country, connection, currency, amount, state, wait, reason, recorded_at)
SELECT '00000000-0000-7000-8001-000000000000', gen_random_uuid(), 'PAYOUT', 'SEPA', 'DE', 'bank-' || n % 10, 'EUR', 1, state,
	CASE WHEN state IN ('QUEUED', 'REVIEW') THEN 'FUNDS' ELSE '' END, '', now()
FROM (SELECT n, CASE WHEN n <= 50 THEN 'QUEUED' WHEN n <= 100 THEN 'REVIEW' WHEN n % 10 = 1 THEN 'SENT' ELSE 'DONE' END AS state FROM generate_series(1, 50000) n) p;
ANALYZE jobs, rail_payments, rail_accounts, platforms;`

func TestSamplesPlan_ReadsOnlyWhatWaits(t *testing.T) {
	t.Parallel()
	// However many jobs are due later, and payments have been made, counting reads those that wait and a few rows of each platform and
	// connection, also with the role of the service.
	plans := newPlanEnv(t)
	pgtest.ExecAsSuperuser(t, plans.conn.Config().ConnString(), fillManyQueues)
	plans.becomeService()
	for name, s := range map[string]struct{ statement, types, args string }{
		"jobs":          {sampleJobs, "timestamptz, timestamptz, timestamptz, int", "now(), now(), now() - interval '15 minutes', 10001"},
		"webhooks":      {sampleWebhooks, "timestamptz, timestamptz, int", "now(), now(), 10001"},
		"rail_payments": {sampleRailPayments, "timestamptz, int", "now(), 10001"},
	} {
		plans.run("PREPARE " + name + " (" + s.types + ") AS " + s.statement)
		var plan string
		if err := plans.conn.QueryRow(t.Context(), "EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE "+name+" ("+s.args+")",
			pgx.QueryExecModeSimpleProtocol).Scan(&plan); err != nil {
			t.Fatal(err)
		}
		var read []struct{ Plan planNode }
		if err := json.Unmarshal([]byte(plan), &read); err != nil {
			t.Fatal(err)
		}
		rows, faults := read[0].Plan.check(500)
		faults = slices.DeleteFunc(faults, func(f string) bool { return f == "reads all of rail_accounts" }) // which are few
		if rows > 500 || len(faults) > 0 {
			t.Errorf("to count %s, %.0f rows are read: %q\n%s", name, rows, faults, plan)
		}
	}
}
