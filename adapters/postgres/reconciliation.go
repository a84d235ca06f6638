package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"iter"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/ident"
	"causeway/core/money"
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
func (u *unit) LockReconciliation(ctx context.Context, a reconcile.Account, digest [sha256.Size]byte) (run reconcile.Run, found bool, err error) {
	if err := u.query(ctx, lockReconciliation, []any{pgID(a.Platform.UUID()), a.Path, string(a.Currency)}, ignoreRow); err != nil {
		return run, false, translate(err)
	}
	u.queueExec(lockReconciliationWrites)
	u.queueExec(lockReconciliationReads)
	if err := u.query(ctx, enableBulkReads, nil, ignoreRow); err != nil {
		return run, false, err
	}
	err = u.query(ctx, selectRuns+` WHERE platform_id = $1 AND account = $2 AND currency = $3 AND digest = $4`,
		[]any{pgID(a.Platform.UUID()), a.Path, string(a.Currency), digest[:]}, func(rows pgx.Rows) error {
			found = true
			var err error
			run, err = scanRun(rows)
			return err
		})
	return run, found, err
}

// PreviousStatement uses reconciliation_file_unique.
func (u *unit) PreviousStatement(ctx context.Context, a reconcile.Account, number string, before reconcile.Day) (run reconcile.Run, found bool, err error) {
	err = u.query(ctx, selectRuns+` WHERE platform_id = $1 AND account = $2 AND currency = $3 AND partner_account = $4 AND last_day < $5 AND closing IS NOT NULL
		ORDER BY last_day DESC, created_at DESC LIMIT 1`, []any{pgID(a.Platform.UUID()), a.Path, string(a.Currency), number, before.Start()}, func(rows pgx.Rows) error {
		found = true
		var err error
		run, err = scanRun(rows)
		return err
	})
	return run, found, err
}

func ignoreRow(pgx.Rows) error { return nil }

// insertLines uses reconciliation_line_unique. Dates are sent as day numbers: the driver
// has no simple form for an array of dates.
const insertLines = `
	INSERT INTO reconciliation_lines (platform_id, reconciliation_id, account, currency, id, fingerprint, ordinal, booking_date, value_date, amount, servicer_reference, reference_list, description, returned)
	SELECT $1, $2, $3, $4, w.id, w.fingerprint, w.ordinal, date '1970-01-01' + w.booked, date '1970-01-01' + w.value, w.amount, w.servicer_reference, w.reference_list, w.description, w.returned
	FROM unnest($5::uuid[], $6::bytea[], $7::int[], $8::int[], $9::int[], $10::bigint[], $11::text[], $12::text[], $13::text[], $14::bool[])
		AS w (id, fingerprint, ordinal, booked, value, amount, servicer_reference, reference_list, description, returned)
	ON CONFLICT (platform_id, account, currency, fingerprint) DO NOTHING
	RETURNING id`

// maxLinesPerInsert is the number of lines in one statement.
const maxLinesPerInsert = 5000

