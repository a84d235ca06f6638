package migrations_test

import (
	"database/sql"
	"maps"
	"slices"
	"strings"
	"testing"

	"causeway/adapters/pgembed/pgtest"
)

// The rules of Citus for tables that are distributed by platform: each unique constraint and index has the platform, and a foreign
// key leads to the same platform, or to a table that every server has a copy of. docs/scaling.md says what else a distribution needs.

// copiedTables have no platform, or rows for all platforms, and change seldom: every server would have a copy (a reference table).
var copiedTables = map[string]string{
	"backup_verifications":   "are of the whole database",
	"corridor_changes":       "prices, which operators set for all platforms or for one",
	"corridor_overrides":     "prices, which operators set for all platforms or for one",
	"corridor_proposals":     "prices, which operators set for all platforms or for one",
	"data_keys":              "encrypt the personal data of all platforms",
	"end_user_terms":         "are the operator's, for the customers of all platforms",
	"ledger_archived_months": "months are archived for all platforms at once",
	"ledger_log_keys":        "sign the checkpoints of all platforms",
	"lost_commit_findings":   "stop the postings of all platforms",
	"lost_commit_reviews":    "let all platforms go on",
	"market_rates":           "are the same for all platforms",
	"people":                 "work for all platforms, or for some",
	"person_identities":      "are of people",
	"person_links":           "are of people",
	"person_passkeys":        "are of people",
	"person_sessions":        "are of people",
	"sign_in_challenges":     "are of people",
	"sign_in_requests":       "are of people",
	"vasp_directories":       "are the operator's, for all platforms",
	"sanctions_entries":      "are compared with the customers of all platforms",
	"sanctions_lists":        "are compared with the customers of all platforms",
	"processes":              "serve all platforms",
	"sample_times":           "are those at which all platforms are counted",
	"platforms":              "every table refers to them, also the copied prices",
	"schema_migrations":      "is the version of the schema",
	"sign_in_attempts":       "are of people",
	"webhook_keys":           "sign the webhooks of all platforms",
}

// connectionTables belong to a connection to a bank, a partner or a chain, which is the operator's and carries payments of all
// platforms: its accounts, limits, files and positions are one for all of them. They stay on one server.
var connectionTables = []string{
	"bank_connections", "bank_files", "bank_notices", "bank_receipt_names", "bank_received_files",
	"bitcoin_batches", "bitcoin_deposits", "bitcoin_events", "bitcoin_inputs", "bitcoin_transactions", "bitcoin_wallets",
	"evm_attempts", "evm_blocks", "evm_chains", "evm_events", "evm_holdings", "evm_transactions", "evm_wallets",
	"lightning_events", "lightning_nodes",
	"partner_event_numbers", "rail_accounts", "rail_balances", "rail_connections", "rail_controls", "rail_feeds",
	"rail_opening_balances", "rail_proofs", "rail_proposals", "rail_tests", "rail_usage",
}

const (
	findsPlatform     = "what a caller sends, and a platform is found by"
	partnersName      = "what a partner or chain names, without the platform, and must be taken once"
	numberedInOneFile = "the place in a file, or the number of a report, of a connection"
)

// withoutPlatform are the unique constraints and foreign keys of tables of platforms that do not have the platform. They have to
// change before the tables are distributed.
var withoutPlatform = map[string]string{
	"agent_device_code_hash_unique":   findsPlatform,
	"agent_token_hash_unique":         findsPlatform,
	"invitation_code_unique":          findsPlatform,
	"token_client_id_unique":          findsPlatform,
	"bank_correction_notice_unique":   partnersName,
	"bank_order_end_to_end_id_unique": partnersName,
	"bank_order_key_unique":           partnersName,
	"bank_order_position_unique":      numberedInOneFile,
	"bank_order_file_fkey":            numberedInOneFile,
	"evm_addresses_pkey":              partnersName,
	"evm_deposits_pkey":               partnersName,
	"lightning_payment_hash_once":     partnersName,
	"partner_event_number_once":       numberedInOneFile,
	"partner_event_once":              partnersName,
	"rail_feed_items_once":            partnersName,
}

func TestSchema_CanBeDistributedByPlatform(t *testing.T) {
	t.Parallel()
	// Each table is of platforms, copied, or of connections. Those of platforms keep the rules of a distribution by platform, but
	// for the exceptions that are named; whatever is named exists.
	for _, finding := range distributionFindings(t, openDB(t, pgtest.New(t))) {
		t.Error(finding)
	}
}

