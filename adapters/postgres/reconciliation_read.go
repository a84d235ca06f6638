package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/reconcile"
	"causeway/ledger"
	"causeway/ports"
)

var _ ports.ReconciliationReader = (*DB)(nil)

// selectRunCounts counts the lines of a reconciliation by their state, and its breaks. Uses reconciliation_lines_by_reconciliation and reconciliation_breaks_by_reconciliation.
const selectRunCounts = `
	SELECT
		(SELECT count(*) FROM reconciliation_lines l
			JOIN reconciliation_matched_lines m ON m.platform_id = l.platform_id AND m.line_id = l.id
			WHERE l.platform_id = $1 AND l.reconciliation_id = $2),
		(SELECT count(*) FROM reconciliation_lines l WHERE l.platform_id = $1 AND l.reconciliation_id = $2),
		(SELECT count(*) FROM reconciliation_breaks b WHERE b.platform_id = $1 AND b.reconciliation_id = $2),
		(SELECT count(*) FROM reconciliation_breaks b
			JOIN reconciliation_resolutions r ON r.platform_id = b.platform_id AND r.break_id = b.id
			WHERE b.platform_id = $1 AND b.reconciliation_id = $2),
		(SELECT count(*) FROM reconciliation_lines l
			JOIN reconciliation_breaks b ON b.platform_id = l.platform_id AND b.line_id = l.id
			JOIN reconciliation_resolutions r ON r.platform_id = b.platform_id AND r.break_id = b.id
			WHERE l.platform_id = $1 AND l.reconciliation_id = $2 AND r.method IN ('NOTE', 'POSTING'))`

// Reconciliation reads a reconciliation and its current counts.
func (db *DB) Reconciliation(ctx context.Context, p ident.Platform, id ident.Reconciliation) (run reconcile.Run, s ports.ReconciliationCounts, err error) {
	found := false
	err = db.queryRows(ctx, selectRuns+` WHERE platform_id = $1 AND id = $2`, []any{pgID(p.UUID()), pgID(id.UUID())}, func(rows pgx.Rows) error {
		found = true
		var err error
		run, err = scanRun(rows)
		return err
	})
	switch {
	case err != nil:
		return run, s, err
	case !found:
		return run, s, fault.New(fault.ReconciliationNotFound, "No reconciliation has the id %s.", id)
	}
	err = db.queryRows(ctx, selectRunCounts, []any{pgID(p.UUID()), pgID(id.UUID())}, func(rows pgx.Rows) error {
		var lines, breaks int
		err := rows.Scan(&s.Matched, &lines, &breaks, &s.ResolvedBreaks, &s.Resolved)
		s.InBreak, s.OpenBreaks = lines-s.Matched-s.Resolved, breaks-s.ResolvedBreaks
		return err
	})
	return run, s, err
}

// PartnerAccounts uses reconciliation_file_unique.
func (db *DB) PartnerAccounts(ctx context.Context, p ident.Platform) (accounts []reconcile.PartnerAccount, err error) {
	err = db.queryRows(ctx, `SELECT DISTINCT partner_account, currency, account FROM reconciliations WHERE platform_id = $1 AND partner_account <> '' ORDER BY 1, 2, 3`,
		[]any{pgID(p.UUID())}, func(rows pgx.Rows) error {
			var a reconcile.PartnerAccount
			var currency string
			err := rows.Scan(&a.Number, &currency, &a.Path)
			a.Currency = money.Currency(currency)
			accounts = append(accounts, a)
			return err
		})
	return accounts, err
}

// queryRows runs a query that is planned with its arguments.
func (db *DB) queryRows(ctx context.Context, query string, args []any, scan func(pgx.Rows) error) error {
	rows, err := db.readPool.Query(ctx, query, append([]any{pgx.QueryExecModeCacheDescribe}, args...)...)
	if err != nil {
		return ledgerdb.ReadError(err)
	}
	return ledgerdb.ReadError(forEachRow(rows, scan))
}

// queryPage reads one page of a list. query is its FROM and WHERE clauses, and id the column
// that orders it.
func queryPage[Item any](ctx context.Context, db *DB, columns, query, id string, args []any, p ports.Paging, scan func(pgx.Rows) (Item, error)) (ports.Page[Item], error) {
	var found ports.Page[Item]
	from := query[strings.Index(query, "FROM"):]
	matching := int64(0)
	count := fmt.Sprintf("SELECT count(*) FROM (SELECT %s LIMIT %d) items", from, ports.MaxTotal+1)
	if err := db.queryRows(ctx, count, args, func(rows pgx.Rows) error { return rows.Scan(&matching) }); err != nil {
		return found, err
	}
	order, beyond := "DESC", "<"
	if p.Ascending {
		order, beyond = "ASC", ">"
	}
	if p.After != uuid.Nil {
		args = append(args, pgID(p.After))
		query += fmt.Sprintf(" AND %s %s $%d", id, beyond, len(args))
	}
	query = fmt.Sprintf("SELECT %s %s ORDER BY %s %s LIMIT %d", columns, query, id, order, p.Limit+1)
	err := db.queryRows(ctx, query, args, func(rows pgx.Rows) error {
		item, err := scan(rows)
		if found.More = len(found.Items) == p.Limit; !found.More {
			found.Items = append(found.Items, item)
		}
		return err
	})
	setTotal(&found, matching, 0)
	return found, err
}