// AddStatementLines stores the lines that are new.
func (u *unit) AddStatementLines(ctx context.Context, run ident.Reconciliation, a reconcile.Account, lines []reconcile.Line) (added []reconcile.Line, err error) {
	addedCount, all := 0, lines
	for start := 0; start < len(all); start += maxLinesPerInsert {
		lines := all[start:min(start+maxLinesPerInsert, len(all))]
		n := len(lines)
		var (
			ids                             = make(idArray, n)
			identities                      = make([][]byte, n)
			ordinals, booked, values        = make([]int32, n), make([]int32, n), make([]int32, n)
			amounts                         = make([]int64, n)
			servicers, references, describe = make([]string, n), make([]string, n), make([]string, n)
			returned                        = make([]bool, n)
		)
		for i, l := range lines {
			ids[i], identities[i], ordinals[i] = pgID(l.ID), l.Identity[:], int32(l.Ordinal)
			booked[i], values[i], amounts[i] = int32(l.Booked), int32(l.Value), l.Amount
			servicers[i], returned[i] = l.ServicerReference, l.Returned
			if references[i], describe[i], err = u.db.sealLine(ctx, sealedRow{a.Platform.UUID(), l.ID}, l); err != nil {
				return nil, err
			}
		}
		args := []any{pgID(a.Platform.UUID()), pgID(run.UUID()), a.Path, string(a.Currency),
			ids, identities, ordinals, booked, values, amounts, servicers, references, describe, returned}
		inserted := make(map[uuid.UUID]bool, n)
		if err := u.query(ctx, insertLines, args, func(rows pgx.Rows) error {
			var id pgtype.UUID
			err := rows.Scan(&id)
			inserted[id.Bytes] = true
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

// sealLine returns the texts of a line that can name the payer. The reference of the bank stays
// plain, and so do the reference by which a line was matched and the identity, a hash.
func (db *DB) sealLine(ctx context.Context, row sealedRow, l reconcile.Line) (references, description string, err error) {
	if references, err = db.sealText(ctx, row, reconciliationLinesReferences, strings.Join(l.References, "\n")); err != nil {
		return "", "", err
	}
	description, err = db.sealText(ctx, row, reconciliationLinesDescription, l.Description)
	return references, description, err
}

// openLine sets the texts of a line.
func (db *DB) openLine(ctx context.Context, row sealedRow, references, description string, l *reconcile.Line) error {
	references, err := db.openText(ctx, row, reconciliationLinesReferences, references)
	if err != nil {
		return err
	}
	l.References = splitLines(references)
	l.Description, err = db.openText(ctx, row, reconciliationLinesDescription, description)
	return err
}

// SaveReconciliationResult stores the result with COPY: its rows are new and cannot conflict.
func (u *unit) SaveReconciliationResult(ctx context.Context, run reconcile.Run, found ports.ReconciliationResult) error {
	if err := u.flush(ctx); err != nil {
		return err
	}
	platform, runID := pgID(run.Account.Platform.UUID()), pgID(run.ID.UUID())
	if err := u.copyRows(ctx, "reconciliation_matches", func(yield func([]any) bool) {
		for m := range found.Matches {
			if !yield([]any{platform, pgID(m.ID), runID, string(m.Rule), m.Reference, int16(m.Days), m.Explanation}) {
				return
			}
		}
	}, "platform_id", "id", "reconciliation_id", "rule", "reference", "day_difference", "explanation"); err != nil {
		return err
	}
	if err := u.copyRows(ctx, "reconciliation_matched_lines", func(yield func([]any) bool) {
		for m := range found.Matches {
			for _, line := range m.Lines {
				if !yield([]any{platform, pgID(line), pgID(m.ID)}) {
					return
				}
			}
		}
	}, "platform_id", "line_id", "match_id"); err != nil {
		return err
	}
	if err := u.copyRows(ctx, "reconciliation_matched_entries", func(yield func([]any) bool) {
		for m := range found.Matches {
			for _, e := range m.Entries {
				if !yield([]any{platform, run.Account.Path, e.Seq, int16(e.N), pgID(m.ID)}) {
					return
				}
			}
		}
	}, "platform_id", "account", "seq", "entry_no", "match_id"); err != nil {
		return err
	}
	if err := u.copyRows(ctx, "reconciliation_breaks", func(yield func([]any) bool) {
		for b := range found.Breaks {
			if !yield([]any{platform, pgID(b.ID.UUID()), runID, run.Account.Path, string(run.Account.Currency), string(b.Reason),
				pgID(b.Line), entrySeq(b.Entry), entryNumber(b.Entry), pgID(b.OtherLine), entrySeq(b.OtherEntry), entryNumber(b.OtherEntry),
				b.Reference, b.Difference, b.Explanation, run.At}) {
				return
			}
		}
	}, "platform_id", "id", "reconciliation_id", "account", "currency", "reason", "line_id", "seq", "entry_no", "compared_line_id", "compared_seq", "compared_entry_no",
		"reference", "difference", "explanation", "created_at"); err != nil {
		return err
	}
	return u.ResolveBreaks(ctx, run.Account.Platform, found.Resolutions)
}

func entrySeq(p reconcile.EntryPosition) pgtype.Int8 {
	return pgtype.Int8{Int64: p.Seq, Valid: p.Seq != 0}
}
func entryNumber(p reconcile.EntryPosition) pgtype.Int2 {
	return pgtype.Int2{Int16: int16(p.N), Valid: p.Seq != 0}
}

// ResolveBreaks stores resolutions of breaks.
func (u *unit) ResolveBreaks(ctx context.Context, p ident.Platform, resolutions []reconcile.Resolution) error {
	if err := u.flush(ctx); err != nil {
		return err
	}
	return u.copyRows(ctx, "reconciliation_resolutions", func(yield func([]any) bool) {
		for _, s := range resolutions {
			if !yield([]any{pgID(p.UUID()), pgID(s.Break.UUID()), string(s.Method), s.Note, pgID(s.Posting), pgID(s.Run.UUID()), s.By, s.Actor, s.At,
				pgID(s.Approval.Proposal.UUID()), pgID(s.Approval.By.Token.UUID()), s.Approval.By.Actor}) {
				return
			}
		}
	}, "platform_id", "break_id", "method", "note", "posting_id", "reconciliation_id", "resolved_by", "actor", "resolved_at", "proposal_id", "approver_token_id", "approver")
}

// copyRows copies rows into a table, after the queued statements. They go through a temporary
// table, because Postgres does not copy into a table with row-level security.
func (u *unit) copyRows(ctx context.Context, table string, rows iter.Seq[[]any], columns ...string) error {
	next, stop := iter.Pull(rows)
	defer stop()
	first, found := next()
	if !found {
		return nil
	}
	if _, err := u.conn.Exec(ctx, `DROP TABLE IF EXISTS pg_temp.copied; CREATE TEMPORARY TABLE copied (LIKE `+table+`) ON COMMIT DROP`); err != nil {
		return err
	}
	source := pgx.CopyFromFunc(func() (row []any, err error) {
		if row, first = first, nil; row == nil {
			row, _ = next()
		}
		return row, nil
	})
	if _, err := u.conn.CopyFrom(ctx, pgx.Identifier{"pg_temp", "copied"}, columns, source); err != nil {
		return err
	}
	names := strings.Join(columns, ", ")
	_, err := u.conn.Exec(ctx, `INSERT INTO `+table+` (`+names+`) SELECT `+names+` FROM pg_temp.copied`)
	return translate(err)
}

const runColumns = `id, account, currency, format, digest, statement_ids, partner_account, first_day, last_day, opening, closing,
	line_count, known_line_count, ignored_line_count, matches, breaks, matched_line_count, matched_entry_count, earlier_breaks_resolved, created_by, created_at, platform_id, mismatches, override_note,
	ledger_balance, open_breaks_amount, other_day_amount, resolved_amount`

const selectRuns = `SELECT ` + runColumns + ` FROM reconciliations`

const insertRun = `INSERT INTO reconciliations (` + runColumns + `)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28)`

// AddReconciliation stores a run.
func (u *unit) AddReconciliation(_ context.Context, r reconcile.Run) error {
	matches, err := json.Marshal(r.Matches)
	if err != nil {
		return err
	}
	breaks, err := json.Marshal(r.Breaks)
	if err != nil {
		return err
	}
	var ledger, openBreaks, otherDay, resolved *int64
	if b := r.Balance; b != nil {
		ledger, openBreaks, otherDay, resolved = &b.Ledger, &b.OpenBreaks, &b.OtherDay, &b.Resolved
	}
	u.queueExec(insertRun, pgID(r.ID.UUID()), r.Account.Path, string(r.Account.Currency), string(r.Format), r.Digest[:],
		strings.Join(r.Statements, "\n"), r.PartnerAccount, r.From.Start(), r.To.Start(), r.Opening, r.Closing,
		r.Lines, r.KnownLines, r.Ignored, string(matches), string(breaks), r.MatchedLines, r.MatchedEntries, r.EarlierBreaksResolved, r.By, r.At,
		pgID(r.Account.Platform.UUID()), strings.Join(r.Mismatches, "\n"), r.Override, ledger, openBreaks, otherDay, resolved)
	return nil
}

func scanRun(rows pgx.Rows) (r reconcile.Run, err error) {
	var (
		id, platform                                  pgtype.UUID
		currency, format, statements, matches, breaks string
		mismatches                                    string
		digest                                        []byte
		first, last                                   time.Time
		ledger, openBreaks, otherDay, resolved        *int64
	)
	if err := rows.Scan(&id, &r.Account.Path, &currency, &format, &digest, &statements, &r.PartnerAccount, &first, &last, &r.Opening, &r.Closing,
		&r.Lines, &r.KnownLines, &r.Ignored, &matches, &breaks, &r.MatchedLines, &r.MatchedEntries, &r.EarlierBreaksResolved, &r.By, &r.At, &platform, &mismatches, &r.Override,
		&ledger, &openBreaks, &otherDay, &resolved); err != nil {
		return r, err
	}
	if r.Closing != nil && ledger != nil {
		r.Balance = &reconcile.BalanceComparison{Partner: *r.Closing, Ledger: *ledger, OpenBreaks: *openBreaks, OtherDay: *otherDay, Resolved: *resolved}
	}
	r.ID.SetUUID(id.Bytes)
	r.Account.Platform.SetUUID(platform.Bytes)
	copy(r.Digest[:], digest)
	r.Account.Currency, r.Format, r.Statements = money.Currency(currency), reconcile.Format(format), splitLines(statements)
	r.Header.Currency, r.Mismatches = r.Account.Currency, splitLines(mismatches)
	r.From, r.To, r.At = reconcile.DayOf(first), reconcile.DayOf(last), r.At.UTC()
	if err := json.Unmarshal([]byte(matches), &r.Matches); err != nil {
		return r, err
	}
	return r, json.Unmarshal([]byte(breaks), &r.Breaks)
}

// splitLines splits a stored list, one item per line.
func splitLines(rows string) []string {
	if rows == "" {
		return nil
	}
	return strings.Split(rows, "\n")
}

// LockBreak uses reconciliation_breaks_pkey. Breaks never change, so it locks the
// account: no comparison can resolve the break at the same time.
func (u *unit) LockBreak(ctx context.Context, p ident.Platform, id ident.Break) (b reconcile.BreakDetails, err error) {
	b, err = u.breakByID(ctx, p, id)
	if err != nil {
		return b, err
	}
	if err := u.query(ctx, lockReconciliation, []any{pgID(p.UUID()), b.Account.Path, string(b.Account.Currency)}, ignoreRow); err != nil {
		return b, translate(err)
	}
	return u.breakByID(ctx, p, id)
}

func (u *unit) breakByID(ctx context.Context, p ident.Platform, id ident.Break) (b reconcile.BreakDetails, err error) {
	found := false
	err = u.query(ctx, selectBreaks+` WHERE b.platform_id = $1 AND b.id = $2`, []any{pgID(p.UUID()), pgID(id.UUID())}, func(rows pgx.Rows) error {
		found = true
		var err error
		b, err = u.db.scanBreak(ctx, rows)
		return err
	})
	if err == nil && !found {
		err = unknownBreak(id)
	}
	return b, err
}
