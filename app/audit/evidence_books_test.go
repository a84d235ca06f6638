package audit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"causeway/adapters/pgembed/pgtest"
	"causeway/ledger"
)

// booksFixture has a row of each kind of facts of finance, as the service writes them.
const booksFixture = `
	INSERT INTO ledger_settings (platform_id, version, changed_at, token_id, actor, note, functional_currency, unrealised_result, fee_recognition, year_end_month, four_eyes)
		SELECT platform_id, 1, now(), gen_random_uuid(), 'ann', 'first', 'USD', 'REVERSE', 'DELIVERY', 12, '{CHART}' FROM ledger_clocks;
	INSERT INTO ledger_added_accounts (platform_id, path, version, name, description, retired, changed_at, token_id, actor, note)
		SELECT platform_id, 'income/Consulting', 1, 'Consulting', '', false, now(), NULL, 'ops', '' FROM ledger_clocks;
	INSERT INTO ledger_recurring_adjustments (platform_id, name, version, entries, note, first_month, reverses, changed_at, token_id, actor)
		SELECT platform_id, 'rent', 1, '[{"debit": "expense/rails", "credit": "income/fees", "currency": "USD", "amount": 5}]', 'rent', '2100-01-01', false, now(), NULL, 'ops' FROM ledger_clocks;
	INSERT INTO ledger_gl_mappings (platform_id, version, changed_at, token_id, actor, note) SELECT platform_id, 1, now(), NULL, 'ops', 'ours' FROM ledger_clocks;
	INSERT INTO ledger_gl_mapping_lines (platform_id, version, path, currency, code, name)
		SELECT platform_id, 1, path, '', code, 'Cash' FROM ledger_clocks, (VALUES ('rails/*', '1000'), ('customers/*', '2000')) AS v (path, code);
	INSERT INTO gl_journals (platform_id, number, span, from_day, to_day, currency, revision, mapping_version, made_at, token_id, actor)
		SELECT platform_id, 'CW-2026-10-USD-1', '2026-10', '2026-10-01', '2026-11-01', 'USD', 1, 1, now(), NULL, 'ops' FROM ledger_clocks;
	INSERT INTO gl_journal_lines (platform_id, number, line, code, name, debit, credit)
		SELECT platform_id, 'CW-2026-10-USD-1', line, code, 'Cash', debit, credit FROM ledger_clocks, (VALUES (1, '1000', 5, 0), (2, '2000', 0, 5)) AS v (line, code, debit, credit);
	INSERT INTO ledger_proposals (platform_id, id, action, operation, request, status, proposer_token_id, proposer, created_at, expires_at)
		SELECT platform_id, ('01930000-0000-7000-8000-0000000000c' || n)::uuid, 'CHART', 'addAccount', '{"path": "income/Consulting"}', 'PENDING', gen_random_uuid(), 'ann', now(), now() + interval '7 days'
		FROM ledger_clocks, generate_series(1, 2) n;
	UPDATE ledger_proposals SET status = 'EXECUTED', decider_token_id = gen_random_uuid(), decider = 'bob', decided_at = now() WHERE id = '01930000-0000-7000-8000-0000000000c1';
	INSERT INTO ledger_month_end_runs (platform_id, kind, month, run, ran_at, token_id, actor, last_seq, posting_ids)
		SELECT platform_id, kind, '2026-10-01', 1, now(), NULL, 'ops', 1, '{}' FROM ledger_clocks, (VALUES ('revaluation'), ('fee_deferral'), ('receivables_allowance')) AS v (kind);
	INSERT INTO ledger_exchange_results (platform_id, month, run, functional_currency, keep_unrealised, covers_from, rates_kept_at, opening_rates_kept_at, opening_result, cash, opening_value, closing_value, rate_changes)
		SELECT platform_id, '2026-10-01', 1, 'USD', false, '2026-10-01', now(), now(), 0, 1, 2, 3, 0 FROM ledger_clocks;
	INSERT INTO ledger_exchange_positions (platform_id, month, run, currency, quantity, cost, rate, rate_at, rate_source, value, unrealised, carried)
		SELECT platform_id, '2026-10-01', 1, 'EUR', 100, 110, '1.1', now(), 'ecb', 110, 0, 0 FROM ledger_clocks;
	INSERT INTO ledger_exchange_translations (platform_id, month, run, account, currency, quantity, value, postings) SELECT platform_id, '2026-10-01', 1, 'income/fees', 'EUR', 6, 7, 1 FROM ledger_clocks;
	INSERT INTO ledger_exchange_origins (platform_id, month, run, origin, currency, amount, trades) SELECT platform_id, '2026-10-01', 1, 'CONVERSION', 'EUR', 5, 1 FROM ledger_clocks;
	INSERT INTO ledger_payments_in_transit (platform_id, month, run, transaction_id, currency, amount, fee) SELECT platform_id, '2026-10-01', 1, gen_random_uuid(), 'USD', 100, 1 FROM ledger_clocks;
	INSERT INTO ledger_receivables_allowances (platform_id, month, run, currency, owed_30, owed_60, owed_90, owed_over_90, rates, before, required)
		SELECT platform_id, '2026-10-01', 1, 'USD', 100, 0, 0, 0, '5,0,0,0', 0, 5 FROM ledger_clocks;
	INSERT INTO ledger_year_closings (platform_id, year, number, last_month, closed_at, token_id, actor, note, posting_id, seq) SELECT platform_id, 2025, 1, '2025-12-01', now(), NULL, 'ops', 'closed', NULL, 1 FROM ledger_clocks;
	INSERT INTO ledger_year_results (platform_id, year, number, currency, income, expense) SELECT platform_id, 2025, 1, 'USD', 100, 40 FROM ledger_clocks;
	INSERT INTO ledger_year_reversals (platform_id, year, number, reversed_at, token_id, actor, note, posting_id, effective_at) SELECT platform_id, 2025, 1, now(), NULL, 'ops', 'again', NULL, now() FROM ledger_clocks;
	INSERT INTO receivables (platform_id, id, transaction_id, customer_id, account_id, account_path, partner, reference, currency, amount, collected, written_off, state, reason_code, partner_id, returned_at, note, created_at, updated_at)
		SELECT platform_id, '01930000-0000-7000-8000-0000000000d1', id, customer_id, gen_random_uuid(), 'customers/x', 'rails/RTP', '', 'USD', 100, 0, 0, 'OPEN', 'R01', '', now(), '', now(), now() FROM transactions LIMIT 1;
	INSERT INTO payment_authorizations (platform_id, transaction_id, purpose, customer_id, factor, exemption, euro_cents, digest, authorized_at)
		SELECT platform_id, '01930000-0000-7000-8000-0000000000a1', 'PAYOUT', gen_random_uuid(), '', 'LOW_VALUE', 100, sha256('payment'), now() FROM ledger_clocks;
	INSERT INTO receivable_changes (platform_id, receivable_id, number, kind, amount, posting_id, effective_at, changed_at, note)
		SELECT platform_id, '01930000-0000-7000-8000-0000000000d1', 1, 'RETURNED', 100, id, now(), now(), '' FROM ledger_postings WHERE seq = 1;
	UPDATE receivables SET collected = 20, updated_at = now();
	INSERT INTO safeguarding_purposes (platform_id, account, version, purpose, changed_at, actor, note) SELECT platform_id, 'rails/RTP', 1, 'OWN', now(), 'ops', '' FROM ledger_clocks;
	INSERT INTO safeguarding_reports (platform_id, day, version, as_of, made_at, seq, posting_digest, shortfalls, value_missing, requirement_value, resource_value, digest)
		SELECT platform_id, '2026-11-19', 1, '2026-11-20', now(), 1, digest, '{}', '{}', 10, 12, sha256('report') FROM ledger_postings WHERE seq = 1;
	INSERT INTO safeguarding_report_lines (platform_id, day, version, section, path, currency, amount) SELECT platform_id, '2026-11-19', 1, 'REQUIREMENT', 'customers', 'USD', 10 FROM ledger_clocks;
	INSERT INTO safeguarding_report_statements (platform_id, day, version, path, currency, reconciliation_id, statement_date, open_breaks)
		SELECT platform_id, '2026-11-19', 1, 'rails/RTP', 'USD', gen_random_uuid(), '2026-11-19', 0 FROM ledger_clocks;
	INSERT INTO safeguarding_acknowledgements (platform_id, day, version, acknowledged_at, actor, note) SELECT platform_id, '2026-11-19', 1, now(), 'ops', 'seen' FROM ledger_clocks;
	INSERT INTO treasury_movements (platform_id, id, kind, from_account, to_account, currency, amount, in_transit, allow_overdraft, note, effective_at, posting_id, created_at, actor)
		SELECT platform_id, '01930000-0000-7000-8000-0000000000e1', 'TRANSFER', 'rails/RTP', 'own/BANK', 'USD', 5, true, false, '', now(), id, now(), 'ops' FROM ledger_postings WHERE seq = 1;
	INSERT INTO treasury_arrivals (platform_id, movement_id, posting_id, effective_at, arrived_at, actor)
		SELECT platform_id, '01930000-0000-7000-8000-0000000000e1', id, now(), now(), 'ops' FROM ledger_postings WHERE seq = 2`

