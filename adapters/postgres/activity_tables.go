package postgres

import (
	"cmp"
	"fmt"
	"strings"

	"causeway/core/ident"
)

// activityTable is a table of what people have done: where the columns of a ports.Activity are in it, each an expression. Its ids are in
// the order of time. Those that are empty have no value.
type activityTable struct {
	table, where                  string
	id, at, actor, person, action string
	note, subjectID, subject      string
	changes, approver             string
	// byActor: an index finds the rows of an actor, by id.
	byActor bool
	made    bool // the ids are made of the times
	// subjects are the conditions of what it was done to ($9), of which no row has two. An index finds the rows of each, but for the
	// subjects of jobs, which people have retried or discarded, and of the tables that finance changes by hand.
	subjects []string
}

// activityTables have all that people have done to a platform: what is recorded as such, and what is recorded where it counts.
var activityTables = []activityTable{
	{table: "operator_actions", id: "id", at: "at", actor: "actor", person: "person_id", action: "action",
		note:      `coalesce((SELECT 'refused: ' || reason FROM operator_refusals r WHERE r.platform_id = $1 AND r.action_id = operator_actions.id), '')`,
		subjectID: "subject_id", subject: "subject", changes: "changes", byActor: true, subjects: []string{"subject_id = $9"}},
	{table: "job_actions", id: "id", at: "at", actor: "actor", person: "person_id", action: "action || '_JOB'", note: "reason",
		subjectID: "job_id", subject: "step", byActor: true, subjects: []string{"job_id = $9", "$9 = ANY (subjects)"}},
	{table: "rail_decisions", id: "id", at: "decided_at", actor: "actor", person: "person_id", action: "decision || '_' || kind", note: "note",
		subjectID: "payment_id", approver: author("approver"), byActor: true, subjects: []string{"payment_id = $9"}},
	{table: "verification_reviews", id: "id", at: "reviewed_at", actor: "actor", person: "person_id", action: "'REVIEW_' || verdict",
		subjectID: "coalesce(verification_id, owner_id)", subject: typed[ident.Customer]("customer_id"), byActor: true,
		subjects: []string{"verification_id = $9", "owner_id = $9", "customer_id = $9"}},
	{table: "ledger_proposals", id: "id", at: "created_at", actor: author("proposer"), person: "proposer_person_id",
		action: "'PROPOSE_' || action", note: "lower(status)", subjectID: "id", subject: "operation", subjects: []string{"id = $9"}},
	madeTable("ledger_proposals", "decided_at", "'decision of ' || id", activityTable{actor: author("decider"), person: "decider_person_id",
		action: "CASE status WHEN 'REJECTED' THEN 'REJECT_' ELSE 'APPROVE_' END || action", note: "note", subjectID: "id", subject: "operation",
		approver: nobody}),
	{table: "treasury_movements", id: "id", at: "created_at", actor: author(""), person: "person_id", action: "'MOVE_TREASURY'", note: "note",
		subjectID: "posting_id", subject: typed[ident.Posting]("posting_id"), approver: author("approver"),
		subjects: []string{"posting_id = $9"}},
	madeTable("treasury_arrivals", "arrived_at", "movement_id", activityTable{action: "'CONFIRM_TREASURY_ARRIVAL'", subjectID: "posting_id",
		subject: typed[ident.Posting]("posting_id")}),
	madeTable("ledger_period_changes", "changed_at", "id", activityTable{action: "upper(replace(action, '-', '_')) || '_MONTH'", note: "note",
		subject: "to_char(month, 'YYYY-MM')"}),
	madeTable("ledger_month_end_runs", "ran_at", "kind || month || run", activityTable{action: "'POST_' || upper(replace(kind, '-', '_'))",
		subject: "to_char(month, 'YYYY-MM')"}),
	madeTable("ledger_year_closings", "closed_at", "year || ' ' || number", activityTable{action: "'CLOSE_YEAR'", note: "note",
		subject: "year::text"}),
	madeTable("ledger_year_reversals", "reversed_at", "year || ' ' || number", activityTable{action: "'REVERSE_CLOSING_OF_YEAR'", note: "note",
		subject: "year::text"}),
	madeTable("ledger_authorisations", "authorised_at", "posting_id", activityTable{action: "'AUTHORISE_POSTING'", note: "note",
		subjectID: "posting_id", subject: typed[ident.Posting]("posting_id")}),
	madeTable("receivable_changes", "changed_at", "receivable_id || ' ' || number", activityTable{
		action: "'WRITE_OFF_RECEIVABLE'", note: "note", subjectID: "receivable_id", subject: typed[ident.Receivable]("receivable_id")}).
		only("kind = 'WRITTEN_OFF'"),
	madeTable("unmatched_assignments", "assigned_at", "posting_id", activityTable{action: "'ASSIGN_RECEIPT'", note: "note",
		subjectID: "posting_id", subject: typed[ident.Posting]("posting_id")}),
	madeTable("reconciliation_resolutions", "resolved_at", "break_id", activityTable{
		actor: "coalesce(nullif(actor, ''), resolved_by)", action: "'RESOLVE_BREAK_' || method", note: "note", subjectID: "break_id",
		subject:  typed[ident.Break]("break_id"),
		approver: "coalesce(approver, '')"}),
	madeTable("safeguarding_acknowledgements", "acknowledged_at", "day || ' ' || version || ' ' || id", activityTable{
		action: "'ACKNOWLEDGE_SHORTFALL'", note: "note", subject: "day::text", approver: nobody}),
	madeTable("safeguarding_reports", "made_at", "day || ' ' || version", activityTable{action: "'RUN_SAFEGUARDING'",
		subject: "day::text", approver: nobody}),
	madeTable("gl_journals", "made_at", "number", activityTable{action: "'MAKE_JOURNAL'", subject: "number", approver: nobody}),
	versionsTable("ledger_settings", "", "'version ' || version", "CHANGE_SETTINGS_OF_BOOKS"),
	versionsTable("ledger_added_accounts", "path", "path", "SET_LEDGER_ACCOUNT"),
	versionsTable("safeguarding_purposes", "account", "account", "SET_PURPOSE_OF_ACCOUNT"),
	versionsTable("ledger_recurring_adjustments", "name", "name", "SET_RECURRING_ADJUSTMENT"),
	versionsTable("ledger_gl_mappings", "", "'mapping'", "SET_GENERAL_LEDGER_MAPPING"),
}

