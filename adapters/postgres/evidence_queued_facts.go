package postgres

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/ledger"
)

// queuedFact is a table whose rows are queued as facts by triggers. A fact is a whole row: columns that are added to
// the table later belong to it too, and must be empty in older rows. Of a table whose rows change, each version is one.
type queuedFact struct {
	kind  ledger.FactKind
	table string
	// of has the platform and the key of each fact, where the table has no row for each; empty for the table itself.
	of string
	// key identifies a row of a platform; a text is first.
	key []keyColumn
	// rows is the condition of the rows t that are facts; empty for all.
	rows string
	// columns are those of the fact, in a table in which others change; nil for the whole row.
	columns []string
	// versions: rows change and are deleted, and each version is a fact. The last one of a row is compared with it.
	versions bool
	// more are fields beside the columns, by name: digests of what is large, and of the rows that belong to a row t.
	more map[string]string
}

type keyColumn struct{ name, sqlType string }

// ofReconciliation selects the rows of a reconciliation, which repeat its account and currency. One that was changed to
// those of another is missing from the digest.
const ofReconciliation = "l.reconciliation_id = t.id AND l.reconciliation_id IS NOT NULL AND l.account = t.account AND l.currency = " +
	"t.currency"

// ofMatch selects the rows of the matches of a reconciliation.
const ofMatch = `l.match_id IS NOT NULL AND l.match_id IN (
	SELECT m.id FROM reconciliation_matches m WHERE m.platform_id = t.platform_id AND m.reconciliation_id = t.id AND m.reconciliation_id IS NOT NULL)`