// pricesFixture is what operators record: the prices of the platform, and those of all platforms.
const pricesFixture = `
	INSERT INTO corridor_overrides (platform_id, source, destination, fee_fixed) SELECT platform_id, 'USD', 'EUR', 10 FROM ledger_clocks;
	INSERT INTO corridor_overrides (platform_id, source, destination, fee_fixed) VALUES (NULL, 'USD', 'EUR', 20);
	INSERT INTO corridor_proposals (id, platform_id, operation, request, status, proposer, created_at, expires_at)
		SELECT ('01930000-0000-7000-8000-0000000000f' || n)::uuid, CASE WHEN n < 3 THEN platform_id END, 'corridors set', '{"fee": 10}', 'PENDING', 'ann', now(), now() + interval '7 days'
		FROM ledger_clocks, generate_series(1, 3) n;
	UPDATE corridor_proposals SET status = 'EXECUTED', decider = 'bob', decided_at = now() WHERE id <> '01930000-0000-7000-8000-0000000000f2'`

// booksFacts are the facts of booksFixture: their table, a subject, a change with the column that a finding names, and
// the changed columns and the subject of a copy.
var booksFacts = []struct {
	kind                                         ledger.FactKind
	table, subject, change, column, copy, copied string
}{
	{ledger.FactSettings, "ledger_settings", "1", "functional_currency = 'EUR'", "functional_currency", `{"version": 2}`, "2"},
	{ledger.FactAddedAccount, "ledger_added_accounts", "income/Consulting/1", "retired = true", "retired", `{"version": 2}`,
		"income/Consulting/2"},
	{ledger.FactRecurring, "ledger_recurring_adjustments", "rent/1", "note = 'none'", "note", `{"version": 2}`, "rent/2"},
	{ledger.FactGLMapping, "ledger_gl_mappings", "1", "note = 'theirs'", "note", `{"version": 2}`, "2"},
	{ledger.FactGLJournal, "gl_journals", "CW-2026-10-USD-1", "made_at = '2026-01-01'", "made_at",
		`{"number": "CW-2026-10-USD-2", "revision": 2}`, "CW-2026-10-USD-2"},
	{ledger.FactProposal, "ledger_proposals", "01930000-0000-7000-8000-0000000000c2", "request = '{}'", "request",
		`{"id": "01930000-0000-7000-8000-0000000000c9"}`, "01930000-0000-7000-8000-0000000000c9"},
	{ledger.FactDecision, "ledger_proposals", "01930000-0000-7000-8000-0000000000c1", "decider = 'eve'", "decider",
		`{"id": "01930000-0000-7000-8000-0000000000c9"}`, "01930000-0000-7000-8000-0000000000c9"},
	{ledger.FactMonthEndRun, "ledger_month_end_runs", "revaluation/2026-10-01/1", "last_seq = 2", "last_seq", `{"run": 2}`,
		"fee_deferral/2026-10-01/2"},
	{ledger.FactYearClosing, "ledger_year_closings", "2025/1", "seq = 2", "seq", `{"number": 2}`, "2025/2"},
	{ledger.FactYearReversal, "ledger_year_reversals", "2025/1", "actor = 'eve'", "actor", `{"year": 2024}`, "2024/1"},
	{ledger.FactReceivable, "receivables", "01930000-0000-7000-8000-0000000000d1", "amount = 90", "amount",
		`{"id": "01930000-0000-7000-8000-0000000000d9", "transaction_id": "01930000-0000-7000-8000-0000000000f9"}`,
		"01930000-0000-7000-8000-0000000000d9"},
	{ledger.FactReceivableChange, "receivable_changes", "01930000-0000-7000-8000-0000000000d1/1", "amount = 90", "amount",
		`{"number": 2, "posting_id": "01930000-0000-7000-8000-0000000000f9"}`, "01930000-0000-7000-8000-0000000000d1/2"},
	{ledger.FactPaymentAuthorization, "payment_authorizations", "01930000-0000-7000-8000-0000000000a1/PAYOUT", "euro_cents = 90", "euro_cents",
		`{"purpose": "TRANSFER"}`, "01930000-0000-7000-8000-0000000000a1/TRANSFER"},
	{ledger.FactSafeguardingPurpose, "safeguarding_purposes", "rails/RTP/1", "purpose = 'CLIENT'", "purpose", `{"version": 2}`, "rails/RTP/2"},
	{ledger.FactSafeguardingReport, "safeguarding_reports", "2026-11-19/1", "resource_value = 9", "resource_value", `{"day": "2026-11-18"}`,
		"2026-11-18/1"},
	{ledger.FactSafeguardingAcknowledgement, "safeguarding_acknowledgements", "2026-11-19/1/1", "note = 'not seen'", "note",
		`{"id": 9}`, "2026-11-19/1/9"},
	{ledger.FactTreasuryMovement, "treasury_movements", "01930000-0000-7000-8000-0000000000e1", "to_account = 'own/OTHER'", "to_account",
		`{"id": "01930000-0000-7000-8000-0000000000e9", "posting_id": "01930000-0000-7000-8000-0000000000f9"}`,
		"01930000-0000-7000-8000-0000000000e9"},
	{ledger.FactTreasuryArrival, "treasury_arrivals", "01930000-0000-7000-8000-0000000000e1", "effective_at = '2026-01-01'", "effective_at",
		`{"movement_id": "01930000-0000-7000-8000-0000000000e9", "posting_id": "01930000-0000-7000-8000-0000000000f9"}`,
		"01930000-0000-7000-8000-0000000000e9"},
	{ledger.FactCorridorProposal, "corridor_proposals", "01930000-0000-7000-8000-0000000000f2", "request = '{}'", "request",
		`{"id": "01930000-0000-7000-8000-0000000000f9"}`, "01930000-0000-7000-8000-0000000000f9"},
	{ledger.FactCorridorDecision, "corridor_proposals", "01930000-0000-7000-8000-0000000000f1", "decider = 'eve'", "decider",
		`{"id": "01930000-0000-7000-8000-0000000000f9"}`, "01930000-0000-7000-8000-0000000000f9"},
	{ledger.FactCorridorChange, "corridor_changes", "1", "changed_by = 'eve'", "changed_by", `{"seq": 9}`, "9"},
}

