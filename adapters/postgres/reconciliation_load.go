package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/adapters/postgres/schema"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/reconcile"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// LoadComparison reads the lines and entries of the days that a statement is compared with, and adds the open breaks, so
// that they are not found a second time.
func (u *Unit) LoadComparison(
	ctx context.Context, run ident.Reconciliation, a reconcile.Account, days reconcile.DayRange, added []reconcile.Line,
	to ports.ComparisonInput,
) error {
	open, err := u.openBreaks(ctx, a)
	if err != nil {
		return err
	}
	scope := reconcile.ScopeOf(days, added, open)
	covered, err := u.coveredDays(ctx, a, scope.Days)
	if err != nil {
		return err
	}
	to.Expect(covered, scope.Open)
	to.SetAside(scope.Aside)
	if err := u.addComparableEntries(ctx, a, scope.Days, to); err != nil {
		return err
	}
	return u.addComparableLines(ctx, run, a, scope.Days, added, to)
}

// coveredDays returns the days of the earlier runs that end in a span of days or later.
func (u *Unit) coveredDays(ctx context.Context, a reconcile.Account, span reconcile.DayRange) (covered []reconcile.DayRange, err error) {
	const endingLater = `SELECT first_day, last_day FROM reconciliations WHERE platform_id = $1 AND account = $2 AND currency = $3 AND last_day >= $4`
	err = u.query(ctx, endingLater, []any{a.Platform, a.Path, a.Currency, span.First}, func(rows pgx.Rows) error {
		var days reconcile.DayRange
		err := rows.Scan(&days.First, &days.Last)
		covered = append(covered, days)
		return err
	})
	return covered, err
}

// selectOpenBreaks uses reconciliation_breaks_by_account.
const selectOpenBreaks = `
	SELECT b.id, b.reason, b.line_id, l.booking_date, l.value_date, (p.effective_at AT TIME ZONE 'UTC')::date, b.seq, b.entry_no
	FROM reconciliation_breaks b
	LEFT JOIN reconciliation_resolutions r ON r.platform_id = b.platform_id AND r.break_id = b.id
	LEFT JOIN reconciliation_lines l ON l.platform_id = b.platform_id AND l.id = b.line_id
	LEFT JOIN ledger_postings p ON p.platform_id = b.platform_id AND p.seq = b.seq
	WHERE b.platform_id = $1 AND b.account = $2 AND b.currency = $3 AND r.break_id IS NULL
	ORDER BY b.id`

func (u *Unit) openBreaks(ctx context.Context, a reconcile.Account) (open []reconcile.OpenBreak, err error) {
	err = u.query(ctx, selectOpenBreaks, []any{a.Platform, a.Path, a.Currency}, func(rows pgx.Rows) error {
		var b reconcile.OpenBreak
		var booked, value, entry reconcile.Day
		err := rows.Scan(append([]any{&b.ID, &b.Reason, &b.Line, schema.Optional(&booked), schema.Optional(&value), schema.Optional(&entry)},
			positionColumns("", "", &b.Entry).Fields()...)...)
		b.Days = reconcile.BreakDays(booked, value, entry)
		open = append(open, b)
		return err
	})
	return open, err
}

