package postgres

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/adapters/postgres/storage"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/reconcile"
	"causeway/ports"
)

// selectRunCounts counts the lines of a reconciliation by their state, and its breaks. Uses reconciliation_lines_by_reconciliation and
// reconciliation_breaks_by_reconciliation.
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
func (db *DB) Reconciliation(
	ctx context.Context, p ident.Platform, id ident.Reconciliation,
) (run reconcile.Run, s ports.ReconciliationCounts, err error) {
	none := fault.New(fault.ReconciliationNotFound, "No reconciliation has the id %s.", id)
	run, err = selectExisting(ctx, db, db.queryRows, reconciliations, none, `WHERE platform_id = $1 AND id = $2`, p, id)
	if err != nil {
		return run, s, err
	}
	err = db.queryRows(ctx, selectRunCounts, []any{p, id}, func(rows pgx.Rows) error {
		var lines, breaks int
		err := rows.Scan(&s.Matched, &lines, &breaks, &s.ResolvedBreaks, &s.Resolved)
		s.InBreak, s.OpenBreaks = lines-s.Matched-s.Resolved, breaks-s.ResolvedBreaks
		return err
	})
	return run, s, err
}

// PartnerAccounts uses reconciliation_file_unique.
func (db *DB) PartnerAccounts(ctx context.Context, p ident.Platform) (accounts []reconcile.PartnerAccount, err error) {
	err = db.queryRows(
		ctx, `SELECT DISTINCT partner_account, currency, account FROM reconciliations WHERE platform_id = $1 AND partner_account <> '' ORDER BY 1, 2, 3`,
		[]any{p}, func(rows pgx.Rows) error {
			var a reconcile.PartnerAccount
			err := rows.Scan(&a.Number, &a.Currency, &a.Path)
			accounts = append(accounts, a)
			return err
		})
	return accounts, err
}

// Reconciliations uses the primary key.
func (db *DB) Reconciliations(ctx context.Context, p ident.Platform, f ports.ReconciliationFilter) (ports.Page[reconcile.Run], error) {
	l := newList("reconciliations", p)
	l.whereEqual("account", f.Path)
	l.whereEqual("currency", f.Currency)
	return selectPage(ctx, db, l, f.Paging, reconciliations)
}

// fromLines has the state of lines: their match, or else their last break.
const fromLines = `reconciliation_lines AS l
	LEFT JOIN reconciliation_matched_lines AS ml ON ml.platform_id = l.platform_id AND ml.line_id = l.id
	LEFT JOIN reconciliation_matches AS m ON m.platform_id = l.platform_id AND m.id = ml.match_id
	LEFT JOIN LATERAL (
		SELECT b.id, r.method FROM reconciliation_breaks b
		LEFT JOIN reconciliation_resolutions r ON r.platform_id = b.platform_id AND r.break_id = b.id
		WHERE b.platform_id = l.platform_id AND b.line_id = l.id ORDER BY b.id DESC LIMIT 1
	) AS b ON ml.line_id IS NULL`

const lineStatus = `CASE WHEN ml.line_id IS NOT NULL THEN 'MATCHED' WHEN b.method IN ('NOTE', 'POSTING') THEN 'RESOLVED' ELSE 'BREAK' END`

// shownLine is a line with its state.
type shownLine struct {
	line    sealed.Scanned[lineRow]
	details reconcile.LineDetails
	match   uuid.UUID
}

func (l *shownLine) columns() schema.Columns {
	return schema.Columns{
		{Name: lineStatus, Field: &l.details.Status}, {Name: "ml.match_id", Field: &l.match}, {Name: "b.id", Field: &l.details.Break},
		{Name: "m.rule", Field: schema.Optional(&l.details.Rule)}, {Name: "m.explanation", Field: schema.Optional(&l.details.Explanation)},
	}
}