// queuedFacts are the kinds of the triggers ledger_evidence. Each is read by its primary key.
var queuedFacts = []queuedFact{
	{kind: ledger.FactClosing, table: "ledger_closings", key: []keyColumn{{"month", "date"}}, more: map[string]string{
		"trial_balance": digestOf("ledger_closing_lines", "l.month = t.month", "l.account_id",
			"l.account_id", "l.opening", "l.debits", "l.credits", "l.closing"),
	}},
	{kind: ledger.FactPeriodChange, table: "ledger_period_changes", key: []keyColumn{{"id", "bigint"}}},
	{kind: ledger.FactAuthorisation, table: "ledger_authorisations", key: []keyColumn{{"posting_id", "uuid"}}},
	{kind: ledger.FactAssignment, table: "unmatched_assignments", key: []keyColumn{{"posting_id", "uuid"}}},
	{kind: ledger.FactReconciliation, table: "reconciliations", key: []keyColumn{{"id", "uuid"}}, more: map[string]string{
		// The fingerprint of a line is a hash of its whole content; its texts are encrypted.
		"statement_lines": digestOf("reconciliation_lines", ofReconciliation, "l.id",
			"l.id", "l.fingerprint", "l.ordinal", "l.booking_date", "l.value_date", "l.amount", "l.returned"),
		"breaks_found": digestOf("reconciliation_breaks", ofReconciliation, "l.id",
			"l.id", "l.reason", "l.line_id", "l.seq", "l.entry_no", "l.compared_line_id", "l.compared_seq", "l.compared_entry_no", "l.reference",
			"l.difference", "l.explanation"),
	}},
	{kind: ledger.FactMatches, table: "reconciliations", key: []keyColumn{{"id", "uuid"}}, columns: []string{"id"}, more: map[string]string{
		"matches": digestOf("reconciliation_matches", "l.reconciliation_id = t.id AND l.reconciliation_id IS NOT NULL", "l.id",
			"l.id", "l.rule", "l.reference", "l.day_difference", "l.explanation"),
		"matched_lines": digestOf("reconciliation_matched_lines", ofMatch, "l.line_id", "l.line_id", "l.match_id"),
		"matched_entries": digestOf("reconciliation_matched_entries", ofMatch, "l.account, l.seq, l.entry_no",
			"l.account", "l.seq", "l.entry_no", "l.match_id"),
	}},
	{kind: ledger.FactResolution, table: "reconciliation_resolutions", key: []keyColumn{{"break_id", "uuid"}}},
	{kind: ledger.FactCheckpoint, table: "ledger_log_checkpoints", key: []keyColumn{{"size", "bigint"}}},

	{kind: ledger.FactSettings, table: "ledger_settings", key: []keyColumn{{"version", "integer"}}},
	{kind: ledger.FactAddedAccount, table: "ledger_added_accounts", key: []keyColumn{{"path", "text"}, {"version", "integer"}}},
	{kind: ledger.FactRecurring, table: "ledger_recurring_adjustments", key: []keyColumn{{"name", "text"}, {"version", "integer"}}},
	{kind: ledger.FactGLMapping, table: "ledger_gl_mappings", key: []keyColumn{{"version", "integer"}}, more: map[string]string{
		"mapping_lines": rowsDigest("ledger_gl_mapping_lines", "l.version = t.version"),
	}},
	{kind: ledger.FactGLJournal, table: "gl_journals", key: []keyColumn{{"number", "text"}}, more: map[string]string{
		"journal_lines": rowsDigest("gl_journal_lines", "l.number = t.number"),
	}},
	{kind: ledger.FactProposal, table: "ledger_proposals", key: []keyColumn{{"id", "uuid"}},
		columns: []string{"id", "action", "operation", "figures", "proposer_token_id", "proposer", "created_at", "expires_at",
			"proposer_person_id"},
		more: map[string]string{"request": "encode(sha256(convert_to(t.request, 'UTF8')), 'hex')"}},
	{kind: ledger.FactDecision, table: "ledger_proposals", key: []keyColumn{{"id", "uuid"}}, rows: "t.status <> 'PENDING'",
		columns: []string{"id", "status", "decider_token_id", "decider", "note", "result", "error_code", "error_message",
			"error_at", "decided_at", "decider_person_id"}},
	{kind: ledger.FactMonthEndRun, table: "ledger_month_end_runs", key: []keyColumn{{"kind", "text"}, {"month", "date"}, {"run", "integer"}},
		more: map[string]string{
			"exchange_result":       rowsDigest("ledger_exchange_results", runOf(ledger.KindRevaluation)),
			"exchange_positions":    rowsDigest("ledger_exchange_positions", runOf(ledger.KindRevaluation)),
			"exchange_origins":      rowsDigest("ledger_exchange_origins", runOf(ledger.KindRevaluation)),
			"exchange_translations": rowsDigest("ledger_exchange_translations", runOf(ledger.KindRevaluation)),
			"allowances":            rowsDigest("ledger_receivables_allowances", runOf(ledger.KindAllowance)),
			"payments_in_transit":   rowsDigest("ledger_payments_in_transit", runOf(ledger.KindFeeDeferral)),
		}},
	{kind: ledger.FactYearClosing, table: "ledger_year_closings", key: []keyColumn{{"year", "integer"}, {"number", "integer"}},
		more: map[string]string{
			"year_results": rowsDigest("ledger_year_results", "l.year = t.year AND l.number = t.number"),
		}},
	{kind: ledger.FactYearReversal, table: "ledger_year_reversals", key: []keyColumn{{"year", "integer"}, {"number", "integer"}}},
	{kind: ledger.FactReceivable, table: "receivables", key: []keyColumn{{"id", "uuid"}}, columns: []string{
		"id", "transaction_id", "customer_id", "account_id", "account_path", "partner", "reference", "currency", "amount", "reason_code",
		"partner_id", "returned_at",
		"note", "token_id", "actor", "created_at", "person_id",
	}},
	{kind: ledger.FactReceivableChange, table: "receivable_changes", key: []keyColumn{{"receivable_id", "uuid"}, {"number", "integer"}}},
	{kind: ledger.FactSafeguardingPurpose, table: "safeguarding_purposes", key: []keyColumn{{"account", "text"}, {"version", "integer"}}},
	{kind: ledger.FactSafeguardingReport, table: "safeguarding_reports", key: []keyColumn{{"day", "date"}, {"version", "integer"}},
		more: map[string]string{
			"report_lines":      rowsDigest("safeguarding_report_lines", "l.day = t.day AND l.version = t.version"),
			"report_statements": rowsDigest("safeguarding_report_statements", "l.day = t.day AND l.version = t.version"),
		}},
	{kind: ledger.FactSafeguardingAcknowledgement, table: "safeguarding_acknowledgements",
		key: []keyColumn{{"day", "date"}, {"version", "integer"}, {"id", "bigint"}}},
	{kind: ledger.FactTreasuryMovement, table: "treasury_movements", key: []keyColumn{{"id", "uuid"}}},
	{kind: ledger.FactTreasuryArrival, table: "treasury_arrivals", key: []keyColumn{{"movement_id", "uuid"}}},
	{kind: ledger.FactCorridorChange, table: "corridor_changes", key: []keyColumn{{"seq", "bigint"}}},
	{kind: ledger.FactCorridorProposal, table: "corridor_proposals", key: []keyColumn{{"id", "uuid"}},
		columns: []string{"id", "operation", "request", "proposer", "created_at", "expires_at", "proposer_person_id"}},
	{kind: ledger.FactCorridorDecision, table: "corridor_proposals", key: []keyColumn{{"id", "uuid"}}, rows: "t.status <> 'PENDING'",
		columns: []string{"id", "status", "decider", "note", "error_code", "error_message", "error_at", "decided_at",
			"decider_person_id"}},
	{kind: ledger.FactExternalAccount, table: "external_accounts", key: []keyColumn{{"id", "uuid"}}, versions: true, columns: []string{
		"id", "customer_id", "platform_account_id", "currency", "account_type", "rails", "status", "default_uma_deposit", "verification",
		"created_at", "deleted_at", "trusted_at", "seal",
	}},
	{kind: ledger.FactPaymentAuthorization, table: "payment_authorizations",
		key: []keyColumn{{"transaction_id", "uuid"}, {"purpose", "text"}}},
	{kind: ledger.FactToken, table: "tokens", key: []keyColumn{{"id", "uuid"}}, versions: true},
	{kind: ledger.FactCustomerStatus, table: "customers", key: []keyColumn{{"id", "uuid"}}, versions: true,
		columns: []string{"id", "customer_type", "status", "held_at", "on_hold_at", "created_at", "deleted_at"}},
	{kind: ledger.FactMarketRates, table: "market_rates", of: keptRatesOfPlatforms, key: []keyColumn{{"kept_at", "timestamptz"}},
		versions: true, more: map[string]string{
			"rates": digestOfColumns("market_rates", "l.kept_at = t.kept_at", `l.currency COLLATE "C"`, "l.currency", "l.usd_rate",
				"l.rate_at", "l.source"),
		}},
}