// selectLines has the lines with a value date or a booking day in a span. It uses reconciliation_lines_by_value_date and,
// for the few that have their booking day alone in it, reconciliation_lines_by_reconciliation: a statement covers the booking days of
// its lines. A line is reconciled if it is matched, or if a break of it was resolved by a note or a posting.
var selectLines = `
	SELECT ` + reconciliationLines.Names("l") + `,
		m.line_id IS NOT NULL OR s.line_id IS NOT NULL
	FROM (
		SELECT v.* FROM reconciliation_lines v
		WHERE v.platform_id = $1 AND v.account = $2 AND v.currency = $3 AND v.value_date BETWEEN $4 AND $5 AND v.reconciliation_id <> $6
		UNION ALL
		SELECT o.* FROM reconciliations r
		JOIN reconciliation_lines o ON o.platform_id = r.platform_id AND o.reconciliation_id = r.id
		WHERE r.platform_id = $1 AND r.account = $2 AND r.currency = $3 AND r.first_day <= $5 AND r.last_day >= $4
			AND o.booking_date BETWEEN $4 AND $5 AND o.value_date NOT BETWEEN $4 AND $5
	) l
	LEFT JOIN reconciliation_matched_lines m ON m.platform_id = l.platform_id AND m.line_id = l.id
	LEFT JOIN (
		SELECT DISTINCT b.line_id FROM reconciliation_breaks b
		JOIN reconciliation_resolutions r ON r.platform_id = b.platform_id AND r.break_id = b.id
		WHERE b.platform_id = $1 AND b.account = $2 AND b.currency = $3 AND b.line_id IS NOT NULL AND r.method IN ('NOTE', 'POSTING')
	) s ON s.line_id = l.id`

// addComparableLines adds all lines that the run has added, and those of earlier runs.
func (u *Unit) addComparableLines(
	ctx context.Context, run ident.Reconciliation, a reconcile.Account, span reconcile.DayRange, added []reconcile.Line,
	to ports.ComparisonInput,
) error {
	for i, l := range added {
		added[i] = reconcile.Line{} // its texts are most of the memory of an import
		if err := to.AddLine(l); err != nil {
			return err
		}
	}
	args := []any{a.Platform, a.Path, a.Currency, span.First, span.Last, run}
	return u.query(ctx, selectLines, args, func(rows pgx.Rows) error {
		var l lineRow
		if err := u.db.sealed.Scan(ctx, rows, reconciliationLines.Columns(&l), &l.Reconciled); err != nil {
			return err
		}
		return to.AddLine(l.Line)
	})
}

