package postgres

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/reconcile"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// ComparisonInput reads the lines and entries of the days of a statement and Window more days
// on each side, and further back, up to Lookback, if breaks of earlier statements are open.
// It returns the open breaks too, so that they are not found a second time.
func (u *unit) ComparisonInput(ctx context.Context, run ident.Reconciliation, a reconcile.Account, days reconcile.DayRange, added []reconcile.Line) (c ports.ComparisonInput, err error) {
	if c.OpenBreaks, err = u.openBreaks(ctx, a); err != nil {
		return c, err
	}
	first := days.First
	for _, b := range c.OpenBreaks {
		if b.Day >= days.First-reconcile.Lookback {
			first = min(first, b.Day)
		}
	}
	span := reconcile.DayRange{First: first - reconcile.Window, Last: days.Last + reconcile.Window}
	if c.Lines, err = u.comparableLines(ctx, run, a, span, added); err != nil {
		return c, err
	}
	if c.Entries, err = u.comparableEntries(ctx, a, span); err != nil {
		return c, err
	}
	err = u.query(ctx, `SELECT first_day, last_day FROM reconciliations WHERE platform_id = $1 AND account = $2 AND currency = $3 AND last_day >= $4`,
		[]any{pgID(a.Platform.UUID()), a.Path, string(a.Currency), span.First.Start()}, func(rows pgx.Rows) error {
			var first, last time.Time
			err := rows.Scan(&first, &last)
			c.Covered = append(c.Covered, reconcile.DayRange{First: reconcile.DayOf(first), Last: reconcile.DayOf(last)})
			return err
		})
	return c, err
}

// selectOpenBreaks uses reconciliation_breaks_by_account.
const selectOpenBreaks = `
	SELECT b.id, b.reason, b.line_id, b.seq, b.entry_no, coalesce(l.value_date, (p.effective_at AT TIME ZONE 'UTC')::date) AS day
	FROM reconciliation_breaks b
	LEFT JOIN reconciliation_resolutions r ON r.platform_id = b.platform_id AND r.break_id = b.id
	LEFT JOIN reconciliation_lines l ON l.platform_id = b.platform_id AND l.id = b.line_id
	LEFT JOIN ledger_postings p ON p.platform_id = b.platform_id AND p.seq = b.seq
	WHERE b.platform_id = $1 AND b.account = $2 AND b.currency = $3 AND r.break_id IS NULL
	ORDER BY b.id`

func (u *unit) openBreaks(ctx context.Context, a reconcile.Account) (open []reconcile.OpenBreak, err error) {
	err = u.query(ctx, selectOpenBreaks, []any{pgID(a.Platform.UUID()), a.Path, string(a.Currency)}, func(rows pgx.Rows) error {
		var (
			b        reconcile.OpenBreak
			id, line pgtype.UUID
			seq      pgtype.Int8
			n        pgtype.Int2
			reason   string
			day      time.Time
		)
		if err := rows.Scan(&id, &reason, &line, &seq, &n, &day); err != nil {
			return err
		}
		ident.SetUUID(&b.ID, id.Bytes)
		b.Reason, b.Line, b.Entry, b.Day = reconcile.Reason(reason), line.Bytes, reconcile.EntryPosition{Seq: seq.Int64, N: int(n.Int16)}, reconcile.DayOf(day)
		open = append(open, b)
		return nil
	})
	return open, err
}

// selectLines uses reconciliation_lines_by_value_date. A line is reconciled if it is
// matched, or if a break of it was resolved by a note or a posting.
const selectLines = `
	SELECT l.id, l.ordinal, l.booking_date, l.value_date, l.amount, l.servicer_reference, l.reference_list, l.description, l.returned,
		m.line_id IS NOT NULL OR s.line_id IS NOT NULL
	FROM reconciliation_lines l
	LEFT JOIN reconciliation_matched_lines m ON m.platform_id = l.platform_id AND m.line_id = l.id
	LEFT JOIN (
		SELECT DISTINCT b.line_id FROM reconciliation_breaks b
		JOIN reconciliation_resolutions r ON r.platform_id = b.platform_id AND r.break_id = b.id
		WHERE b.platform_id = $1 AND b.account = $2 AND b.currency = $3 AND b.line_id IS NOT NULL AND r.method IN ('NOTE', 'POSTING')
	) s ON s.line_id = l.id
	WHERE l.platform_id = $1 AND l.account = $2 AND l.currency = $3 AND l.value_date BETWEEN $4 AND $5 AND l.reconciliation_id <> $6`