// StatementLines uses reconciliation_lines_by_reconciliation, and the primary keys of
// matches and breaks.
func (db *DB) StatementLines(
	ctx context.Context, p ident.Platform, run ident.Reconciliation, f ports.StatementLineFilter,
) (page ports.Page[reconcile.LineDetails], err error) {
	if err := db.checkRunExists(ctx, p, run); err != nil {
		return page, err
	}
	l := newJoinedList(fromLines, "l", p)
	l.byIndex("l.reconciliation_id = ?", run)
	if f.Status != "" {
		l.where(lineStatus+" = ?", string(f.Status))
	}
	names := reconciliationLines.Names("l") + ", " + new(shownLine).columns().Names("")
	read, err := selectPageOf(ctx, db, l, f.Paging, names, func(rows pgx.Rows) (*shownLine, error) {
		row := new(lineRow)
		shown := &shownLine{line: sealed.Scanned[lineRow]{Row: row, Columns: reconciliationLines.Columns(row)}}
		return shown, sealed.ScanStored(rows, slices.Concat(shown.line.Columns, shown.columns()))
	})
	if err != nil {
		return page, err
	}
	var matches []uuid.UUID
	for _, shown := range read.Items {
		if shown.match != uuid.Nil {
			matches = append(matches, shown.match)
		}
	}
	entries, err := db.matchedEntries(ctx, p, matches)
	if err != nil {
		return page, err
	}
	page = ports.Page[reconcile.LineDetails]{More: read.More, Total: read.Total, TotalIsMinimum: read.TotalIsMinimum}
	for _, shown := range read.Items {
		if err := db.sealed.OpenColumns(ctx, shown.line.Columns); err != nil {
			return page, err
		}
		d := shown.details
		d.Line, d.Run, d.Entries = shown.line.Row.Line, shown.line.Row.run, entries[shown.match]
		page.Items = append(page.Items, d)
	}
	return page, nil
}

func (db *DB) checkRunExists(ctx context.Context, p ident.Platform, run ident.Reconciliation) error {
	found := false
	err := db.queryRows(ctx, `SELECT FROM reconciliations WHERE platform_id = $1 AND id = $2`, []any{p, run},
		func(pgx.Rows) error { found = true; return nil })
	if err == nil && !found {
		err = fault.New(fault.ReconciliationNotFound, "No reconciliation has the id %s.", run)
	}
	return err
}

// entryColumns are the columns of an entry e of account a and its posting p.
func entryColumns(e *reconcile.EntryDetails) schema.Columns {
	return schema.Columns{
		{Name: "e.seq", Field: &e.Seq}, {Name: "e.entry_no", Field: &e.N},
		{Name: "CASE WHEN e.debit_account_id = a.id THEN e.amount ELSE -e.amount END", Field: &e.Amount},
		{Name: "p.id", Field: &e.Posting}, {Name: "p.transaction_id", Field: &e.Transaction}, {Name: "p.kind", Field: &e.Kind},
		{Name: "p.memo", Field: &e.Memo}, {Name: "p.effective_at", Field: &e.Effective},
	}
}

var entryNames = entryColumns(new(reconcile.EntryDetails)).Names("")

// maxMatchedEntries is the number of entries of one match that are returned.
const maxMatchedEntries = 200

// selectMatched uses reconciliation_matched_entries_by_match, and the keys of the
// ledger.
var selectMatched = `
	SELECT w.id, ` + entryNames + `
	FROM (SELECT DISTINCT unnest($2::uuid[]) AS id) AS w
	CROSS JOIN LATERAL (
		SELECT m.* FROM reconciliation_matched_entries m WHERE m.platform_id = $1 AND m.match_id = w.id ORDER BY m.seq, m.entry_no LIMIT $3
	) m
	JOIN ledger_entries e ON e.platform_id = m.platform_id AND e.seq = m.seq AND e.entry_no = m.entry_no
	JOIN ledger_postings p ON p.platform_id = m.platform_id AND p.seq = m.seq AND p.recorded_at = e.recorded_at
	JOIN ledger_accounts a ON a.platform_id = m.platform_id AND a.path = m.account AND a.currency = e.currency
	ORDER BY w.id, e.seq, e.entry_no`

func (db *DB) matchedEntries(ctx context.Context, p ident.Platform, matches []uuid.UUID) (map[uuid.UUID][]reconcile.EntryDetails, error) {
	found := map[uuid.UUID][]reconcile.EntryDetails{}
	if len(matches) == 0 {
		return found, nil
	}
	return found, db.queryRows(ctx, selectMatched, []any{p, matches, maxMatchedEntries}, func(rows pgx.Rows) error {
		var match uuid.UUID
		var e reconcile.EntryDetails
		err := rows.Scan(append([]any{&match}, entryColumns(&e).Fields()...)...)
		found[match] = append(found[match], e)
		return err
	})
}

