package postgres

import (
	"context"
	"crypto/sha256"
	"iter"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/core/ident"
	"causeway/core/reconcile"
	"causeway/ports"
)

// lockReconciliation serialises the reconciliations of one account: lines and entries that one
// matches are not compared by the next.
const lockReconciliation = `SELECT pg_advisory_xact_lock(hashtextextended('reconciliation ' || $1::uuid || ' ' || $2::text || ' ' || $3::text, 0))`

// enableBulkReads restores the planner's defaults for this unit of work: its statements are
// rare and read many rows. Comparing a long statement takes time between them.
const enableBulkReads = `SELECT set_config('enable_seqscan', 'on', true), set_config('enable_hashjoin', 'on', true),
	set_config('enable_mergejoin', 'on', true), set_config('plan_cache_mode', 'force_custom_plan', true),
	set_config('idle_in_transaction_session_timeout', '60s', true)`

// lockReconciliationTables locks all tables that an import writes to or reads, in two statements. Afterwards the import
// waits for no other change of tables, such as a migration, and so meets no deadlock with one. Partitions
// are locked when they are used: who changes one locks its table before.
const (
	lockReconciliationWrites = `LOCK TABLE reconciliations, reconciliation_lines, reconciliation_matches, reconciliation_matched_lines, reconciliation_matched_entries,
	reconciliation_breaks, reconciliation_resolutions, ledger_evidence_queue, idempotency_keys IN ROW EXCLUSIVE MODE`
	lockReconciliationReads = `LOCK TABLE reconciliations, reconciliation_lines, reconciliation_matches, reconciliation_matched_lines, reconciliation_matched_entries,
	reconciliation_breaks, reconciliation_resolutions, transactions, receipts, receivables, receivable_changes, ledger_accounts, ONLY ledger_postings, ONLY ledger_entries,
	ledger_posting_ids, ledger_clocks, ledger_months, ledger_archived_months, ledger_snapshot_progress IN ACCESS SHARE MODE`
)

// LockReconciliation uses reconciliation_file_unique.
func (u *Unit) LockReconciliation(
	ctx context.Context, a reconcile.Account, digest [sha256.Size]byte,
) (run reconcile.Run, found bool, err error) {
	if err := u.query(ctx, lockReconciliation, []any{a.Platform, a.Path, a.Currency}, ignoreRow); err != nil {
		return run, false, translate(err)
	}
	u.queueExec(lockReconciliationWrites)
	u.queueExec(lockReconciliationReads)
	if err := u.query(ctx, enableBulkReads, nil, ignoreRow); err != nil {
		return run, false, err
	}
	const ofFile = `WHERE platform_id = $1 AND account = $2 AND currency = $3 AND digest = $4`
	return selectRow(ctx, u.db, u.query, reconciliations, ofFile, a.Platform, a.Path, a.Currency, digest[:])
}

// previousStatement uses reconciliation_file_unique.
const previousStatement = `WHERE platform_id = $1 AND account = $2 AND currency = $3 AND partner_account = $4 AND last_day < $5 AND closing IS NOT NULL
	ORDER BY last_day DESC, created_at DESC LIMIT 1`

// PreviousStatement implements reconciliation.Tx.
func (u *Unit) PreviousStatement(
	ctx context.Context, a reconcile.Account, number string, before reconcile.Day,
) (run reconcile.Run, found bool, err error) {
	return selectRow(ctx, u.db, u.query, reconciliations, previousStatement, a.Platform, a.Path, a.Currency, number, before)
}

func ignoreRow(pgx.Rows) error { return nil }

// insertLines uses reconciliation_line_unique.
var insertLines = reconciliationLines.InsertAll(`ON CONFLICT (platform_id, account, currency, fingerprint) DO NOTHING RETURNING id`)

// maxLinesPerInsert is the number of lines in one statement.
const maxLinesPerInsert = 5000

// AddStatementLines stores the lines that are new.
func (u *Unit) AddStatementLines(
	ctx context.Context, run ident.Reconciliation, a reconcile.Account, all []reconcile.Line,
) (added []reconcile.Line, err error) {
	addedCount := 0
	for lines := range slices.Chunk(all, maxLinesPerInsert) {
		rows := make([]lineRow, len(lines))
		for i, l := range lines {
			rows[i] = lineRow{a, run, l}
		}
		inserted := make(map[uuid.UUID]bool, len(rows))
		if err := queryAll(ctx, u, insertLines, rows, func(rows pgx.Rows) error {
			var id uuid.UUID
			err := rows.Scan(&id)
			inserted[id] = true
			return err
		}); err != nil {
			return nil, err
		}
		for i := range lines {
			if inserted[lines[i].ID] {
				all[addedCount], lines[i] = lines[i], all[addedCount]
				addedCount++
			}
		}
	}
	return all[:addedCount:addedCount], nil
}

