package postgres

import (
	"strings"
	"testing"

	"causeway/adapters/pgembed/pgtest"
)

// fillReceiptPayers writes many payers of two platforms, of which a quarter is nobody's.
const fillReceiptPayers = `
SET session_replication_role = replica;
INSERT INTO receipt_payers SELECT p.id, gen_random_uuid(), CASE WHEN n % 4 > 0 THEN gen_random_uuid() END, ''
	FROM (VALUES (gen_random_uuid()), (gen_random_uuid())) p(id), generate_series(1, 10000) n;
ANALYZE;`

func TestReceiptPayers_FoundByIndexes(t *testing.T) {
	t.Parallel()
	// Among many payers, those of a customer and those that are nobody's are found by indexes, and others by their key.
	plans := newPlanEnv(t)
	pgtest.ExecAsSuperuser(t, plans.conn.Config().ConnString(), fillReceiptPayers)
	plans.becomeService()
	for name, q := range map[string]struct {
		sql, index string
		arguments  int
	}{
		"erase": {erasePayers, "receipt_payers_by_customer", 2}, "release": {releasePayers, "receipt_payers_by_customer", 2},
		"retention": {deleteReceiptPayers, "receipt_payers_of_nobody", 4}, "assign": {assignReceiptPayer, "receipt_payers_pkey", 4},
	} {
		plan := strings.Join(plans.explain(name, q.sql, q.arguments), "\n")
		if !strings.Contains(plan, q.index) || strings.Contains(plan, "Seq Scan on receipt_payers") {
			t.Errorf("%s:\n%s", name, plan)
		}
	}
}