// A break with its resolution, line and entry. Uses primary keys.
const fromBreaks = `reconciliation_breaks AS b
	LEFT JOIN reconciliation_resolutions AS r ON r.platform_id = b.platform_id AND r.break_id = b.id
	LEFT JOIN reconciliation_lines AS l ON l.platform_id = b.platform_id AND l.id = b.line_id
	LEFT JOIN ledger_entries AS e ON e.platform_id = b.platform_id AND e.seq = b.seq AND e.entry_no = b.entry_no
	LEFT JOIN ledger_postings AS p ON p.platform_id = b.platform_id AND p.seq = b.seq AND p.recorded_at = e.recorded_at
	LEFT JOIN ledger_accounts AS a ON a.platform_id = b.platform_id AND a.path = b.account AND a.currency = b.currency`

var breakNames = reconciliationBreaks.Names("b") + ", " + reconciliationResolutions.Names("r") + ", " +
	reconciliationLines.Names("l") + ", " + entryNames

// shownBreak is a break as it is read.
type shownBreak struct {
	breakRow
	resolution  resolutionRow
	line        lineRow
	lineColumns schema.Columns
	entry       reconcile.EntryDetails
}

func scanBreak(rows pgx.Rows) (*shownBreak, error) {
	b := new(shownBreak)
	b.lineColumns = reconciliationLines.Columns(&b.line).Joined()
	return b, sealed.ScanStored(rows, slices.Concat(reconciliationBreaks.Columns(&b.breakRow),
		reconciliationResolutions.Columns(&b.resolution).Joined(), b.lineColumns, entryColumns(&b.entry).Joined()))
}

func (b *shownBreak) open(ctx context.Context, db *DB) (reconcile.BreakDetails, error) {
	d := reconcile.BreakDetails{ID: b.ID, Run: b.run, Account: b.account, Reason: b.Reason, OtherLine: b.OtherLine, OtherEntry: b.OtherEntry,
		Reference: b.Reference, Difference: b.Difference, Explanation: b.Explanation, At: b.at}
	if b.line.ID != uuid.Nil {
		if err := db.sealed.OpenColumns(ctx, b.lineColumns); err != nil {
			return d, err
		}
		d.Line = &b.line.Line
	}
	if b.entry.Seq != 0 {
		d.Entry = &b.entry
	}
	if b.resolution.value.Method != "" {
		d.Resolution = &b.resolution.value
	}
	return d, nil
}

// Breaks uses reconciliation_breaks_by_reconciliation; without a run reconciliation_breaks_by_account or,
// without an account, the primary key.
func (db *DB) Breaks(
	ctx context.Context, p ident.Platform, run ident.Reconciliation, f ports.BreakFilter,
) (page ports.Page[reconcile.BreakDetails], err error) {
	l := newJoinedList(fromBreaks, "b", p)
	if !run.IsZero() {
		if err := db.checkRunExists(ctx, p, run); err != nil {
			return page, err
		}
		l.byIndex("b.reconciliation_id = ?", run)
	}
	if f.Path != "" {
		l.byIndex("b.account = ?", f.Path)
	}
	if f.Currency != "" {
		l.byIndex("b.currency = ?", f.Currency)
	}
	l.whereEqual("reason", string(f.Reason))
	if f.Status != "" {
		l.where("CASE WHEN r.break_id IS NULL THEN 'OPEN' ELSE 'RESOLVED' END = ?", f.Status)
	}
	read, err := selectPageOf(ctx, db, l, f.Paging, breakNames, scanBreak)
	if err != nil {
		return page, err
	}
	page = ports.Page[reconcile.BreakDetails]{More: read.More, Total: read.Total, TotalIsMinimum: read.TotalIsMinimum}
	for _, b := range read.Items {
		d, err := b.open(ctx, db)
		if err != nil {
			return page, err
		}
		page.Items = append(page.Items, d)
	}
	return page, nil
}

// Break uses the primary key.
func (db *DB) Break(ctx context.Context, p ident.Platform, id ident.Break) (b reconcile.BreakDetails, err error) {
	return readBreak(ctx, db, db.queryRows, p, id)
}

var selectBreak = `SELECT ` + breakNames + ` FROM ` + fromBreaks + ` WHERE b.platform_id = $1 AND b.id = $2`

func readBreak(ctx context.Context, db *DB, read storage.Reader, p ident.Platform, id ident.Break) (reconcile.BreakDetails, error) {
	var found *shownBreak
	err := read(ctx, selectBreak, []any{p, id}, func(rows pgx.Rows) (err error) {
		found, err = scanBreak(rows)
		return err
	})
	if err == nil && found == nil {
		err = fault.New(fault.BreakNotFound, "No break has the id %s.", id)
	}
	if err != nil {
		return reconcile.BreakDetails{}, err
	}
	return found.open(ctx, db)
}