// Reconciliations uses the primary key.
func (db *DB) Reconciliations(ctx context.Context, p ident.Platform, f ports.ReconciliationFilter) (ports.Page[reconcile.Run], error) {
	return queryPage(ctx, db, runColumns, `FROM reconciliations WHERE platform_id = $1 AND $2 IN ('', account) AND $3 IN ('', currency)`, "id",
		[]any{pgID(p.UUID()), f.Path, f.Currency}, f.Paging, scanRun)
}

// The state of a line: its match, or else its last break.
const fromLines = `
	FROM reconciliation_lines l
	LEFT JOIN reconciliation_matched_lines ml ON ml.platform_id = l.platform_id AND ml.line_id = l.id
	LEFT JOIN LATERAL (
		SELECT b.id, r.method FROM reconciliation_breaks b
		LEFT JOIN reconciliation_resolutions r ON r.platform_id = b.platform_id AND r.break_id = b.id
		WHERE b.platform_id = l.platform_id AND b.line_id = l.id ORDER BY b.id DESC LIMIT 1
	) b ON ml.line_id IS NULL
	WHERE l.platform_id = $1 AND l.reconciliation_id = $2 AND $3 IN ('', ` + lineStatus + `)`

const lineStatus = `CASE WHEN ml.line_id IS NOT NULL THEN 'MATCHED' WHEN b.method IN ('NOTE', 'POSTING') THEN 'RESOLVED' ELSE 'BREAK' END`

const lineColumns = `l.id, l.ordinal, l.booking_date, l.value_date, l.amount, l.servicer_reference, l.reference_list, l.description, l.returned`

const shownLineColumns = lineColumns + `, l.reconciliation_id, ` + lineStatus + `, ml.match_id, b.id,
	(SELECT m.rule FROM reconciliation_matches m WHERE m.platform_id = l.platform_id AND m.id = ml.match_id),
	(SELECT m.explanation FROM reconciliation_matches m WHERE m.platform_id = l.platform_id AND m.id = ml.match_id)`

// StatementLines uses reconciliation_lines_by_reconciliation, and the primary keys of
// matches and breaks.
func (db *DB) StatementLines(ctx context.Context, p ident.Platform, run ident.Reconciliation, f ports.StatementLineFilter) (ports.Page[reconcile.LineDetails], error) {
	if err := db.checkRunExists(ctx, p, run); err != nil {
		return ports.Page[reconcile.LineDetails]{}, err
	}
	var matches idArray
	page, err := queryPage(ctx, db, shownLineColumns, fromLines, "l.id", []any{pgID(p.UUID()), pgID(run.UUID()), string(f.Status)}, f.Paging,
		func(rows pgx.Rows) (shown reconcile.LineDetails, err error) {
			var runID, match, broken pgtype.UUID
			var status string
			var rule, explanation *string
			shown.Line, err = db.scanLine(ctx, p.UUID(), rows, &runID, &status, &match, &broken, &rule, &explanation)
			shown.Run.SetUUID(runID.Bytes)
			shown.Break.SetUUID(broken.Bytes)
			if shown.Status = reconcile.LineStatus(status); rule != nil {
				shown.Rule, shown.Explanation = reconcile.Rule(*rule), *explanation
			}
			matches = append(matches, match)
			return shown, err
		})
	if err != nil {
		return page, err
	}
	entries, err := db.matchedEntries(ctx, p, matches)
	for i := range page.Items {
		page.Items[i].Entries = entries[matches[i].Bytes]
	}
	return page, err
}

func (db *DB) checkRunExists(ctx context.Context, p ident.Platform, run ident.Reconciliation) error {
	found := false
	err := db.queryRows(ctx, `SELECT FROM reconciliations WHERE platform_id = $1 AND id = $2`, []any{pgID(p.UUID()), pgID(run.UUID())},
		func(pgx.Rows) error { found = true; return nil })
	if err == nil && !found {
		err = fault.New(fault.ReconciliationNotFound, "No reconciliation has the id %s.", run)
	}
	return err
}