func TestSchema_DistributionRulesFindViolations(t *testing.T) {
	t.Parallel()
	// What breaks one of the rules is found, and an exception that is no longer one too.
	db := openDB(t, pgtest.New(t))
	if _, err := db.Exec(`
		CREATE TABLE notes (id uuid PRIMARY KEY, platform_id uuid NOT NULL REFERENCES platforms, customer_id uuid, code text,
			CONSTRAINT note_of_platform UNIQUE (platform_id, id));
		CREATE UNIQUE INDEX note_code_unique ON notes (code);
		CREATE TABLE remarks (platform_id uuid NOT NULL, id uuid, note_id uuid CONSTRAINT remark_note_fkey REFERENCES notes,
			CONSTRAINT remarks_pkey PRIMARY KEY (platform_id, id),
			CONSTRAINT remark_other_note_fkey FOREIGN KEY (id, note_id) REFERENCES notes (platform_id, id),
			CONSTRAINT remark_same_note_fkey FOREIGN KEY (platform_id, note_id) REFERENCES notes (platform_id, id));
		CREATE TABLE stray (platform_id uuid);
		DROP INDEX invitation_code_unique;
		DROP TABLE market_rates`); err != nil {
		t.Fatal(err)
	}

	got := distributionFindings(t, db)

	want := []string{
		"invitation_code_unique is no exception any more: remove it",
		"stray has no platform_id NOT NULL: add it, or name the table with a reason",
		"the foreign key remark_note_fkey of remarks to notes leaves the platform",
		"the foreign key remark_other_note_fkey of remarks to notes leaves the platform",
		"the unique index note_code_unique of notes has no platform",
		"the unique index notes_pkey of notes has no platform",
		"there is no table market_rates",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// distributionFindings returns what prevents a distribution by platform and is not named above, in order.
func distributionFindings(t *testing.T, db *sql.DB) (findings []string) {
	t.Helper()
	const ofPlatforms, copied, ofConnections = "of platforms", "copied", "of connections"
	kinds := map[string]string{}
	for table := range copiedTables {
		kinds[table] = copied
	}
	for _, table := range connectionTables {
		kinds[table] = ofConnections
	}
	named, exceptions := maps.Clone(kinds), maps.Clone(withoutPlatform)
	find := func(name, finding string) {
		if _, found := withoutPlatform[name]; !found {
			findings = append(findings, finding)
		}
		delete(exceptions, name)
	}

	for _, row := range queryTexts(t, db, `
		SELECT c.relname, EXISTS (SELECT FROM pg_attribute a
			WHERE a.attrelid = c.oid AND a.attname = 'platform_id' AND a.attnotnull AND NOT a.attisdropped)::text
		FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition`) {
		table, hasPlatform := row[0], row[1] == "true"
		switch {
		case hasPlatform && kinds[table] != "":
			find(table, table+" has a platform in each row: it is not "+kinds[table])
		case hasPlatform:
			kinds[table] = ofPlatforms
		case kinds[table] == "":
			find(table, table+" has no platform_id NOT NULL: add it, or name the table with a reason")
		}
		delete(named, table)
	}
	for table := range named {
		find(table, "there is no table "+table)
	}

	// Primary keys and unique constraints are indexes too.
	for _, row := range queryTexts(t, db, `
		SELECT i.indrelid::regclass::text, i.indexrelid::regclass::text, EXISTS (SELECT FROM pg_attribute a
			WHERE a.attrelid = i.indrelid AND a.attname = 'platform_id' AND a.attnum = ANY (i.indkey::int2[]))::text
		FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
		WHERE c.relnamespace = 'public'::regnamespace AND NOT c.relispartition AND (i.indisunique OR i.indisexclusion)`) {
		if kinds[row[0]] == ofPlatforms && row[2] != "true" {
			find(row[1], "the unique index "+row[1]+" of "+row[0]+" has no platform")
		}
	}

	// A foreign key joins the platforms of both tables in one pair of columns. Those of partitions are their parents'.
	for _, row := range queryTexts(t, db, `
		SELECT k.conrelid::regclass::text, k.conname, k.confrelid::regclass::text, bool_or(a.attname = 'platform_id' AND b.attname = 'platform_id')::text
		FROM pg_constraint k CROSS JOIN LATERAL unnest(k.conkey, k.confkey) AS pair (from_column, to_column)
		JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = from_column
		JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = to_column
		WHERE k.contype = 'f' AND k.connamespace = 'public'::regnamespace AND k.conparentid = 0
		GROUP BY k.oid, k.conrelid, k.conname, k.confrelid`) {
		from, to, samePlatform := kinds[row[0]], kinds[row[2]], row[3] == "true"
		if to != copied && (to != from || from == ofPlatforms && !samePlatform) {
			find(row[1], "the foreign key "+row[1]+" of "+row[0]+" to "+row[2]+" leaves the platform")
		}
	}
	for name := range exceptions {
		findings = append(findings, name+" is no exception any more: remove it")
	}
	slices.Sort(findings)
	return findings
}

func queryTexts(t *testing.T, db *sql.DB, query string) (texts [][]string) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		row := make([]string, len(columns))
		into := make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return texts
}