// booksLines are the tables with lines of facts: a change, the columns of a copy, and what a finding names.
var booksLines = []struct{ table, change, copy, fact, name string }{
	{"ledger_gl_mapping_lines", "code = '3000' WHERE code = '1000'", `{"path": "wallets/*"}`, "gl-mapping 1", "mapping_lines"},
	{"gl_journal_lines", "debit = 6 WHERE debit = 5", `{"line": 3}`, "gl-journal CW-2026-10-USD-1", "journal_lines"},
	{"ledger_exchange_results", "closing_value = 4", "", "month-end-run revaluation/2026-10-01/1", "exchange_result"},
	{"ledger_exchange_positions", "rate = '1.2'", `{"currency": "GBP"}`, "month-end-run revaluation/2026-10-01/1", "exchange_positions"},
	{"ledger_exchange_origins", "amount = 6", `{"currency": "GBP"}`, "month-end-run revaluation/2026-10-01/1", "exchange_origins"},
	{"ledger_exchange_translations", "value = 8", `{"account": "income/rounding"}`, "month-end-run revaluation/2026-10-01/1",
		"exchange_translations"},
	{"ledger_payments_in_transit", "fee = 2", `{"currency": "GBP"}`, "month-end-run fee_deferral/2026-10-01/1", "payments_in_transit"},
	{"ledger_receivables_allowances", "owed_30 = 90", `{"currency": "GBP"}`, "month-end-run receivables_allowance/2026-10-01/1", "allowances"},
	{"ledger_year_results", "income = 90", `{"currency": "GBP"}`, "year-closing 2025/1", "year_results"},
	{"safeguarding_report_lines", "amount = 9", `{"currency": "GBP"}`, "safeguarding-report 2026-11-19/1", "report_lines"},
	{"safeguarding_report_statements", "open_breaks = 1", `{"currency": "GBP"}`, "safeguarding-report 2026-11-19/1", "report_statements"},
}