// entryColumns are the columns of an entry e of account a and its posting p.
const entryColumns = `e.seq, e.entry_no, CASE WHEN e.debit_account_id = a.id THEN e.amount ELSE -e.amount END, p.id, p.transaction_id, p.kind, p.memo, p.effective_at`

// maxMatchedEntries is the number of entries of one match that are returned.
const maxMatchedEntries = 200

// selectMatched uses reconciliation_matched_entries_by_match, and the keys of the
// ledger.
const selectMatched = `
	SELECT w.id, ` + entryColumns + `
	FROM unnest($2::uuid[]) AS w (id)
	CROSS JOIN LATERAL (
		SELECT m.* FROM reconciliation_matched_entries m WHERE m.platform_id = $1 AND m.match_id = w.id ORDER BY m.seq, m.entry_no LIMIT $3
	) m
	JOIN ledger_entries e ON e.platform_id = m.platform_id AND e.seq = m.seq AND e.entry_no = m.entry_no
	JOIN ledger_postings p ON p.platform_id = m.platform_id AND p.seq = m.seq AND p.recorded_at = e.recorded_at
	JOIN ledger_accounts a ON a.platform_id = m.platform_id AND a.path = m.account AND a.currency = e.currency
	ORDER BY w.id, e.seq, e.entry_no`

func (db *DB) matchedEntries(ctx context.Context, p ident.Platform, matches idArray) (map[uuid.UUID][]reconcile.EntryDetails, error) {
	found := map[uuid.UUID][]reconcile.EntryDetails{}
	var matchIDs idArray
	seen := map[uuid.UUID]bool{}
	for _, m := range matches {
		if m.Valid && !seen[m.Bytes] {
			seen[m.Bytes] = true
			matchIDs = append(matchIDs, m)
		}
	}
	if len(matchIDs) == 0 {
		return found, nil
	}
	return found, db.queryRows(ctx, selectMatched, []any{pgID(p.UUID()), matchIDs, maxMatchedEntries}, func(rows pgx.Rows) error {
		var match pgtype.UUID
		var e entryRow
		if err := rows.Scan(append([]any{&match}, e.scanTargets()...)...); err != nil {
			return err
		}
		found[match.Bytes] = append(found[match.Bytes], e.toEntryDetails())
		return nil
	})
}

// entryRow holds entryColumns; all fields are nil if there is no entry.
type entryRow struct {
	seq, amount          *int64
	n                    *int16
	posting, transaction pgtype.UUID
	kind, memo           *string
	effective            *time.Time
}

func (e *entryRow) scanTargets() []any {
	return []any{&e.seq, &e.n, &e.amount, &e.posting, &e.transaction, &e.kind, &e.memo, &e.effective}
}

func (e *entryRow) toEntryDetails() reconcile.EntryDetails {
	shown := reconcile.EntryDetails{EntryPosition: reconcile.EntryPosition{Seq: *e.seq, N: int(*e.n)}, Posting: e.posting.Bytes,
		Kind: ledger.Kind(*e.kind), Memo: *e.memo, Amount: *e.amount, Effective: e.effective.UTC()}
	shown.Transaction.SetUUID(e.transaction.Bytes)
	return shown
}

const breakColumns = `b.id, b.reconciliation_id, b.platform_id, b.account, b.currency, b.reason, b.compared_line_id, b.compared_seq, b.compared_entry_no, b.reference, b.difference, b.explanation, b.created_at,
	r.method, r.note, r.posting_id, r.reconciliation_id, r.resolved_by, r.actor, r.resolved_at,
	r.proposal_id, r.approver_token_id, coalesce(r.approver, ''), ` + entryColumns + `, l.id, l.ordinal, l.booking_date, l.value_date, l.amount, l.servicer_reference, l.reference_list, l.description, l.returned`

// A break with its resolution, line and entry. Uses primary keys.
const fromBreaks = `
	FROM reconciliation_breaks b
	LEFT JOIN reconciliation_resolutions r ON r.platform_id = b.platform_id AND r.break_id = b.id
	LEFT JOIN reconciliation_lines l ON l.platform_id = b.platform_id AND l.id = b.line_id
	LEFT JOIN ledger_entries e ON e.platform_id = b.platform_id AND e.seq = b.seq AND e.entry_no = b.entry_no
	LEFT JOIN ledger_postings p ON p.platform_id = b.platform_id AND p.seq = b.seq AND p.recorded_at = e.recorded_at
	LEFT JOIN ledger_accounts a ON a.platform_id = b.platform_id AND a.path = b.account AND a.currency = b.currency`

const selectBreaks = `SELECT ` + breakColumns + fromBreaks

