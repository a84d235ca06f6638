package postgres

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// dropOtherIndexes drops the indexes of a table but its primary key: of an empty table, the planner
// prefers none of those that begin with the platform.
const dropOtherIndexes = `DO $$
	DECLARE other record;
	BEGIN
		FOR other IN SELECT i.indexrelid::regclass::text AS name, c.conname AS of_constraint FROM pg_index i LEFT JOIN pg_constraint c ON c.conindid = i.indexrelid AND c.conrelid = i.indrelid
			WHERE i.indrelid = '%[1]s'::regclass AND NOT i.indisprimary LOOP
			IF other.of_constraint IS NULL THEN
				EXECUTE 'DROP INDEX ' || other.name;
			ELSE
				EXECUTE format('ALTER TABLE %[1]s DROP CONSTRAINT %%I CASCADE', other.of_constraint);
			END IF;
		END LOOP;
	END $$`

func TestSealedTable_WritesByPrimaryKey(t *testing.T) {
	t.Parallel()
	// The rows of a batch are found by platform and key in every table, also with row-level security, and
	// not by reading the whole platform for each of them.
	plans := newPlanEnv(t)
	for _, table := range sealedTables() {
		plans.run(fmt.Sprintf(dropOtherIndexes, table.name))
	}
	plans.becomeService()
	for _, table := range sealedTables() {
		lines := plans.explain("write_"+table.name, table.writeSQL(), 2+2*len(table.columns))
		plan := strings.Join(lines, "\n")
		scans := regexp.MustCompile(`Scan.* on `+table.name).FindAllString(plan, -1)
		byKey := regexp.MustCompile(`Index Cond: \(\(platform_id = w.platform_id\) AND \(`+table.key+` = w.key\)\)`).FindAllString(plan, -1)
		if len(scans) == 0 || len(byKey) != len(scans) {
			t.Errorf("%s: %d of %d scans are by the key\n%s", table.name, len(byKey), len(scans), plan)
		}
	}
}
