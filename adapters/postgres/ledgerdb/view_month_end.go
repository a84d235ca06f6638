package ledgerdb

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/core/ident"
	"causeway/core/monthend"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

var _ ports.MonthEndViews = (*Views)(nil)

// MonthEndView implements ports.MonthEndViews.
func (v *Views) MonthEndView(ctx context.Context, p ident.Platform, upto int64, fn func(context.Context, ports.MonthEndView) error) error {
	return v.View(ctx, p, time.Time{}, func(ctx context.Context, view ports.LedgerView) error {
		found := view.(*ledgerView)
		found.last.Seq = min(found.last.Seq, upto)
		return fn(ctx, found)
	})
}

// movesOn returns the entries on accounts that are effective from $7 until before $8: what each added to the credits
// of the account less its debits, with the account on the other side. Those of postings that were recorded around that time are
// in a range ($3 to $6);
// backdated ones have numbers up to $9, and $10 are those effective after they were recorded. Entries between two own
// accounts are left out. accounts has their id, path, currency and whether they are own. Uses
// ledger_entries_by_debit_account, ledger_entries_by_credit_account, ledger_backdated_entries_by_gap and the primary key
// of backdated entries.
func movesOn(accounts string) string {
	return `
WITH accounts AS MATERIALIZED (` + accounts + `), own AS MATERIALIZED (SELECT id FROM accounts WHERE own), backdated AS MATERIALIZED (
    SELECT b.* FROM generate_series(4, 33) AS c (gap_class)
    CROSS JOIN LATERAL (
        SELECT b.seq, b.recorded_at, b.debit_account_id, b.credit_account_id, b.amount FROM ledger_backdated_entries b
        WHERE b.platform_id = $1 AND b.gap_class = c.gap_class AND least(b.effective_at, b.recorded_at) >= $7 AND least(b.effective_at, b.recorded_at) < $8
          AND b.effective_at < b.recorded_at AND b.seq <= $9
        OFFSET 0 -- reads one class at a time, as the index has them
    ) b
    UNION ALL
    SELECT b.seq, b.recorded_at, b.debit_account_id, b.credit_account_id, b.amount FROM ledger_backdated_entries b WHERE b.platform_id = $1 AND b.seq = ANY($10)
), moves AS (
    SELECT m.seq, m.recorded_at, a.path, a.currency, m.quantity, m.other, false AS backdated
    FROM accounts a
    CROSS JOIN LATERAL (
        SELECT e.seq, e.recorded_at, -e.amount AS quantity, e.credit_account_id AS other FROM ledger_entries e
        WHERE e.platform_id = $1 AND e.debit_account_id = a.id AND e.seq > $3 AND e.seq <= $4 AND e.recorded_at >= $5 AND e.recorded_at < $6
          AND NOT (a.own AND e.credit_account_id IN (SELECT id FROM own))
        UNION ALL
        SELECT e.seq, e.recorded_at, e.amount, e.debit_account_id FROM ledger_entries e
        WHERE e.platform_id = $1 AND e.credit_account_id = a.id AND e.seq > $3 AND e.seq <= $4 AND e.recorded_at >= $5 AND e.recorded_at < $6
          AND NOT (a.own AND e.debit_account_id IN (SELECT id FROM own))
    ) m
    UNION ALL
    SELECT b.seq, b.recorded_at, a.path, a.currency, -b.amount, b.credit_account_id, true FROM backdated b JOIN accounts a ON a.id = b.debit_account_id
    WHERE NOT (a.own AND b.credit_account_id IN (SELECT id FROM own))
    UNION ALL
    SELECT b.seq, b.recorded_at, a.path, a.currency, b.amount, b.debit_account_id, true FROM backdated b JOIN accounts a ON a.id = b.credit_account_id
    WHERE NOT (a.own AND b.debit_account_id IN (SELECT id FROM own))
)`
}

// movedPostings joins the postings of movesOn, each found by one of its two ways.
const movedPostings = `
JOIN ledger_postings p ON p.platform_id = $1 AND p.seq = m.seq AND p.recorded_at = m.recorded_at
WHERE p.effective_at >= $7 AND p.effective_at < $8 AND m.backdated = ` + backdatedCondition

// transitAccounts has the accounts at a path ($2). Uses ledger_account_path_and_currency_unique.
const transitAccounts = `SELECT a.id, a.path, a.currency, false AS own FROM ledger_accounts a WHERE a.platform_id = $1 AND a.path = $2`