// Breaks uses reconciliation_breaks_by_reconciliation; without a run reconciliation_breaks_by_account or,
// without an account, the primary key.
func (db *DB) Breaks(ctx context.Context, p ident.Platform, run ident.Reconciliation, f ports.BreakFilter) (ports.Page[reconcile.BreakDetails], error) {
	query := fromBreaks + ` WHERE b.platform_id = $1 AND $2 IN ('', b.reason) AND $3 IN ('', CASE WHEN r.break_id IS NULL THEN 'OPEN' ELSE 'RESOLVED' END)`
	args := []any{pgID(p.UUID()), string(f.Reason), f.Status}
	where := func(condition string, value any) {
		args = append(args, value)
		query += fmt.Sprintf(" AND %s = $%d", condition, len(args))
	}
	if !run.IsZero() {
		if err := db.checkRunExists(ctx, p, run); err != nil {
			return ports.Page[reconcile.BreakDetails]{}, err
		}
		where("b.reconciliation_id", pgID(run.UUID()))
	}
	if f.Path != "" {
		where("b.account", f.Path)
	}
	if f.Currency != "" {
		where("b.currency", f.Currency)
	}
	return queryPage(ctx, db, breakColumns, query, "b.id", args, f.Paging,
		func(rows pgx.Rows) (reconcile.BreakDetails, error) { return db.scanBreak(ctx, rows) })
}

// Break uses the primary key.
func (db *DB) Break(ctx context.Context, p ident.Platform, id ident.Break) (b reconcile.BreakDetails, err error) {
	found := false
	err = db.queryRows(ctx, selectBreaks+` WHERE b.platform_id = $1 AND b.id = $2`, []any{pgID(p.UUID()), pgID(id.UUID())}, func(rows pgx.Rows) error {
		found = true
		var err error
		b, err = db.scanBreak(ctx, rows)
		return err
	})
	if err == nil && !found {
		err = unknownBreak(id)
	}
	return b, err
}

func unknownBreak(id ident.Break) error {
	return fault.New(fault.BreakNotFound, "No break has the id %s.", id)
}

func (db *DB) scanBreak(ctx context.Context, rows pgx.Rows) (b reconcile.BreakDetails, err error) {
	var (
		id, run, platform, otherLine, posting, by, line pgtype.UUID
		proposal, approver                              pgtype.UUID
		approverName                                    string
		currency, reason                                string
		otherSeq                                        pgtype.Int8
		otherN                                          pgtype.Int2
		method, note, resolvedBy, actor                 *string
		resolvedAt                                      *time.Time
		entry                                           entryRow
		ordinal                                         *int
		booked, value                                   *time.Time
		amount                                          *int64
		servicer, references, description               *string
		returned                                        *bool
	)
	targets := append([]any{&id, &run, &platform, &b.Account.Path, &currency, &reason, &otherLine, &otherSeq, &otherN, &b.Reference, &b.Difference, &b.Explanation, &b.At,
		&method, &note, &posting, &by, &resolvedBy, &actor, &resolvedAt, &proposal, &approver, &approverName}, entry.scanTargets()...)
	if err := rows.Scan(append(targets, &line, &ordinal, &booked, &value, &amount, &servicer, &references, &description, &returned)...); err != nil {
		return b, err
	}
	b.ID.SetUUID(id.Bytes)
	b.Run.SetUUID(run.Bytes)
	b.Account.Platform.SetUUID(platform.Bytes)
	b.Account.Currency, b.Reason, b.At = money.Currency(currency), reconcile.Reason(reason), b.At.UTC()
	b.OtherLine, b.OtherEntry = otherLine.Bytes, reconcile.EntryPosition{Seq: otherSeq.Int64, N: int(otherN.Int16)}
	if line.Valid {
		b.Line = &reconcile.Line{ID: line.Bytes, Ordinal: *ordinal, Booked: reconcile.DayOf(*booked), Value: reconcile.DayOf(*value), Amount: *amount,
			ServicerReference: *servicer, Returned: *returned}
		if err := db.openLine(ctx, sealedRow{platform.Bytes, line.Bytes}, *references, *description, b.Line); err != nil {
			return b, err
		}
	}
	if entry.seq != nil {
		shown := entry.toEntryDetails()
		b.Entry = &shown
	}
	if method != nil {
		b.Resolution = &reconcile.Resolution{Break: b.ID, Method: reconcile.ResolutionMethod(*method), Note: *note, Posting: posting.Bytes, By: *resolvedBy, Actor: *actor, At: resolvedAt.UTC(),
			Approval: scanApproval(proposal, approver, approverName)}
		b.Resolution.Run.SetUUID(by.Bytes)
	}
	return b, nil
}