// keptRatesOfPlatforms are the times at which market rates were kept, for each platform that has, or had, a functional
// currency. Uses the primary keys.
const keptRatesOfPlatforms = `(SELECT s.platform_id, r.kept_at
	FROM (SELECT DISTINCT platform_id FROM ledger_settings WHERE functional_currency <> '') s
	CROSS JOIN (SELECT DISTINCT kept_at FROM market_rates) r)`

// digestOf is SHA-256 over columns of the rows l of a table that belong to a row t, NULL if there are none.
func digestOf(table, condition, order string, columns ...string) string {
	return digestOfColumns(table, "l.platform_id = t.platform_id AND "+condition, order, columns...)
}

// digestOfColumns is digestOf in a table without platforms.
func digestOfColumns(table, condition, order string, columns ...string) string {
	return fmt.Sprintf(
		`(SELECT encode(sha256(string_agg(convert_to(ROW(%s)::text || E'\n', 'UTF8'), '' ORDER BY %s)), 'hex') FROM %s l WHERE %s)`,
		strings.Join(columns, ", "), order, table, condition)
}

// rowsDigest is SHA-256 over the rows l of a table that belong to a row t, NULL if there are none. Columns are left out
// where they are NULL, so that one that is added later does not change the digest of older rows.
func rowsDigest(table, condition string) string {
	const row = `jsonb_strip_nulls(to_jsonb(l) - 'platform_id')::text`
	return fmt.Sprintf(
		`(SELECT encode(sha256(string_agg(convert_to(%[1]s || E'\n', 'UTF8'), '' ORDER BY %[1]s COLLATE "C")), 'hex') FROM %[2]s l WHERE l.platform_id = t.platform_id AND %[3]s)`,
		row, table, condition)
}

// runOf is the condition of the rows l of a month-end run t of a kind.
func runOf(kind ledger.Kind) string {
	return fmt.Sprintf("l.month = t.month AND l.run = t.run AND t.kind = '%s'", kind)
}

// queuedFactOf returns the table of a kind.
func queuedFactOf(kind ledger.FactKind) (queuedFact, bool) {
	i := slices.IndexFunc(queuedFacts, func(f queuedFact) bool { return f.kind == kind })
	if i < 0 {
		return queuedFact{}, false
	}
	return queuedFacts[i], true
}

// source is what the rows t are read from.
func (f queuedFact) source() string {
	if f.of != "" {
		return f.of
	}
	return f.table
}

// subject is the subject of a row t: its key, joined by slashes.
func (f queuedFact) subject() string { return "concat_ws('/', " + f.names() + ")" }

// names are the columns of the key of a row t.
func (f queuedFact) names() string {
	names := make([]string, len(f.key))
	for i, c := range f.key {
		names[i] = "t." + c.name
	}
	return strings.Join(names, ", ")
}

// arguments are one argument of a statement for each column of the key, from a number on; they are arrays if array is
// "[]".
func (f queuedFact) arguments(first int, array string) string {
	arguments := make([]string, len(f.key))
	for i, c := range f.key {
		arguments[i] = fmt.Sprintf("$%d::text%s::%s%s", first+i, array, c.sqlType, array)
	}
	return strings.Join(arguments, ", ")
}