// These statements add up by payment and currency.
var (
	selectTransitChanges     = movesOn(transitAccounts) + paymentSums(movedPostings)
	selectLateTransitChanges = lateMovesOn(transitAccounts) + paymentSums(lateMovedPostings)
)

func paymentSums(postings string) string {
	return `
SELECT p.transaction_id, m.currency, sum(m.quantity)::bigint
FROM moves m` + postings + ` AND p.transaction_id IS NOT NULL
GROUP BY p.transaction_id, m.currency
HAVING sum(m.quantity) <> 0`
}

// selectRecordedEarly has the numbers of the postings that are effective from $2 until before $3 and were recorded
// long before they were, which are hardly ever any. Uses ledger_backdated_entries_by_gap.
const selectRecordedEarly = `
SELECT DISTINCT b.seq FROM generate_series(4, 33) AS c (gap_class)
CROSS JOIN LATERAL (
    SELECT b.seq FROM ledger_backdated_entries b
    WHERE b.platform_id = $1 AND b.gap_class = c.gap_class AND least(b.effective_at, b.recorded_at) < $3
      AND least(b.effective_at, b.recorded_at) >= CASE c.gap_class WHEN 33 THEN '-infinity' ELSE $2::timestamptz - make_interval(secs => 2 ^ c.gap_class) END
      AND b.effective_at > b.recorded_at AND b.effective_at >= $2 AND b.effective_at < $3 AND b.seq <= $4
    OFFSET 0
) b`

// Uses ledger_postings_by_transaction and the primary key of entries.
const selectFeesOfPayments = `
SELECT p.transaction_id, e.currency, sum(CASE WHEN c.path = $3 THEN e.amount ELSE -e.amount END)::bigint
FROM ledger_postings p
JOIN ledger_entries e ON e.platform_id = $1 AND e.seq = p.seq AND e.recorded_at = p.recorded_at
JOIN ledger_accounts d ON d.platform_id = $1 AND d.id = e.debit_account_id
JOIN ledger_accounts c ON c.platform_id = $1 AND c.id = e.credit_account_id
WHERE p.platform_id = $1 AND p.transaction_id = ANY($2) AND p.seq <= $4 AND p.effective_at < $5 AND $3 IN (d.path, c.path)
GROUP BY p.transaction_id, e.currency`

// sortedAtOnce is about how many postings are read, and sorted, at once: a statement for each day takes longer to plan than to
// run.
const sortedAtOnce = 50_000