// nobody approves what needs no second person.
const nobody = "''"

// author is who has done it, in the columns of that prefix: a name, or a token.
func author(prefix string) string {
	name, token := cmp.Or(prefix, "actor"), "token_id"
	if prefix != "" {
		token = prefix + "_token_id"
	}
	return fmt.Sprintf("coalesce(nullif(%s, ''), 'Token:' || %s, '')", name, token)
}

// madeTable is a table whose rows have no id of their own. One is made of the time, to the microsecond, and of a hash of what names the
// row, so that ids have the order of time. What the service has done by itself is left out.
func madeTable(table, at, key string, t activityTable) activityTable {
	t.actor, t.person = cmp.Or(t.actor, author("")), cmp.Or(t.person, "person_id")
	t.at, t.approver = at, cmp.Or(t.approver, author("approver"))
	t.id = fmt.Sprintf(`(lpad(to_hex(floor(extract(epoch FROM %[1]s) * 1000)::bigint), 12, '0') || '7' ||
		lpad(to_hex((extract(microseconds FROM %[1]s)::bigint %% 1000)::integer), 3, '0') || '8' || left(md5('%[2]s ' || (%[3]s)), 15))::uuid`, at, table, key)
	t.table, t.made = table, true
	if t.subjectID != "" {
		t.subjects = []string{t.subjectID + " = $9"}
	}
	return t.only(t.actor + " <> ''")
}

// only leaves out the rows without a condition.
func (t activityTable) only(condition string) activityTable {
	t.where += " AND " + condition
	return t
}

// versionsTable is a table with a version for each change of something, of which the changes are those from the version before.
func versionsTable(table, key, subject, action string) activityTable {
	t := madeTable(table, "changed_at", cmp.Or(key, "''")+" || version", activityTable{action: "'" + action + "'", note: "note",
		subject: subject})
	same := ""
	if key != "" {
		same = fmt.Sprintf(" AND b.%[1]s = %[2]s.%[1]s", key, table)
	}
	t.changes = fmt.Sprintf(`(SELECT jsonb_build_object('columns', jsonb_agg(jsonb_build_object('field', n.key, 'before', o.value, 'after', n.value)))
		FROM jsonb_each_text(to_jsonb(%[1]s) - %[2]s::text[]) n LEFT JOIN LATERAL (
			SELECT f.value FROM %[1]s b, jsonb_each_text(to_jsonb(b)) f
			WHERE b.platform_id = $1 AND b.version = %[1]s.version - 1%[3]s AND f.key = n.key) o ON true
		WHERE n.value IS DISTINCT FROM o.value)`, table, "'{platform_id,version,changed_at,token_id,actor,note,proposal_id,approver_token_id,approver,person_id}'",
		same)
	return t
}

// columns are those of all tables, in one order.
func (t activityTable) columns() string {
	return strings.Join([]string{t.id, t.at, t.actor, orZero(t.person), t.action, cmp.Or(t.note, "''"), orZero(t.subjectID),
		cmp.Or(t.subject, "''"), cmp.Or(t.changes, "NULL::jsonb"), cmp.Or(t.approver, "''")}, ", ")
}

// orZero is an id, or the zero one.
func orZero(id string) string {
	return fmt.Sprintf("coalesce(%s, '00000000-0000-0000-0000-000000000000'::uuid)", cmp.Or(id, "NULL"))
}

// typed is an id with its type.
func typed[ID interface{ Prefix() string }](column string) string {
	var id ID
	return fmt.Sprintf("'%s:' || %s", id.Prefix(), column)
}
