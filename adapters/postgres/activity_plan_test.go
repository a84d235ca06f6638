package postgres

import (
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/pgembed/pgtest"
)

// fillActivity writes many records of what operators, compliance and customers have done.
const fillActivity = `
SET session_replication_role = replica;
INSERT INTO operator_actions SELECT '00000000-0000-7000-8001-000000000000', gen_random_uuid(), 'SIGN_IN', gen_random_uuid(), 'person ' || n % 50, now(), ''
	FROM generate_series(1, 20000) n;
INSERT INTO operator_actions SELECT '00000000-0000-7000-8001-000000000000', gen_random_uuid(), 'UPDATE_CUSTOMER', gen_random_uuid(), '(customer)', now(), ''
	FROM generate_series(1, 100000) n;
INSERT INTO job_actions SELECT '00000000-0000-7000-8001-000000000000', gen_random_uuid(), gen_random_uuid(), 'RETRY', 'person ' || n % 50, '',
	now(), 'deliver', '{}', 1, '' FROM generate_series(1, 20000) n;
INSERT INTO rail_decisions SELECT '00000000-0000-7000-8001-000000000000', gen_random_uuid(), gen_random_uuid(), 'PAYOUT', 'RELEASE', '', '', '',
	'person ' || n % 50, 'Known', now() FROM generate_series(1, 20000) n;
INSERT INTO verification_reviews SELECT '00000000-0000-7000-8001-000000000000', gen_random_uuid(), gen_random_uuid(),
	CASE WHEN n % 2 = 0 THEN gen_random_uuid() END, CASE WHEN n % 2 = 1 THEN gen_random_uuid() END, gen_random_uuid(), 'ACCEPTED', 'person ' || n % 50, '{}', now()
	FROM generate_series(1, 20000) n;
ANALYZE operator_actions, job_actions, rail_decisions, verification_reviews;`

func TestActivityPlan_ByIndexes(t *testing.T) {
	t.Parallel()
	// Among many records, the newest ones of everybody, of an actor and of an object are read by indexes, also under row-level security:
	// each part of a statement is limited by the ids of the page, but for the few of an object.
	plans := newPlanEnv(t)
	pgtest.ExecAsSuperuser(t, plans.conn.Config().ConnString(), fillActivity)
	plans.becomeService()
	const page = "(id > $2) AND (id < $3))"
	wantIndexCondition(t, plans, "all_activities", allActivities, "((platform_id = $1) AND "+page)
	wantIndexCondition(t, plans, "of_actor", activitiesByActor, "((platform_id = $1) AND (actor = a.name) AND "+page)
	for _, actor := range []string{"person 7", "(customer)"} {
		var plan string
		if err := plans.conn.QueryRow(t.Context(), `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE of_actor ('00000000-0000-7000-8001-000000000000',
			'00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 51, '-infinity', 'infinity', ARRAY['`+actor+`'], ARRAY[]::uuid[])`, pgx.QueryExecModeSimpleProtocol).
			Scan(&plan); err != nil {
			t.Fatal(err)
		}
		var read []struct{ Plan planNode }
		if err := json.Unmarshal([]byte(plan), &read); err != nil {
			t.Fatal(err)
		}
		if rows, faults := read[0].Plan.check(1000); rows > 1000 || len(faults) > 0 {
			t.Errorf("of %s among 51 actors, %.0f rows are read: %q\n%s", actor, rows, faults, plan)
		}
	}
	for _, column := range []string{"subject_id", "job_id", "verification_id", "owner_id", "customer_id"} {
		wantIndexCondition(t, plans, column, activitiesBySubject, "((platform_id = $1) AND ("+column+" = $9) AND "+page)
	}
	wantIndexCondition(t, plans, "by_name", activitiesByName, "((platform_id = $1) AND (subject = $9) AND "+page)
	wantIndexCondition(t, plans, "payment", activitiesBySubject, "((platform_id = $1) AND (payment_id = $9))")
	wantIndexCondition(t, plans, "by_day", countRanges,
		"((platform_id = $1) AND (status = s.status) AND (direction = r.direction) AND (id >= d.first) AND (id < d.after))")
}