// inParts divides an interval into parts of some days, at most a month each.
func (v *ledgerView) inParts(i period.Interval, read func(period.Interval) error) error {
	days := v.months.daysAtOnce(v.last.Seq)
	for from := i.From; from.Before(i.To); {
		to := from.Truncate(24*time.Hour).AddDate(0, 0, days)
		for _, end := range []time.Time{period.MonthOf(from).End(), i.To} {
			if to.After(end) {
				to = end
			}
		}
		if err := read(period.Interval{From: from, To: to}); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// daysAtOnce returns how many days have sortedAtOnce postings if each has as many as those of the month in which most were
// recorded: earlier days may have been imported in that month.
func (m months) daysAtOnce(upto int64) int {
	most := int64(1)
	for i, start := range m.starts {
		next := upto + 1
		if i+1 < len(m.starts) {
			next = m.starts[i+1].firstSeq
		}
		most = max(most, next-start.firstSeq)
	}
	return int(min(max(sortedAtOnce*31/most, 1), 31))
}

// TransitChanges implements ports.MonthEndView. The database adds up a part at a time, so that a payment that is
// delivered within it is no row of the result.
func (v *ledgerView) TransitChanges(ctx context.Context, i period.Interval, each func(monthend.TransitKey, int64) error) error {
	if len(v.months.starts) == 0 {
		return nil
	}
	if i.From.IsZero() {
		var err error
		if i.From, err = v.earliestEffective(ctx); err != nil {
			return err
		}
	}
	early, err := v.recordedEarly(ctx, i)
	if err != nil {
		return err
	}
	return v.inParts(i, func(part period.Interval) error {
		args, err := v.movesArgs(ctx, ledger.TransitPayouts, part, early)
		if err != nil {
			return err
		}
		return v.transitChanges(ctx, selectTransitChanges, args, each)
	})
}

// LateTransitChanges implements ports.MonthEndView.
func (v *ledgerView) LateTransitChanges(ctx context.Context, after int64, before time.Time,
	each func(monthend.TransitKey, int64) error) error {
	if after < v.months.lastArchivedSeq {
		return v.months.archivedError()
	}
	args := []any{v.platform, ledger.TransitPayouts, after, v.last.Seq, optionalTime(before)}
	return v.transitChanges(ctx, selectLateTransitChanges, args, each)
}

func (v *ledgerView) transitChanges(ctx context.Context, statement string, args []any, each func(monthend.TransitKey, int64) error) error {
	return v.spool(ctx, "read the payments in transit", bulkReadSettings, statement, args, func(r row) error {
		var key monthend.TransitKey
		var amount int64
		if err := r.Scan(&key.Transaction, &key.Currency, &amount); err != nil {
			return err
		}
		return each(key, amount)
	})
}

// selectEarliestEffective has the effective time of the first posting that is not archived, or of one that was
// recorded later and is effective earlier. Uses the primary key and ledger_backdated_entries_by_gap.
const selectEarliestEffective = `
SELECT least((SELECT effective_at FROM ledger_postings WHERE platform_id = $1 AND seq > $2 ORDER BY seq LIMIT 1), (
    SELECT min(earliest.effective_at) FROM generate_series(0, 33) AS class, LATERAL (
        SELECT effective_at FROM ledger_backdated_entries
        WHERE platform_id = $1 AND gap_class = class AND effective_at < recorded_at ORDER BY least(effective_at, recorded_at) LIMIT 1) AS earliest))`

func (v *ledgerView) earliestEffective(ctx context.Context) (first time.Time, err error) {
	err = v.read(ctx, indexLookupSettings, func(tx pgx.Tx) error {
		return queryFreshPlan(ctx, tx, selectEarliestEffective, []any{v.platform, v.months.lastArchivedSeq}, func(rows pgx.Rows) error {
			return rows.Scan(&first)
		})
	})
	if first.Before(v.months.archivedBefore) {
		first = v.months.archivedBefore
	}
	return first, err
}

// Fees implements ports.MonthEndView.
func (v *ledgerView) Fees(ctx context.Context, payments []ident.Transaction, before time.Time) (map[monthend.TransitKey]int64, error) {
	fees := map[monthend.TransitKey]int64{}
	for ids := range slices.Chunk(payments, entryRangeSize) {
		args := []any{v.platform, ids, ledger.IncomeFees, v.last.Seq, optionalTime(before)}
		err := v.read(ctx, rangeReadSettings, func(tx pgx.Tx) error {
			return queryFreshPlan(ctx, tx, selectFeesOfPayments, args, func(rows pgx.Rows) error {
				var key monthend.TransitKey
				var fee int64
				err := rows.Scan(&key.Transaction, &key.Currency, &fee)
				fees[key] = fee
				return err
			})
		})
		if err != nil {
			return nil, fmt.Errorf("read the fees of payments in transit: %w", translateError(err))
		}
	}
	return fees, nil
}

// recordedEarly returns the numbers of selectRecordedEarly.
func (v *ledgerView) recordedEarly(ctx context.Context, i period.Interval) (seqs []int64, err error) {
	seqs = []int64{}
	args := []any{v.platform, optionalTime(i.From), optionalTime(i.To), v.last.Seq}
	err = v.read(ctx, indexLookupSettings, func(tx pgx.Tx) error {
		return queryFreshPlan(ctx, tx, selectRecordedEarly, args, func(rows pgx.Rows) error {
			var seq int64
			err := rows.Scan(&seq)
			seqs = append(seqs, seq)
			return err
		})
	})
	return seqs, err
}

// movesArgs returns the arguments of movesOn; of is that of its accounts.
func (v *ledgerView) movesArgs(ctx context.Context, of string, i period.Interval, early []int64) (args []any, err error) {
	if err := v.months.checkAvailable(i.BeforeFrom()); err != nil {
		return nil, err
	}
	var recorded seqRange
	err = v.read(ctx, indexLookupSettings, func(tx pgx.Tx) (err error) {
		recorded, err = recordedRange(ctx, tx, v.platform.UUID(), v.months, v.months.widen(i))
		return err
	})
	recorded = v.months.withTimeBounds(seqRange{after: recorded.after, upto: min(recorded.upto, v.last.Seq)})
	from, until := recorded.timeBounds()
	return []any{v.platform, of, recorded.after, recorded.upto, from, until, optionalTime(i.From), optionalTime(i.To), v.last.Seq, early}, err
}
