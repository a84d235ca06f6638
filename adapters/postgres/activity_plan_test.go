package postgres

import (
	"testing"

	"causeway/adapters/pgembed/pgtest"
)

// fillActivity writes many records of what operators and finance have done.
const fillActivity = `
SET session_replication_role = replica;
INSERT INTO operator_actions SELECT '00000000-0000-7000-8001-000000000000', gen_random_uuid(), 'SIGN_IN', gen_random_uuid(), 'ana', now(), ''
	FROM generate_series(1, 20000);
INSERT INTO job_actions SELECT '00000000-0000-7000-8001-000000000000', gen_random_uuid(), gen_random_uuid(), 'RETRY', 'ana', '', now(), 'deliver',
	'{}', 1, '' FROM generate_series(1, 20000);
ANALYZE operator_actions, job_actions;`

func TestActivityPlan_ByPrimaryKeys(t *testing.T) {
	t.Parallel()
	// Among many records, each kind is read by its primary key, also under row-level security.
	plans := newPlanEnv(t)
	pgtest.ExecAsSuperuser(t, plans.conn.Config().ConnString(), fillActivity)
	plans.becomeService()
	wantIndexCondition(t, plans, "activities", activities, "((platform_id = $1) AND (id > $2) AND (id < $3))")
	wantIndexCondition(t, plans, "by_day", countRanges,
		"((platform_id = $1) AND (status = s.status) AND (direction = r.direction) AND (id >= d.first) AND (id < d.after))")
}