// selectEntries uses ledger_entries_by_debit_account and _credit from a number on: an entry is
// recorded when it takes effect or later, and recorded time grows with the number. A day
// is let in for clocks that differ. An entry is settled when it is matched, when somebody
// has resolved a break of it, or when it is the correction that did so. Opening balances
// and their reversals are on no statement.
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
		AND p.kind <> 'opening_balances' AND NOT (p.kind = 'reversal' AND p.transaction_id IS NULL AND EXISTS (
			SELECT FROM ledger_posting_ids x JOIN ledger_postings o ON o.platform_id = x.platform_id AND o.seq = x.seq AND o.recorded_at = x.recorded_at
			WHERE x.platform_id = p.platform_id AND x.id = p.reverses AND o.kind = 'opening_balances'))
	ORDER BY e.seq, e.entry_no`

// addComparableEntries adds the entries of the account in a span of days.
func (u *Unit) addComparableEntries(ctx context.Context, a reconcile.Account, span reconcile.DayRange, to ports.ComparisonInput) error {
	var number int64
	if err := u.query(ctx, `SELECT id FROM ledger_accounts WHERE platform_id = $1 AND path = $2 AND currency = $3`,
		[]any{a.Platform, a.Path, a.Currency}, func(rows pgx.Rows) error { return rows.Scan(&number) }); err != nil {
		return err
	}
	if number == 0 {
		return nil // an account without postings
	}
	since := (span.First - 1).Start()
	if err := ledgerdb.CheckAvailable(ctx, batchedQuerier{u: u}, a.Platform, since); err != nil {
		return err
	}
	refs, err := u.readPartnerRefs(ctx, a, span)
	if err != nil {
		return err
	}
	args := []any{a.Platform, number, a.Path, a.Currency, span.First.Start(), since, (span.Last + 1).Start()}
	return u.query(ctx, selectEntries, args, func(rows pgx.Rows) error {
		var e reconcile.Entry
		var effective time.Time
		var receipt uuid.UUID
		err := rows.Scan(&e.Seq, &e.N, &e.Amount, &e.Posting, &e.Transaction, &e.Kind, &e.Memo, &effective, &e.Reconciled, &receipt)
		if err != nil {
			return err
		}
		e.Day, e.PartnerReferences = reconcile.DayOf(effective), refs.forEntry(e.Posting, receipt)
		return to.AddEntry(e)
	})
}

// partnerRefs holds the partner's references of received payments, by the id of the receipt and by the
// ids of the postings that have no transaction and derive their id from the receipt.
type partnerRefs struct {
	refs []receiptRef
	byID map[uuid.UUID]int32 // index into refs
}

// receiptRef holds the references of a receipt. The memo of a payment's postings has the payer's
// reference too; that of unmatched funds does not.
type receiptRef struct{ partnerID, reference string }

// forEntry returns the references of an entry: of the receipt that funded its transaction (zero if
// none), or of the receipt that its posting derives from.
func (r partnerRefs) forEntry(posting, receipt uuid.UUID) []string {
	if i, ok := r.byID[receipt]; ok {
		return []string{r.refs[i].partnerID}
	}
	switch i, ok := r.byID[posting]; {
	case !ok:
		return nil
	case r.refs[i].reference == "":
		return []string{r.refs[i].partnerID}
	default:
		return []string{r.refs[i].partnerID, r.refs[i].reference}
	}
}

// selectReceiptRefs uses the primary key: ids of receipts sort by the time at which this service learnt
// of them, which is when the partner received them or later. A day is added for clocks that differ.
const selectReceiptRefs = `
	SELECT id, partner_id, reference FROM receipts
	WHERE platform_id = $1 AND id >= $4 AND received_at >= $5 AND received_at < $6 AND rail = $2 AND currency = $3`

func (u *Unit) readPartnerRefs(ctx context.Context, a reconcile.Account, span reconcile.DayRange) (partnerRefs, error) {
	found := partnerRefs{byID: map[uuid.UUID]int32{}}
	rail, known := corridor.AtPath(a.Path)
	if !known {
		return found, nil // receipts have known chains
	}
	args := []any{a.Platform, rail, a.Currency, firstIDOfDay(span.First - 1), span.First.Start(), (span.Last + 1).Start()}
	err := u.query(ctx, selectReceiptRefs, args, func(rows pgx.Rows) error {
		var id uuid.UUID
		var ref receiptRef
		if err := rows.Scan(&id, &ref.partnerID, &ref.reference); err != nil {
			return err
		}
		i := int32(len(found.refs))
		found.refs, found.byID[id] = append(found.refs, ref), i
		for _, kind := range transaction.ReceiptKinds() {
			found.byID[ledger.DerivedID(id, kind, 0)] = i
		}
		return nil
	})
	if err != nil {
		return found, err
	}
	args = []any{a.Platform, a.Path, a.Currency, span.First.Start(), (span.Last + 1).Start()}
	err = u.query(ctx, selectReturnRefs, args, func(rows pgx.Rows) error {
		var posting uuid.UUID
		var ref receiptRef
		if err := rows.Scan(&posting, &ref.partnerID); err != nil {
			return err
		}
		found.refs, found.byID[posting] = append(found.refs, ref), int32(len(found.refs))
		return nil
	})
	return found, err
}

// selectReturnRefs uses receivables_by_partner. A posting that was redated is of a later day than its return.
const selectReturnRefs = `
	SELECT c.posting_id, r.partner_id FROM receivables r
	JOIN receivable_changes c ON c.platform_id = r.platform_id AND c.receivable_id = r.id AND c.kind = 'RETURNED'
	WHERE r.platform_id = $1 AND r.partner = $2 AND r.currency = $3 AND r.partner_id <> '' AND r.returned_at >= $4::timestamptz - interval '92 days' AND r.returned_at < $5`

// firstIDOfDay returns the lowest id with a time of the day.
func firstIDOfDay(d reconcile.Day) uuid.UUID { return idAt(d.Start()) }
