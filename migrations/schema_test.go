package migrations_test

import (
	"cmp"
	"flag"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"causeway/adapters/pgembed/pgtest"
)

var update = flag.Bool("update", false, "write schema.sql as the migrations make it")

// formOfSchema is the version of Postgres whose pg_dump writes schema.sql: that of Debian 12.
const formOfSchema = 15

func TestSchema_IsWrittenDown(t *testing.T) {
	t.Parallel()
	// schema.sql is what the migrations make: each table with its indexes, triggers, policies and privileges, and then the
	// functions. A migration shows there what it changes.
	database := pgtest.New(t)
	var version int
	if err := openDB(t, database).QueryRow("SELECT current_setting('server_version_num')::int / 10000").Scan(&version); err != nil {
		t.Fatal(err)
	}
	if version != formOfSchema {
		t.Skipf("Postgres %d writes schemas in another form than Postgres %d, in which schema.sql is", version, formOfSchema)
	}
	dump, err := exec.CommandContext(t.Context(), "pg_dump", "--schema-only", "--no-owner", database).Output()
	if err != nil {
		t.Fatalf("pg_dump: %v", err)
	}
	got := readableSchema(t, string(dump))
	if *update {
		if err := os.WriteFile("schema.sql", []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	want, err := os.ReadFile("schema.sql")
	if err != nil {
		t.Fatal(err)
	}

	if got == string(want) {
		return
	}
	was := strings.Split(string(want), "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(was) || line != was[i] {
			t.Fatalf("line %d is %q, and schema.sql has %q: run go test ./migrations -run Schema -update, and read its difference",
				i+1, line, strings.Join(was[min(i, len(was)):min(i+1, len(was))], ""))
		}
	}
	t.Fatal("schema.sql has more than the migrations make: run go test ./migrations -run Schema -update")
}

func TestReadableSchema(t *testing.T) {
	t.Parallel()
	// What belongs to a table follows it, whatever its place in the dump. Of a partition only its place remains, and no
	// bound that depends on the day.
	entry := func(name, kind, text string) string {
		return "\n--\n-- Name: " + name + "; Type: " + kind + "; Schema: public; Owner: -\n--\n\n" + text + "\n"
	}
	dump := "--\n-- PostgreSQL database dump\n--\n\\restrict x\nSET lock_timeout = 0;\n" +
		entry("f(integer)", "FUNCTION", "CREATE FUNCTION public.f(n integer) RETURNS integer\n    LANGUAGE sql\n    AS $$ SELECT n $$;") +
		entry("b", "TABLE", "CREATE TABLE public.b (\n    id integer\n)\nPARTITION BY RANGE (id);") +
		entry("b_first", "TABLE", "CREATE TABLE public.b_first (\n    id integer\n);") +
		entry("a", "TABLE", "SET default_tablespace = '';\n\nCREATE TABLE public.a (\n    id integer\n);") +
		entry("b_first", "TABLE ATTACH", "ALTER TABLE ONLY public.b ATTACH PARTITION public.b_first FOR VALUES FROM (MINVALUE) TO "+
			"('019e0000-0c00-0000-0000-000000000000');") +
		entry("b_first_key", "INDEX", "CREATE INDEX b_first_key ON public.b_first USING btree (id);") +
		entry("a_by_id", "INDEX", "CREATE INDEX a_by_id ON public.a USING btree (id);") +
		entry("COLUMN a.id", "ACL", "GRANT UPDATE(id) ON TABLE public.a TO service;") +
		"\n--\n-- PostgreSQL database dump complete\n--\n\n\\unrestrict x\n"
	const want = `CREATE TABLE a (
    id integer
);
CREATE INDEX a_by_id ON a USING btree (id);
GRANT UPDATE(id) ON TABLE a TO service;

CREATE TABLE b (
    id integer
)
PARTITION BY RANGE (id);
ALTER TABLE ONLY b ATTACH PARTITION b_first FOR VALUES FROM (MINVALUE) TO (...);

CREATE FUNCTION f(n integer) RETURNS integer
    LANGUAGE sql
    AS $$ SELECT n $$;
`
	if got := readableSchema(t, dump); got != want {
		t.Errorf("got\n%s", got)
	}
}

var (
	dumpEntry     = regexp.MustCompile(`(?m)^--\n-- Name: (.*); Type: (.*); Schema: .*; Owner: .*\n--\n`)
	dumpNoise     = regexp.MustCompile(`(?m)^(--.*|SET default_.*|\\(un)?restrict .*|)\n`)
	dumpTable     = regexp.MustCompile(`\b(?:TABLE(?: ONLY)?|ON(?: ONLY)?|OWNED BY) ([a-z_0-9]+)\b`)
	partition     = regexp.MustCompile(`ATTACH PARTITION ([a-z_0-9]+)`)
	partitionEdge = regexp.MustCompile(`TO \('[0-9a-f-]{36}'\)`)
)

// readableSchema returns the statements of a dump, with those of each table together. Tables and functions are in the
// order of their names.
func readableSchema(t *testing.T, dump string) string {
	t.Helper()
	found := dumpEntry.FindAllStringSubmatchIndex(dump, -1)
	tables, functions, partitions := map[string][]string{}, map[string][]string{}, map[string]bool{}
	owners := map[string]string{} // of sequences
	type statement struct{ name, kind, text, table string }
	var statements []statement
	for i, at := range found {
		end := len(dump)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		s := statement{name: dump[at[2]:at[3]], kind: dump[at[4]:at[5]]}
		s.text = strings.TrimSpace(dumpNoise.ReplaceAllString(strings.ReplaceAll(dump[at[1]:end], "public.", ""), ""))
		if match := dumpTable.FindStringSubmatch(s.text); match != nil {
			s.table = match[1]
		}
		if match := partition.FindStringSubmatch(s.text); match != nil && s.kind == "TABLE ATTACH" {
			partitions[match[1]] = true
			s.text = partitionEdge.ReplaceAllString(s.text, "TO (...)")
		}
		if s.kind == "SEQUENCE OWNED BY" {
			owners[s.name] = s.table
		}
		statements = append(statements, s)
	}
	for _, s := range statements {
		name := s.name
		_, sequence := strings.CutPrefix(name, "SEQUENCE ")
		switch {
		case strings.Contains(s.kind, "FUNCTION") || strings.HasPrefix(name, "FUNCTION "):
			name = strings.TrimPrefix(name, "FUNCTION ")
			functions[name] = append(functions[name], s.text)
			continue
		case sequence:
			s.table = owners[strings.TrimPrefix(name, "SEQUENCE ")]
		case s.kind == "SEQUENCE" && s.table == "":
			s.table = owners[name]
		case s.kind == "INDEX ATTACH", partitions[s.table] && s.kind != "ROW SECURITY":
			continue
		}
		tables[s.table] = append(tables[s.table], s.text)
	}
	var groups []string
	for _, kind := range []map[string][]string{tables, functions} {
		for _, name := range slices.Sorted(maps.Keys(kind)) {
			// The table itself is first, also where it needs a sequence.
			slices.SortStableFunc(kind[name], func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
			groups = append(groups, strings.Join(kind[name], "\n"))
		}
	}
	return strings.Join(groups, "\n\n") + "\n"
}

func rank(statement string) int {
	if strings.HasPrefix(statement, "CREATE TABLE ") || strings.HasPrefix(statement, "CREATE FUNCTION ") {
		return 0
	}
	return 1
}