// comparableLines returns the lines of earlier runs and those that the run has added.
func (u *unit) comparableLines(ctx context.Context, run ident.Reconciliation, a reconcile.Account, span reconcile.DayRange, added []reconcile.Line) (lines []reconcile.Line, err error) {
	// The lines outside of the days go to the end.
	slices.SortFunc(added, func(x, y reconcile.Line) int {
		outside := func(l reconcile.Line) int {
			if l.Value < span.First || l.Value > span.Last {
				return 1
			}
			return 0
		}
		return cmp.Or(outside(x)-outside(y), compareLines(x, y))
	})
	within, _ := slices.BinarySearchFunc(added, span, func(l reconcile.Line, span reconcile.DayRange) int {
		if span.Contains(l.Value) {
			return -1
		}
		return 1
	})
	lines = added[:within:within]
	args := []any{pgID(a.Platform.UUID()), a.Path, string(a.Currency), span.First.Start(), span.Last.Start(), pgID(run.UUID())}
	err = u.query(ctx, selectLines, args, func(rows pgx.Rows) error {
		var isReconciled bool
		l, err := u.db.scanLine(ctx, a.Platform.UUID(), rows, &isReconciled)
		l.Reconciled = isReconciled
		if lines = append(lines, l); len(lines) > reconcile.MaxCompared {
			return tooManyError("lines")
		}
		return err
	})
	if len(lines) > within {
		slices.SortFunc(lines, compareLines)
	}
	return lines, err
}

// compareLines orders lines by value date and id.
func compareLines(x, y reconcile.Line) int {
	return cmp.Or(cmp.Compare(x.Value, y.Value), bytes.Compare(x.ID[:], y.ID[:]))
}

// scanLine reads the columns of a line, and further columns into more.
func (db *DB) scanLine(ctx context.Context, platform uuid.UUID, rows pgx.Rows, more ...any) (l reconcile.Line, err error) {
	var (
		id                      pgtype.UUID
		booked, value           time.Time
		references, description string
	)
	if err := rows.Scan(append([]any{&id, &l.Ordinal, &booked, &value, &l.Amount, &l.ServicerReference, &references, &description, &l.Returned}, more...)...); err != nil {
		return l, err
	}
	l.ID, l.Booked, l.Value = id.Bytes, reconcile.DayOf(booked), reconcile.DayOf(value)
	return l, db.openLine(ctx, sealedRow{platform, l.ID}, references, description, &l)
}

// selectEntries uses ledger_entries_by_debit_account and _credit from a number on: an entry is
// recorded when it takes effect or later, and recorded time grows with the number. A day
// is let in for clocks that differ. An entry is settled when it is matched, when somebody
// has resolved a break of it, or when it is the correction that did so.
const selectEntries = `
	SELECT e.seq, e.entry_no, e.amount, p.id, p.transaction_id, p.kind, p.memo, p.effective_at,
		m.seq IS NOT NULL OR s.seq IS NOT NULL OR c.posting_id IS NOT NULL, t.receipt_id
	FROM (
		SELECT d.platform_id, d.seq, d.recorded_at, d.entry_no, d.amount FROM ledger_entries d
		WHERE d.platform_id = $1 AND d.debit_account_id = $2::bigint AND d.seq > (SELECT ledger_seq_at($1, $6)) AND d.recorded_at > $6
		UNION ALL
		SELECT c.platform_id, c.seq, c.recorded_at, c.entry_no, -c.amount FROM ledger_entries c
		WHERE c.platform_id = $1 AND c.credit_account_id = $2::bigint AND c.seq > (SELECT ledger_seq_at($1, $6)) AND c.recorded_at > $6
	) e
	JOIN ledger_postings p ON p.platform_id = e.platform_id AND p.seq = e.seq AND p.recorded_at = e.recorded_at
	LEFT JOIN transactions t ON t.platform_id = p.platform_id AND t.id = p.transaction_id AND p.kind IN ('jit_received', 'deposit')
	LEFT JOIN reconciliation_matched_entries m ON m.platform_id = e.platform_id AND m.account = $3 AND m.seq = e.seq AND m.entry_no = e.entry_no
	LEFT JOIN (
		SELECT DISTINCT b.seq, b.entry_no FROM reconciliation_breaks b
		JOIN reconciliation_resolutions r ON r.platform_id = b.platform_id AND r.break_id = b.id
		WHERE b.platform_id = $1 AND b.account = $3 AND b.currency = $4 AND b.seq IS NOT NULL AND r.method IN ('NOTE', 'POSTING')
	) s ON s.seq = e.seq AND s.entry_no = e.entry_no
	LEFT JOIN (
		SELECT r.posting_id FROM reconciliation_resolutions r WHERE r.platform_id = $1 AND r.posting_id IS NOT NULL
	) c ON c.posting_id = p.id
	WHERE p.effective_at >= $5 AND p.effective_at < $7
	ORDER BY e.seq, e.entry_no`

