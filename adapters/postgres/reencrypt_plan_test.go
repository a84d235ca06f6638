package postgres

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/pgembed/pgtest"
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
	conn, err := pgx.Connect(t.Context(), pgtest.New(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	run := func(statement string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	for _, table := range sealedTables() {
		run(fmt.Sprintf(dropOtherIndexes, table.name))
	}
	run("SET ROLE causeway_service; SET causeway.platform = '*'")
	for name, value := range keyLookupSettings {
		run("SET " + name + " = " + value)
	}
	for _, table := range sealedTables() {
		run("PREPARE write_" + table.name + " AS " + table.writeSQL())
		rows, err := conn.Query(t.Context(), fmt.Sprintf("EXPLAIN EXECUTE write_%s(NULL, NULL%s)", table.name, strings.Repeat(", NULL, NULL", len(table.columns))), pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		plan := strings.Join(lines, "\n")
		scans := regexp.MustCompile(`Scan.* on `+table.name).FindAllString(plan, -1)
		byKey := regexp.MustCompile(`Index Cond: \(\(platform_id = w.platform_id\) AND \(`+table.key+` = w.key\)\)`).FindAllString(plan, -1)
		if len(scans) == 0 || len(byKey) != len(scans) {
			t.Errorf("%s: %d of %d scans are by the key\n%s", table.name, len(byKey), len(scans), plan)
		}
	}
}