// condition is that of the rows t of the platform $1.
func (f queuedFact) condition() string {
	if f.rows == "" {
		return "t.platform_id = $1"
	}
	return "t.platform_id = $1 AND " + f.rows
}

// query reads the rows of subjects, each as the names and values of its columns. From $2 on, each argument has the
// values of one column of the key.
func (f queuedFact) query() string {
	var names, values []string
	for name, value := range f.more {
		names, values = append(names, "'"+name+"'"), append(values, value)
	}
	columns := ""
	if f.columns != nil {
		columns = " WHERE key IN ('" + strings.Join(f.columns, "', '") + "')"
	}
	return fmt.Sprintf(`
	SELECT %[1]s, c.names || ARRAY[%[2]s]::text[], c.vals || ARRAY[%[3]s]::text[], false, false
	FROM %[4]s t CROSS JOIN LATERAL (SELECT array_agg(key) AS names, array_agg(value) AS vals FROM jsonb_each_text(to_jsonb(t) - 'platform_id')%[5]s) c
	WHERE %[6]s AND %[7]s`,
		f.subject(), strings.Join(names, ", "), strings.Join(values, ", "), f.source(), columns, f.condition(), f.isAmong(2))
}

// isAmong is the condition that the key of a row t is among those of arrays, which are arguments from a number on. That of one column
// also limits what a source reads that groups its rows.
func (f queuedFact) isAmong(first int) string {
	if len(f.key) == 1 {
		return fmt.Sprintf("%s = ANY(%s)", f.names(), f.arguments(first, "[]"))
	}
	return fmt.Sprintf("(%s) IN (SELECT * FROM unnest(%s) k)", f.names(), f.arguments(first, "[]"))
}

// after reads at most $3 subjects in the order of the key, and whether each is queued as a fact of the kind $2; after
// the key of a subject, from $4 on, unless it is the first read.
func (f queuedFact) after(first bool) string {
	position := ""
	if !first {
		position = " AND (" + f.names() + ") > (" + f.arguments(4, "") + ")"
	}
	return fmt.Sprintf(`
	SELECT t.subject, q.subject IS NOT NULL
	FROM (SELECT %[1]s AS subject, row_number() OVER (ORDER BY %[2]s) AS n FROM %[3]s t WHERE %[4]s%[5]s ORDER BY %[2]s LIMIT $3) t
	LEFT JOIN ledger_evidence_queue q ON q.platform_id = $1 AND q.kind = $2 AND q.subject = t.subject
	ORDER BY t.n`, f.subject(), f.names(), f.source(), f.condition(), position)
}

// split returns the values of the key in a subject, which are none if it is not one of this kind. Evidence that was
// changed may have other subjects, which do not exist.
func (f queuedFact) split(subject string) []string {
	values := make([]string, len(f.key))
	for i := len(f.key) - 1; i > 0; i-- {
		slash := strings.LastIndexByte(subject, '/')
		if slash < 0 {
			return nil
		}
		values[i], subject = subject[slash+1:], subject[:slash]
	}
	values[0] = subject
	for i, c := range f.key {
		if !isKey(c.sqlType, values[i]) {
			return nil
		}
	}
	return values
}

// keysOf returns the arguments of query for subjects.
func (f queuedFact) keysOf(subjects []string) []any {
	columns := make([][]string, len(f.key))
	for i := range columns {
		columns[i] = []string{} // NULL is no array
	}
	for _, subject := range subjects {
		for i, value := range f.split(subject) {
			columns[i] = append(columns[i], value)
		}
	}
	arguments := make([]any, len(columns))
	for i, values := range columns {
		arguments[i] = values
	}
	return arguments
}

// timestampFormat is that of a time in textFormats.
const timestampFormat = "2006-01-02 15:04:05.999999+00"

// isKey reports whether a text is a value of a type of a key.
func isKey(sqlType, text string) bool {
	var err error
	switch sqlType {
	case "text":
	case "uuid":
		_, err = uuid.Parse(text)
		return err == nil && len(text) == 36
	case "date":
		var day time.Time
		day, err = time.Parse(time.DateOnly, text)
		return err == nil && day.Year() > 0
	case "timestamptz":
		var at time.Time
		at, err = time.Parse(timestampFormat, text)
		return err == nil && at.Year() > 0 && at.Format(timestampFormat) == text
	case "integer":
		_, err = strconv.ParseInt(text, 10, 32)
	default:
		_, err = strconv.ParseInt(text, 10, 64)
	}
	return err == nil
}
