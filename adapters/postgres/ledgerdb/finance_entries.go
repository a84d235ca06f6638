package ledgerdb

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// AccountEntries is as ports.Finance says.
func (r *Reader) AccountEntries(ctx context.Context, f ports.AccountEntryFilter) (page ports.AccountEntryPage, found bool, err error) {
	err = r.readOnly(ctx, func(q Querier) error {
		numbers, err := r.store.accountIDsOf(ctx, q, []ledger.Account{f.Account}, false)
		number, there := numbers[f.Account]
		if err != nil || !there {
			return err
		}
		line, err := ledger.FindChartLine(f.Account.Path)
		if err != nil {
			return err
		}
		m, err := loadMonths(ctx, q, f.Account.Platform.UUID())
		if err != nil {
			return err
		}
		found, page.Class = true, line.Class
		if err := readAccountPage(ctx, q, number, m, !line.NoOverdraft, f, &page); err != nil {
			return err
		}
		return runningBalances(ctx, q, number, m, f.Account, &page)
	})
	if err != nil {
		return page, false, fmt.Errorf("read the entries of %s: %w", f.Account, err)
	}
	if !f.Ascending {
		slices.Reverse(page.Entries)
	}
	return page, found, nil
}

// A page of one part, which is ($4, $5], recorded from $8 until before $9, from the place
// ($6, $7) on. %[1]s is the order, %[2]s picks the entries.
const selectAccountPage = `
SELECT e.seq, e.entry_no, d.path, c.path, e.currency, e.amount, p.id, p.kind, p.transaction_id, p.effective_at, p.recorded_at, p.memo, p.reverses
FROM (SELECT * FROM (%[2]s) picked ORDER BY seq %[1]s, entry_no %[1]s LIMIT $3) e
JOIN ledger_postings p ON p.platform_id = $1 AND p.seq = e.seq AND p.recorded_at = e.recorded_at AND p.recorded_at >= $8 AND p.recorded_at < $9
JOIN ledger_accounts d ON d.platform_id = $1 AND d.id = e.debit_account_id
JOIN ledger_accounts c ON c.platform_id = $1 AND c.id = e.credit_account_id
ORDER BY e.seq %[1]s, e.entry_no %[1]s`

// Rides on ledger_entries_by_debit_account and ledger_entries_by_credit_account: an account is on one side of an
// entry only, so two short runs make the page; they are cut by postings, as the indexes have
// them in that order without a sort. %[1]s is the order, %[2]s how places compare to the
// last one, %[3]s what else an entry must be.
const pickByRange = `
    (SELECT e.seq, e.recorded_at, e.entry_no, e.debit_account_id, e.credit_account_id, e.amount, e.currency FROM ledger_entries e
     WHERE e.platform_id = $1 AND e.debit_account_id = $2 AND e.seq > $4 AND e.seq <= $5 AND e.recorded_at >= $8 AND e.recorded_at < $9
       AND (e.seq, e.entry_no) %[2]s ($6, $7) %[3]s
     ORDER BY e.seq %[1]s FETCH FIRST ($3) ROWS WITH TIES)
    UNION ALL
    (SELECT e.seq, e.recorded_at, e.entry_no, e.debit_account_id, e.credit_account_id, e.amount, e.currency FROM ledger_entries e
     WHERE e.platform_id = $1 AND e.credit_account_id = $2 AND e.seq > $4 AND e.seq <= $5 AND e.recorded_at >= $8 AND e.recorded_at < $9
       AND (e.seq, e.entry_no) %[2]s ($6, $7) %[3]s
     ORDER BY e.seq %[1]s FETCH FIRST ($3) ROWS WITH TIES)`

const effectiveInSpan = `AND (SELECT p.effective_at FROM ledger_postings p
            WHERE p.platform_id = $1 AND p.seq = e.seq AND p.recorded_at = e.recorded_at AND p.recorded_at >= $8 AND p.recorded_at < $9) BETWEEN $10 AND $11`

// Those of postings that are astray ($12 and $13), by the primary keys of both. %[1]s is how
// places compare to the last one.
const pickBackdated = `
    SELECT e.seq, e.recorded_at, e.entry_no, e.debit_account_id, e.credit_account_id, e.amount, e.currency
    FROM unnest($12::bigint[], $13::timestamptz[]) AS s (seq, recorded_at)
    JOIN ledger_entries e ON e.platform_id = $1 AND e.seq = s.seq AND e.recorded_at = s.recorded_at AND e.recorded_at >= $8 AND e.recorded_at < $9
    WHERE s.seq > $4 AND s.seq <= $5 AND $2 IN (e.debit_account_id, e.credit_account_id) AND (e.seq, e.entry_no) %[1]s ($6, $7) ` + effectiveInSpan + ``