// SaveReconciliationResult stores the result with COPY: its rows are new and cannot conflict.
func (u *Unit) SaveReconciliationResult(ctx context.Context, run reconcile.Run, found ports.ReconciliationResult) error {
	if err := u.flush(ctx); err != nil {
		return err
	}
	platform := run.Account.Platform
	if err := copyRows(ctx, u, reconciliationMatches, func(yield func(matchRow) bool) {
		for m := range found.Matches {
			if !yield(matchRow{platform, run.ID, m}) {
				return
			}
		}
	}); err != nil {
		return err
	}
	if err := copyRows(ctx, u, matchedLines, func(yield func(matchedLineRow) bool) {
		for m := range found.Matches {
			for _, line := range m.Lines {
				if !yield(matchedLineRow{platform, line, m.ID}) {
					return
				}
			}
		}
	}); err != nil {
		return err
	}
	if err := copyRows(ctx, u, matchedEntries, func(yield func(matchedEntryRow) bool) {
		for m := range found.Matches {
			for _, e := range m.Entries {
				if !yield(matchedEntryRow{run.Account, e, m.ID}) {
					return
				}
			}
		}
	}); err != nil {
		return err
	}
	if err := copyRows(ctx, u, reconciliationBreaks, func(yield func(breakRow) bool) {
		for b := range found.Breaks {
			if !yield(breakRow{run.ID, run.Account, run.At, b}) {
				return
			}
		}
	}); err != nil {
		return err
	}
	return u.ResolveBreaks(ctx, platform, found.Resolutions)
}

// ResolveBreaks stores resolutions of breaks.
func (u *Unit) ResolveBreaks(ctx context.Context, p ident.Platform, resolutions []reconcile.Resolution) error {
	if err := u.flush(ctx); err != nil {
		return err
	}
	return copyRows(ctx, u, reconciliationResolutions, func(yield func(resolutionRow) bool) {
		for _, s := range resolutions {
			if !yield(resolutionRow{p, s}) {
				return
			}
		}
	})
}

// copyRows copies rows into a table, after the queued statements. They go through a temporary
// table, because Postgres does not copy into a table with row-level security.
func copyRows[T any](ctx context.Context, u *Unit, t *schema.Table[T], rows iter.Seq[T]) error {
	next, stop := iter.Pull(rows)
	defer stop()
	row, found := next()
	if !found {
		return nil
	}
	create := `DROP TABLE IF EXISTS pg_temp.copied; CREATE TEMPORARY TABLE copied (LIKE ` + t.Name + `) ON COMMIT DROP`
	if _, err := u.conn.Exec(ctx, create); err != nil {
		return err
	}
	source := pgx.CopyFromFunc(func() (values []any, err error) {
		if found {
			of := row
			values = t.Columns(&of).Fields()
			row, found = next()
		}
		return values, nil
	})
	names := t.Names("")
	if _, err := u.conn.CopyFrom(ctx, pgx.Identifier{"pg_temp", "copied"}, strings.Split(names, ", "), source); err != nil {
		return err
	}
	_, err := u.conn.Exec(ctx, `INSERT INTO `+t.Name+` (`+names+`) SELECT `+names+` FROM pg_temp.copied`)
	return translate(err)
}

var insertReconciliation = reconciliations.Insert("")

// AddReconciliation stores a run.
func (u *Unit) AddReconciliation(ctx context.Context, r reconcile.Run) error {
	return write(ctx, u, insertReconciliation, r)
}

// LockBreak uses reconciliation_breaks_pkey. Breaks never change, so it locks the
// account: no comparison can resolve the break at the same time.
func (u *Unit) LockBreak(ctx context.Context, p ident.Platform, id ident.Break) (b reconcile.BreakDetails, err error) {
	b, err = readBreak(ctx, u.db, u.query, p, id)
	if err != nil {
		return b, err
	}
	if err := u.query(ctx, lockReconciliation, []any{p, b.Account.Path, b.Account.Currency}, ignoreRow); err != nil {
		return b, translate(err)
	}
	return readBreak(ctx, u.db, u.query, p, id)
}
