package postgres

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres/sealed"
	"causeway/ledger"
)

// evidenceRecipe is what the messages of the tests of evidence point to.
const evidenceRecipe = `see "Seal a table as evidence" in CONTRIBUTING.md`

func TestQueuedFacts_AreThoseOfTheTriggers(t *testing.T) {
	t.Parallel()
	// Every kind of facts is queued by a trigger of its table with its primary key, every such trigger has a kind, and
	// no row of a fact can be changed or deleted through the service, unless each version is one.
	conn := connectTo(t, pgtest.New(t))
	triggers := map[string]string{}
	rows, err := conn.Query(t.Context(), `SELECT tgrelid::regclass::text, replace(encode(tgargs, 'escape'), '\000', ' ') FROM pg_trigger
		WHERE tgfoid IN ('ledger_queue_evidence'::regproc, 'ledger_queue_version'::regproc, 'ledger_queue_market_rates'::regproc)`)
	if err != nil {
		t.Fatal(err)
	}
	var table, args string
	if _, err := pgx.ForEachRow(rows, []any{&table, &args}, func() error {
		kind, key, _ := strings.Cut(strings.TrimSpace(args), " ")
		switch {
		case kind == string(ledger.FactMarketRates):
			key = "kept_at" // the rows of one time are one fact
		case key == "": // of versions
			key = "id"
		}
		triggers[kind] = table + " " + key
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	// Those of ledger_queue_decision.
	triggers[string(ledger.FactDecision)], triggers[string(ledger.FactCorridorDecision)] = "ledger_proposals id", "corridor_proposals id"
	for _, f := range queuedFacts {
		key := strings.ReplaceAll(strings.ReplaceAll(f.names(), "t.", ""), ",", "")
		if triggers[string(f.kind)] != f.table+" "+key {
			t.Errorf("facts of the kind %s are the rows of %s by %s, and their trigger is of %q; %s", f.kind, f.table, key, triggers[string(f.kind)],
				evidenceRecipe)
		}
		delete(triggers, string(f.kind))
		var primary string
		var deletable, changing bool
		if err := conn.QueryRow(t.Context(), `
			SELECT (SELECT string_agg(a.attname, ' ' ORDER BY k.n) FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k (no, n)
				JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.no WHERE i.indrelid = to_regclass($1) AND i.indisprimary AND a.attname <> 'platform_id'),
			has_table_privilege('causeway_service', $1, 'DELETE'), has_any_column_privilege('causeway_service', $1, 'UPDATE')`,
			f.table).Scan(&primary, &deletable, &changing); err != nil {
			t.Fatal(err)
		}
		if f.of != "" {
			primary, _, _ = strings.Cut(primary, " ")
		}
		if primary != key || !f.versions && (deletable || changing && f.columns == nil) {
			t.Errorf("%s has the primary key %s, and the fact %s; the service may delete rows: %t, change them: %t", f.table, primary, key,
				deletable, changing)
		}
	}
	for kind, table := range triggers {
		t.Errorf("the trigger of %s queues facts of the kind %s, which queuedFacts does not have; %s", table, kind, evidenceRecipe)
	}
}

func TestQueuedFacts_AddedColumnsAreEmptyInOlderRows(t *testing.T) {
	t.Parallel()
	// A column that was added to a sealed table is empty in the rows from before, and one of the rows that belong to it
	// NULL: otherwise the check would report every older row as changed.
	conn := connectTo(t, pgtest.New(t))
	for _, f := range queuedFacts {
		for _, c := range columnsOf(t, conn, f.table) {
			if (f.columns == nil || slices.Contains(f.columns, c.name)) && c.older != "" {
				t.Errorf("%s.%s is %q in older rows, which are facts of the kind %s without it: add it with no default, or the default ''; %s", f.table,
					c.name, c.older, f.kind, evidenceRecipe)
			}
		}
		for name, digest := range f.more {
			if !strings.Contains(digest, "to_jsonb(l)") {
				continue // names its columns
			}
			for _, c := range columnsOf(t, conn, digestTable.FindStringSubmatch(digest)[1]) {
				if c.added {
					t.Errorf("the column %s, in the digest %s of the facts of the kind %s, is not NULL in older rows; %s", c.name, name,
						f.kind, evidenceRecipe)
				}
			}
		}
	}
}

func TestQueuedFacts_OfSomeColumnsLeaveOutThoseThatChange(t *testing.T) {
	t.Parallel()
	// Where some columns of a table change, every other one is part of a fact.
	conn := connectTo(t, pgtest.New(t))
	changing := map[string][]string{"receivables": {"collected", "written_off", "state", "updated_at"},
		// What is encrypted is in seal, or is no part of the status of a customer.
		"external_accounts": {"fields", "beneficiary", "verified_name", "fingerprint", "ownership_type", "vasp_name", "ownership", "updated_at"},
		"customers":         {"platform_customer_id", "region", "currencies", "email", "uma_address", "details", "contacts", "updated_at"}}
	sealed, whole := map[string][]string{}, map[string]bool{}
	for _, f := range queuedFacts {
		if whole[f.table] = whole[f.table] || f.columns == nil; f.columns != nil {
			sealed[f.table] = slices.AppendSeq(append(sealed[f.table], f.columns...), maps.Keys(f.more))
		}
	}
	for table, columns := range sealed {
		if whole[table] { // by another kind
			continue
		}
		for _, c := range columnsOf(t, conn, table) {
			if c.name != "platform_id" && !slices.Contains(columns, c.name) && !slices.Contains(changing[table], c.name) {
				t.Errorf("%s.%s is part of no fact: add it to its entry in queuedFacts, or name it here if it changes; %s", table,
					c.name, evidenceRecipe)
			}
		}
	}
}

func TestQueuedFacts_HaveNoEncryptedColumns(t *testing.T) {
	t.Parallel()
	// Keys rotate and personal data are erased: no column of either is part of a fact of a whole row.
	for _, f := range queuedFacts {
		for _, c := range sealed.Columns() {
			if c.Table() == f.table && (f.columns == nil || slices.Contains(f.columns, c.Name())) {
				t.Errorf("%s.%s is encrypted, and part of the facts of the kind %s", c.Table(), c.Name(), f.kind)
			}
			for name, digest := range f.more {
				of := digestTable.FindStringSubmatch(digest)
				if of != nil && of[1] == c.Table() && (strings.Contains(digest, "to_jsonb(l)") || strings.Contains(digest, "l."+c.Name())) {
					t.Errorf("%s.%s is encrypted, and part of the digest %s of the facts of the kind %s", c.Table(), c.Name(), name, f.kind)
				}
			}
		}
	}
}

func TestQueuedFact_SubjectsOfOtherFormsDoNotExist(t *testing.T) {
	t.Parallel()
	// Evidence that somebody changed has subjects of any form: they are no keys, and never an error of the database.
	run := queuedFact{key: []keyColumn{{"kind", "text"}, {"month", "date"}, {"run", "integer"}}}
	for subject, want := range map[string][]string{
		"revaluation/2026-10-01/1":   {"revaluation", "2026-10-01", "1"},
		"income/Fees/2026-10-01/1":   {"income/Fees", "2026-10-01", "1"},
		"/2026-10-01/1":              {"", "2026-10-01", "1"},
		"2026-10-01/1":               nil,
		"a/2026-10-01/x":             nil,
		"a/2026-10-01/4294967296":    nil,
		"a/2026-13-01/1":             nil,
		"a/0000-01-01/1":             nil,
		"":                           nil,
		"revaluation/2026-10-01/1/1": nil,
	} {
		if got := run.split(subject); !slices.Equal(got, want) {
			t.Errorf("%q has the key %q, want %q", subject, got, want)
		}
	}
	rates := queuedFact{key: []keyColumn{{"kept_at", "timestamptz"}}}
	for subject, valid := range map[string]bool{
		"2026-11-20 12:00:00+00":        true,
		"2026-11-20 12:00:00.000123+00": true,
		"2026-11-20 12:00:00,123+00":    false,
		"2026-11-20 12:00:00.1230+00":   false,
		"2026-11-20 12:00:00+01":        false,
		"2026-11-31 12:00:00+00":        false,
		"0000-01-01 00:00:00+00":        false,
		"infinity":                      false,
		"":                              false,
	} {
		if got := rates.split(subject) != nil; got != valid {
			t.Errorf("%q is a time: %t", subject, got)
		}
	}
	for subject, valid := range map[string]bool{
		"01930000-0000-7000-8000-0000000000a1":          true,
		"{01930000-0000-7000-8000-0000000000a1}":        false,
		"urn:uuid:01930000-0000-7000-8000-0000000000a1": false,
		"1": false,
	} {
		if got := byID.split(subject) != nil; got != valid {
			t.Errorf("%q is an id: %t", subject, got)
		}
	}
}

// digestTable finds the table of a digest.
var digestTable = regexp.MustCompile(` FROM (\w+) l `)

type factColumn struct {
	name  string
	added bool   // with a value for the rows from before
	older string // that value
}

func columnsOf(t *testing.T, conn *pgx.Conn, table string) []factColumn {
	t.Helper()
	rows, err := conn.Query(t.Context(), `
		SELECT attname, atthasmissing, coalesce((attmissingval::text::text[])[1], '')
		FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`, table)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c factColumn, err error) {
		return c, row.Scan(&c.name, &c.added, &c.older)
	})
	if err != nil || len(columns) == 0 {
		t.Fatalf("the columns of %s: %v", table, err)
	}
	return columns
}

func connectTo(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	return pgtest.Connect(t, url)
}