func newBooksEnv(t *testing.T) *evidenceEnv {
	t.Helper()
	e := newEvidenceEnv(t)
	if _, err := e.Store.Pool().Exec(t.Context(), booksFixture); err != nil {
		t.Fatal(err)
	}
	operator := pgtest.Connect(t, e.URL)
	if _, err := operator.Exec(t.Context(), pricesFixture); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEvidence_BooksAreSealed(t *testing.T) {
	t.Parallel()
	// A row of each kind is sealed once, and nothing is found while it is as it was: also after a receivable was
	// collected further, and a proposal was decided, which is a fact of its own.
	e := newBooksEnv(t)
	e.seal()
	if _, err := e.Store.Pool().Exec(t.Context(), `
		UPDATE receivables SET collected = 40, updated_at = now();
		UPDATE ledger_proposals SET status = 'REJECTED', decider_token_id = gen_random_uuid(), decider = 'bob', note = 'no', decided_at = now() WHERE status = 'PENDING'`); err != nil {
		t.Fatal(err)
	}
	if _, findings := e.verifyEvidence(); len(findings) > 0 {
		t.Errorf("before the decision is sealed: %q", findings)
	}
	e.seal()

	_, findings := e.verifyEvidence()

	if len(findings) > 0 {
		t.Errorf("found %q", findings)
	}
	sealed := map[string]int{}
	rows, err := e.Store.Pool().Query(t.Context(), "SELECT kind, count(*) FROM ledger_evidence, unnest(kinds) kind GROUP BY kind")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var kind string
		var n int
		if err := rows.Scan(&kind, &n); err != nil {
			t.Fatal(err)
		}
		sealed[kind] = n
	}
	for _, f := range booksFacts {
		want := 1
		if f.kind == ledger.FactProposal || f.kind == ledger.FactDecision || f.kind == ledger.FactCorridorProposal {
			want = 2
		}
		if f.kind == ledger.FactMonthEndRun {
			want = 3
		}
		if sealed[string(f.kind)] != want {
			t.Errorf("%d facts of the kind %s are sealed, want %d", sealed[string(f.kind)], f.kind, want)
		}
	}
}