// readAccountPage reads the page out of the parts that can have something of it, and leaves
// it in ascending order.
func readAccountPage(ctx context.Context, q Querier, number int64, m months, busy bool, f ports.AccountEntryFilter, page *ports.AccountEntryPage) error {
	order, compare := "ASC", ">"
	last, within := f.After, allPostings
	switch {
	case f.Ascending:
		within.after = last.Seq - 1
	case last == (ports.EntryPosition{}):
		order, compare, last = "DESC", "<", ports.EntryPosition{Seq: math.MaxInt64}
	default:
		order, compare, within.upto = "DESC", "<", last.Seq
	}
	if last.N < 0 || last.N > math.MaxInt16 {
		return fmt.Errorf("no entry stands at the place %v to go on from", last)
	}
	parts, err := accountSearchRanges(ctx, q, number, m, busy, f)
	if err != nil {
		return err
	}
	filter := ""
	var span []any
	if f.By == ports.ByEffective && !f.Interval.IsUnbounded() {
		filter, span = effectiveInSpan, []any{orMinTime(f.Interval.From), orMaxTime(f.Interval.Last())}
	}
	for _, s := range m.clip(parts, within, f.Ascending, true) {
		missing := f.Limit + 1 - len(page.Entries)
		if s.archived && len(page.Entries) == 0 {
			return m.archivedError()
		}
		if s.archived || missing <= 0 {
			page.More = s.archived
			break
		}
		from, until := s.timeBounds()
		args := append([]any{pgUUID(f.Account.Platform.UUID()), number, missing, s.after, s.upto, last.Seq, int16(last.N), from, until}, span...)
		pick := fmt.Sprintf(pickByRange, order, compare, filter)
		if s.backdatedSeqs != nil {
			pick, args = fmt.Sprintf(pickBackdated, compare), append(args, s.backdatedSeqs, s.backdatedTimes)
		}
		if err := query(ctx, q, fmt.Sprintf(selectAccountPage, order, pick), args, func(rows pgx.Rows) error {
			e, err := scanEntry(rows)
			page.Entries = append(page.Entries, ports.AccountEntry{RecordedEntry: e})
			return err
		}); err != nil {
			return err
		}
	}
	if len(page.Entries) > f.Limit {
		page.Entries, page.More = page.Entries[:f.Limit], true
	}
	if !f.Ascending {
		slices.Reverse(page.Entries)
	}
	return nil
}

// Blocks of an account that have something effective in a span, and the rest after the
// last block. Rides on ledger_checkpoints_pkey.
const blocksInSpan = `
SELECT after, upto FROM (
    SELECT lag(k.seq, 1, 0::bigint) OVER (ORDER BY k.seq) AS after, k.seq AS upto, k.earliest_effective_at AS earliest, k.latest_effective_at AS latest
    FROM ledger_balance_snapshots k WHERE k.platform_id = $1 AND k.account_id = $2
    UNION ALL
    SELECT coalesce(max(k.seq), 0), 9223372036854775806, '-infinity', 'infinity'
    FROM ledger_balance_snapshots k WHERE k.platform_id = $1 AND k.account_id = $2
) blocks
WHERE earliest <= $4 AND latest >= $3
ORDER BY after`

// accountSearchRanges says where entries of the span can be, in ascending order. By effective time
// that is told by the blocks of the account, which know their extremes; where blocks are
// large, since the account is busy, it is looked for among all postings.
func accountSearchRanges(ctx context.Context, q Querier, number int64, m months, busy bool, f ports.AccountEntryFilter) (parts []searchRange, err error) {
	if busy || f.By == ports.ByRecorded || f.Interval.IsUnbounded() {
		return spanSearchRanges(ctx, q, f.Account.Platform.UUID(), number, m, f.By, f.Interval)
	}
	args := []any{pgUUID(f.Account.Platform.UUID()), number, orMinTime(f.Interval.From), orMaxTime(f.Interval.Last())}
	err = query(ctx, q, blocksInSpan, args, func(rows pgx.Rows) error {
		var s seqRange
		if err := rows.Scan(&s.after, &s.upto); err != nil {
			return err
		}
		if n := len(parts); n > 0 && parts[n-1].upto == s.after {
			parts[n-1].upto = s.upto
		} else {
			parts = append(parts, searchRange{seqRange: s})
		}
		return nil
	})
	return parts, err
}

