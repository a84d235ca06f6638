package postgres

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/pgembed/pgtest"
)

func TestSealedColumns_AreColumnsThatTheServiceCanReencrypt(t *testing.T) {
	t.Parallel()
	// Every column of the register exists with the type of its format, in a table whose primary key
	// finds its rows, and the service may update it.
	conn := pgtest.Connect(t, pgtest.New(t))
	for _, table := range sealedTables() {
		var key []string
		if err := conn.QueryRow(t.Context(), `
			SELECT array_agg(a.attname::text ORDER BY k.n) FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k (column_no, n)
			JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.column_no WHERE i.indrelid = to_regclass($1) AND i.indisprimary`,
			table.name).Scan(&key); err != nil {
			t.Fatal(err)
		}
		if len(key) != 2 || key[0] != "platform_id" || key[1] != table.key {
			t.Errorf("the primary key of %s is %v, want platform_id and %s; see sealedKeys", table.name, key, table.key)
		}
		for _, c := range table.columns {
			var kind string
			var updatable bool
			if err := conn.QueryRow(
				t.Context(), `SELECT format_type(atttypid, NULL), has_column_privilege('causeway_service', attrelid, attnum, 'UPDATE')
				FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = $2`, table.name, c.Name()).Scan(&kind,
				&updatable); err != nil {
				t.Fatalf("%s: %v", c, err)
			}
			if kind != c.SQLType() || !updatable {
				t.Errorf("%s has type %s, want %s; the service may update it: %t", c, kind, c.SQLType(), updatable)
			}
		}
	}
}

func TestSealedColumns_AreReadByPrimaryKey(t *testing.T) {
	t.Parallel()
	// Each batch of rows is read in the order of an index, by the role and with the settings of the
	// service: nothing is sorted, and the position is a condition of the index.
	conn := pgtest.Connect(t, pgtest.New(t))
	settings := "SET ROLE causeway_service; SET causeway.platform = '*';"
	for name, value := range keyLookupSettings {
		settings += "SET " + name + " = " + value + ";"
	}
	if _, err := conn.Exec(t.Context(), settings); err != nil {
		t.Fatal(err)
	}
	for i, table := range sealedTables() {
		first := table.start().key
		for purpose, statement := range map[string]struct{ sql, arguments, condition string }{
			"read": {table.readSQL(), "'', gen_random_uuid(), '" + first + "', '" + first + "', 500", "((platform_id = $2) AND (" +
				table.key + " > "},
			"last":  {table.lastSQL(), "gen_random_uuid()", "(platform_id < $1)"},
			"count": {table.countSQL(), "gen_random_uuid(), '" + first + "', 500", "(ROW(platform_id, " + table.key + ") > ROW("},
		} {
			name := fmt.Sprintf("%s_%d", purpose, i)
			if _, err := conn.Exec(t.Context(), "PREPARE "+name+" AS "+statement.sql, pgx.QueryExecModeSimpleProtocol); err != nil {
				t.Fatal(err)
			}
			rows, err := conn.Query(t.Context(), "EXPLAIN EXECUTE "+name+"("+statement.arguments+")", pgx.QueryExecModeSimpleProtocol)
			if err != nil {
				t.Fatal(err)
			}
			lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				t.Fatal(err)
			}
			plan := strings.Join(lines, "\n")
			page, _, _ := strings.Cut(plan, "CTE last")
			if strings.Contains(page, "Sort  (") || strings.Contains(page, "Incremental Sort") ||
				!strings.Contains(page, "Index Cond: "+statement.condition) {
				t.Errorf("%s %s:\n%s", purpose, table.name, plan)
			}
		}
	}
}