func (u *unit) comparableEntries(ctx context.Context, a reconcile.Account, span reconcile.DayRange) (entries []reconcile.Entry, err error) {
	var number int64
	if err := u.query(ctx, `SELECT id FROM ledger_accounts WHERE platform_id = $1 AND path = $2 AND currency = $3`,
		[]any{pgID(a.Platform.UUID()), a.Path, string(a.Currency)}, func(rows pgx.Rows) error { return rows.Scan(&number) }); err != nil {
		return nil, err
	}
	if number == 0 {
		return nil, nil // an account without postings
	}
	since := (span.First - 1).Start()
	if err := ledgerdb.CheckAvailable(ctx, batchedQuerier{u: u}, a.Platform, since); err != nil {
		return nil, err
	}
	refs, err := u.readPartnerRefs(ctx, a, span)
	if err != nil {
		return nil, err
	}
	args := []any{pgID(a.Platform.UUID()), number, a.Path, string(a.Currency), span.First.Start(), since, (span.Last + 1).Start()}
	err = u.query(ctx, selectEntries, args, func(rows pgx.Rows) error {
		var (
			e                             reconcile.Entry
			n                             int16
			posting, transaction, receipt pgtype.UUID
			kind                          string
			effective                     time.Time
		)
		if err := rows.Scan(&e.Seq, &n, &e.Amount, &posting, &transaction, &kind, &e.Memo, &effective, &e.Reconciled, &receipt); err != nil {
			return err
		}
		e.N, e.Posting, e.Kind, e.Day = int(n), posting.Bytes, ledger.Kind(kind), reconcile.DayOf(effective)
		ident.SetUUID(&e.Transaction, transaction.Bytes)
		e.PartnerReferences = refs.forEntry(e.Posting, receipt.Bytes)
		if entries = append(entries, e); len(entries) > reconcile.MaxCompared {
			return tooManyError("entries")
		}
		return nil
	})
	return entries, err
}

func tooManyError(what string) error {
	return reconcile.InvalidFile("covers days with more than %d %s to compare; split it into several files", reconcile.MaxCompared, what)
}

// partnerRefs holds the partner's references of received payments: by the receipt, and by the
// postings that have no transaction and derive their id from the receipt.
type partnerRefs struct {
	byReceipt map[uuid.UUID]receiptRef
	byPosting map[uuid.UUID]receiptRef
}

// receiptRef holds the references of a receipt. The memo of a payment's postings has the payer's
// reference too; that of unmatched funds does not.
type receiptRef struct{ partnerID, reference string }

// forEntry returns the references of an entry: of the receipt that funded its transaction (zero if
// none), or of the receipt that its posting derives from.
func (r partnerRefs) forEntry(posting, receipt uuid.UUID) []string {
	if ref, ok := r.byReceipt[receipt]; ok {
		return []string{ref.partnerID}
	}
	switch ref, ok := r.byPosting[posting]; {
	case !ok:
		return nil
	case ref.reference == "":
		return []string{ref.partnerID}
	default:
		return []string{ref.partnerID, ref.reference}
	}
}

// selectReceiptRefs uses the primary key: ids of receipts sort by the time at which this service learnt
// of them, which is when the partner received them or later. A day is added for clocks that differ.
const selectReceiptRefs = `
	SELECT id, partner_id, reference FROM receipts
	WHERE platform_id = $1 AND id >= $4 AND received_at >= $5 AND received_at < $6 AND rail = $2 AND currency = $3`

func (u *unit) readPartnerRefs(ctx context.Context, a reconcile.Account, span reconcile.DayRange) (partnerRefs, error) {
	found := partnerRefs{byReceipt: map[uuid.UUID]receiptRef{}, byPosting: map[uuid.UUID]receiptRef{}}
	rail, known := corridor.AtPath(a.Path)
	if !known {
		return found, nil // receipts have known chains
	}
	args := []any{pgID(a.Platform.UUID()), string(rail), string(a.Currency), firstIDOfDay(span.First - 1), span.First.Start(), (span.Last + 1).Start()}
	err := u.query(ctx, selectReceiptRefs, args, func(rows pgx.Rows) error {
		var id pgtype.UUID
		var ref receiptRef
		if err := rows.Scan(&id, &ref.partnerID, &ref.reference); err != nil {
			return err
		}
		found.byReceipt[id.Bytes] = ref
		for _, kind := range transaction.ReceiptKinds() {
			found.byPosting[ledger.DerivedID(id.Bytes, kind, 0)] = ref
		}
		return nil
	})
	return found, err
}

// firstIDOfDay returns the lowest id with a time of the day.
func firstIDOfDay(d reconcile.Day) pgtype.UUID {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(d.Start().UnixMilli())<<16)
	return pgID(id)
}