// What was on the account before each of several entries, counted from the entry before
// it in the list or, where there is one in between, from the last checkpoint. Rides on
// ledger_checkpoints_pkey, ledger_entries_by_debit_account and ledger_entries_by_credit_account.
const balancesBefore = `
SELECT coalesce(k.balance::text, ''), (d.amount - c.amount)::text
FROM unnest($3::bigint[], $4::smallint[], $5::timestamptz[], $6::bigint[], $7::smallint[], $8::timestamptz[]) WITH ORDINALITY
    AS w (seq, entry_no, recorded, last_seq, last_n, last_recorded, place)
LEFT JOIN LATERAL (
    SELECT k.seq, k.balance FROM ledger_balance_snapshots k
    WHERE k.platform_id = $1 AND k.account_id = $2 AND k.seq < w.seq AND k.seq >= w.last_seq ORDER BY k.seq DESC LIMIT 1
) k ON true
CROSS JOIN LATERAL (
    SELECT coalesce(sum(e.amount), 0) AS amount FROM ledger_entries e
    WHERE e.platform_id = $1 AND e.debit_account_id = $2 AND e.seq >= coalesce(k.seq + 1, w.last_seq) AND e.seq <= w.seq
      AND e.recorded_at >= w.last_recorded AND e.recorded_at <= w.recorded AND e.recorded_at >= $9 AND e.recorded_at < $10
      AND (k.seq IS NOT NULL OR (e.seq, e.entry_no) > (w.last_seq, w.last_n)) AND (e.seq, e.entry_no) < (w.seq, w.entry_no)
) d
CROSS JOIN LATERAL (
    SELECT coalesce(sum(e.amount), 0) AS amount FROM ledger_entries e
    WHERE e.platform_id = $1 AND e.credit_account_id = $2 AND e.seq >= coalesce(k.seq + 1, w.last_seq) AND e.seq <= w.seq
      AND e.recorded_at >= w.last_recorded AND e.recorded_at <= w.recorded AND e.recorded_at >= $9 AND e.recorded_at < $10
      AND (k.seq IS NOT NULL OR (e.seq, e.entry_no) > (w.last_seq, w.last_n)) AND (e.seq, e.entry_no) < (w.seq, w.entry_no)
) c
ORDER BY w.place`

// runningBalances fills in the balance after each entry of a page in ascending order.
func runningBalances(ctx context.Context, q Querier, number int64, m months, account ledger.Account, page *ports.AccountEntryPage) error {
	n := len(page.Entries)
	if n == 0 {
		return nil
	}
	// Entries before the last complete month are in the checkpoint before the first one.
	span := m.blockRange(seqRange{upto: page.Entries[0].Position.Seq})
	span.until = m.withTimeBounds(seqRange{upto: page.Entries[n-1].Position.Seq}).until
	from, until := span.timeBounds()
	seqs, places, times := make([]int64, n), make([]int16, n), make([]pgtype.Timestamptz, n)
	lastSeqs, lastPlaces, lastTimes := make([]int64, n), make([]int16, n), make([]pgtype.Timestamptz, n)
	lastTimes[0] = from
	for i, e := range page.Entries {
		seqs[i], places[i], times[i] = e.Position.Seq, int16(e.Position.N), pgtype.Timestamptz{Time: e.Recorded, Valid: true}
		if i > 0 {
			lastSeqs[i], lastPlaces[i], lastTimes[i] = seqs[i-1], places[i-1], times[i-1]
		}
	}
	var balance money.Total
	at := 0
	args := []any{pgUUID(account.Platform.UUID()), number, seqs, places, times, lastSeqs, lastPlaces, lastTimes, from, until}
	return query(ctx, q, balancesBefore, args, func(rows pgx.Rows) error {
		var checkpoint, between string
		if err := rows.Scan(&checkpoint, &between); err != nil {
			return err
		}
		if checkpoint != "" {
			var err error
			if balance, err = parseTotal(checkpoint); err != nil {
				return err
			}
		}
		debits, err := parseTotal(between)
		if err != nil {
			return err
		}
		e := &page.Entries[at]
		if e.Debit == account.Path {
			debits = debits.Add(money.TotalOf(e.Amount))
		} else {
			debits = debits.Sub(money.TotalOf(e.Amount))
		}
		if !page.Class.IsDebitNormal() {
			debits = debits.Neg()
		}
		balance = balance.Add(debits)
		e.Balance = balance
		at++
		return nil
	})
}

// The ends of a span that has none: the first and the last moment that the database
// knows.
var (
	minTime = time.Date(-4000, 1, 1, 0, 0, 0, 0, time.UTC)
	maxTime = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
)

func orMinTime(t time.Time) time.Time {
	if t.IsZero() {
		return minTime
	}
	return t.UTC()
}

func orMaxTime(t time.Time) time.Time {
	if t.IsZero() {
		return maxTime
	}
	return t.UTC()
}