func TestEvidence_FindsDamageOfBooks(t *testing.T) {
	t.Parallel()
	// Whatever is changed, deleted or inserted without the service, of each kind and of the lines that belong to it, is
	// found and named.
	e := newBooksEnv(t)
	e.seal()
	type damage struct{ table, statement, want string }
	var damages []damage
	insert := func(table, changes string) string {
		return fmt.Sprintf("INSERT INTO %[1]s OVERRIDING SYSTEM VALUE SELECT (jsonb_populate_record(t, '%[2]s')).* FROM %[1]s t ORDER BY 1, 2 "+
			"LIMIT 1", table, changes)
	}
	for _, f := range booksFacts {
		where := ""
		switch f.kind {
		case ledger.FactProposal, ledger.FactDecision, ledger.FactCorridorProposal, ledger.FactCorridorDecision:
			where = " WHERE id = '" + f.subject + "'"
		case ledger.FactCorridorChange:
			where = " WHERE platform_id IS NOT NULL"
		}
		changed := fmt.Sprintf("is not what was sealed at %s: %s was changed", "2026-11-20T12:03:00Z", f.column)
		if f.column == "" { // the subject was
			changed = ", sealed at 2026-11-20T12:03:00Z, is missing"
		}
		copied := insert(f.table, f.copy)
		if where != "" {
			copied = strings.Replace(copied, " ORDER BY", where+" ORDER BY", 1)
		}
		fact := fmt.Sprintf("the %s %s of %s", f.kind, f.subject, e.platform)
		damages = append(damages,
			damage{f.table, "UPDATE " + f.table + " SET " + f.change + where, strings.Replace(fact+" "+changed, " ,", ",", 1)},
			damage{f.table, "DELETE FROM " + f.table + where, fact + ", sealed at 2026-11-20T12:03:00Z, is missing"},
			damage{f.table, copied, fmt.Sprintf("the %s %s of %s has no evidence: it was not recorded by the service", f.kind,
				f.copied, e.platform)})
	}
	for _, l := range booksLines {
		want := fmt.Sprintf("the %s of %s is not what was sealed at %s: %s was changed", l.fact, e.platform, "2026-11-20T12:03:00Z", l.name)
		damages = append(damages, damage{l.table, "UPDATE " + l.table + " SET " + l.change, want},
			damage{l.table, "DELETE FROM " + l.table, want})
		if l.copy != "" {
			damages = append(damages, damage{l.table, insert(l.table, l.copy), want})
		}
	}
	// A decision that is taken back, and one that nobody made.
	damages = append(damages,
		damage{"ledger_proposals", "UPDATE ledger_proposals SET status = 'PENDING', decider_token_id = NULL, decider = '', decided_at = NULL",
			"the proposal-decision 01930000-0000-7000-8000-0000000000c1 of " + e.platform.String() + ", sealed at"},
		damage{
			"ledger_proposals", "UPDATE ledger_proposals SET status = 'REJECTED', decider = 'eve', decided_at = now() WHERE status = 'PENDING'",
			"the proposal-decision 01930000-0000-7000-8000-0000000000c2 of " + e.platform.String() + " has no evidence"},
		damage{"corridor_changes", "UPDATE corridor_changes SET platform_id = NULL", "the corridor-change 1 of " +
			e.platform.String() + ", sealed at"})

	for _, d := range damages {
		kept := "kept_" + d.table
		e.execAsSuperuser("DROP TABLE IF EXISTS " + kept + "; CREATE TABLE " + kept + " AS TABLE " + d.table + "; " + d.statement)

		_, findings := e.verifyEvidence()

		if !slices.ContainsFunc(findings, func(f string) bool { return strings.Contains(f, d.want) }) {
			t.Errorf("%s\nwant %q, found %q", d.statement, d.want, findings)
		}
		e.execAsSuperuser("DELETE FROM " + d.table + "; INSERT INTO " + d.table + " OVERRIDING SYSTEM VALUE SELECT * FROM " + kept)
	}
	if _, findings := e.verifyEvidence(); len(findings) > 0 {
		t.Errorf("after everything was put back: %v", findings)
	}
}
