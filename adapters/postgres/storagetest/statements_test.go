package storagetest

import (
	"slices"
	"strings"
	"testing"

	"causeway/adapters/pgembed/pgtest"
)

func TestPlanner_FindsReadsAcrossPlatforms(t *testing.T) {
	t.Parallel()
	// Each table of platforms that a statement reads needs an equality of its platform_id, by itself or by a join. Rows that are
	// inserted have one, and tables of connections or of all platforms need none. Nothing is executed.
	planner, err := newPlanner(t.Context(), pgtest.New(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = planner.conn.Close(t.Context()) })
	for sql, want := range map[string]string{
		"SELECT id FROM customers WHERE platform_id = $1":                                                                     "",
		"SELECT id FROM customers WHERE platform_id = ANY ($1)":                                                               "",
		"SELECT c.id FROM customers c JOIN quotes q ON q.platform_id = c.platform_id WHERE c.platform_id = $1":                "",
		"SELECT c.id FROM unnest($1::uuid[], $2::uuid[]) AS k(p, id) JOIN customers c ON c.platform_id = k.p AND c.id = k.id": "",
		"SELECT EXISTS (SELECT FROM quotes q WHERE q.platform_id = c.platform_id) FROM customers c WHERE platform_id = $1":    "",
		"INSERT INTO ledger_clocks (platform_id) VALUES ($1)":                                                                 "",
		"SELECT connection FROM rail_accounts":                                                                                "",
		"SELECT id FROM platforms":                                                                                            "",
		"SELECT id FROM customers":                                                                                            "customers",
		"SELECT id FROM customers WHERE id = $1":                                                                              "customers",
		"SELECT id FROM customers WHERE platform_id > $1":                                                                     "customers",
		"SELECT id FROM customers WHERE platform_id BETWEEN $1 AND $2":                                                        "customers",
		"SELECT id FROM invitations WHERE invitee_platform_id = $1":                                                           "invitations",
		"SELECT c.id FROM customers c JOIN quotes q ON q.id = c.id WHERE c.platform_id = $1":                                  "quotes",
		"SELECT c.id FROM customers c JOIN quotes q ON q.id = c.id":                                                           "customers quotes",
		"SELECT EXISTS (SELECT FROM quotes q WHERE q.id = c.id) FROM customers c WHERE platform_id = $1":                      "quotes",
		"SELECT seq FROM ledger_entries WHERE seq = $1":                                                                       "ledger_entries",
		"UPDATE customers SET deleted_at = $1":                                                                                "customers",
		"DELETE FROM ledger_clocks":                                                                                           "ledger_clocks",
		"INSERT INTO ledger_clocks (platform_id) SELECT platform_id FROM customers":                                           "customers",
	} {
		got, err := planner.acrossPlatforms(t.Context(), sql)
		if err != nil || !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: across platforms in %v, %v; want %q", sql, got, err, want)
		}
	}
}

func TestStatements_ListedAreAccepted(t *testing.T) {
	t.Parallel()
	// A statement is accepted if it has a listed text and reads just the listed tables.
	listed := NewStatements(0, AcrossPlatforms{Why: "all are counted", Statements: []string{"customers quotes: FROM customers c JOIN quotes"}})
	for _, c := range []struct {
		tables, sql string
		want        bool
	}{
		{"customers quotes", "SELECT count(*) FROM customers c JOIN quotes q USING (id)", true},
		{"customers", "SELECT count(*) FROM customers c JOIN quotes q USING (id)", false},
		{"customers quotes", "SELECT count(*) FROM quotes q JOIN customers c USING (id)", false},
	} {
		if got := listed.lists(strings.Fields(c.tables), c.sql); got != c.want {
			t.Errorf("%s, %s: accepted %t", c.tables, c.sql, got)
		}
	}
	got, want := shortened(" SELECT 1,\n\t'it''s' FROM t1 WHERE n = 25 AND m = $2 "), "SELECT 0, ? FROM t1 WHERE n = 0 AND m = $2"
	if got != want {
		t.Errorf("shortened to %q, want %q", got, want)
	}
}
