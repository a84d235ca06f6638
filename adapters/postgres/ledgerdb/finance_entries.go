package ledgerdb

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/financials"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// AccountEntries implements accounting.Finance.
func (r *Reader) AccountEntries(ctx context.Context, f ports.AccountEntryFilter) (page ports.AccountEntryPage, found bool, err error) {
	err = r.readOnly(ctx, func(q Querier) error {
		ids, err := readAccountIDs(ctx, q, []ledger.Account{f.Account})
		accountID, exists := ids[f.Account]
		if err != nil || !exists {
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
		picker, err := newAccountPicker(ctx, q, accountID, m, !line.NoOverdraft, f)
		if err != nil {
			return err
		}
		if err := picker.readPage(ctx, q, m, &page); err != nil {
			return err
		}
		return runningBalances(ctx, q, accountID, m, f.Account, &page)
	})
	if err != nil {
		return page, false, fmt.Errorf("read the entries of %s: %w", f.Account, err)
	}
	if !f.Ascending {
		slices.Reverse(page.Entries)
	}
	return page, found, nil
}

// A page of the entries in the range ($4, $5], recorded from $8 until before $9, after the
// position ($6, $7). %[1]s is the order, %[2]s selects the entries.
const selectAccountPage = `
SELECT e.seq, e.entry_no, d.path, c.path, e.currency, e.amount, p.id, p.kind, p.transaction_id, p.effective_at, p.recorded_at, p.memo, p.reverses
FROM (SELECT * FROM (%[2]s) picked ORDER BY seq %[1]s, entry_no %[1]s LIMIT $3) e
JOIN ledger_postings p ON p.platform_id = $1 AND p.seq = e.seq AND p.recorded_at = e.recorded_at AND p.recorded_at >= $8 AND p.recorded_at < $9
JOIN ledger_accounts d ON d.platform_id = $1 AND d.id = e.debit_account_id
JOIN ledger_accounts c ON c.platform_id = $1 AND c.id = e.credit_account_id
ORDER BY e.seq %[1]s, e.entry_no %[1]s`

// The entries with the account on one side (%[4]s). Uses ledger_entries_by_debit_account or
// ledger_entries_by_credit_account: an account is on one side of an entry only, so two short
// index scans give the page. The limit counts whole postings (WITH TIES), because the indexes
// are sorted by posting and no sort is needed. %[1]s is the order, %[2]s compares positions
// with the last one, %[3]s is a further condition.
const pickSideByRange = `
    (SELECT e.seq, e.recorded_at, e.entry_no, e.debit_account_id, e.credit_account_id, e.amount, e.currency FROM ledger_entries e
     WHERE e.platform_id = $1 AND e.%[4]s_account_id = $2 AND e.seq > $4 AND e.seq <= $5 AND e.recorded_at >= $8 AND e.recorded_at < $9
       AND (e.seq, e.entry_no) %[2]s ($6, $7) %[3]s
     ORDER BY e.seq %[1]s FETCH FIRST ($3) ROWS WITH TIES)`

const effectiveInSpan = `AND (SELECT p.effective_at FROM ledger_postings p
            WHERE p.platform_id = $1 AND p.seq = e.seq AND p.recorded_at = e.recorded_at AND p.recorded_at >= $8 AND p.recorded_at < $9) BETWEEN $10 AND $11`

// The entries of backdated postings (%[3]s), by primary key. %[1]s compares positions
// with the last one, %[2]s is a further condition.
const pickBackdated = `
    SELECT e.seq, e.recorded_at, e.entry_no, e.debit_account_id, e.credit_account_id, e.amount, e.currency
    FROM unnest(%[3]s) AS s (seq, recorded_at)
    JOIN ledger_entries e ON e.platform_id = $1 AND e.seq = s.seq AND e.recorded_at = s.recorded_at AND e.recorded_at >= $8 AND e.recorded_at < $9
    WHERE s.seq > $4 AND s.seq <= $5 AND $2 IN (e.debit_account_id, e.credit_account_id) AND (e.seq, e.entry_no) %[1]s ($6, $7) %[2]s`

// accountPicker selects entries of an account in ranges.
type accountPicker struct {
	ports.AccountEntryFilter
	accountID      int64
	ranges         []searchRange
	order, compare string
	last           ports.EntryPosition
	// sides are those of an entry that the account may be on.
	sides []string
	// condition is on entries e; args are its arguments, from $10 on.
	condition string
	args      []any
}

func newAccountPicker(ctx context.Context, q Querier, accountID int64, m months, busy bool, f ports.AccountEntryFilter) (*accountPicker,
	error) {
	p := &accountPicker{AccountEntryFilter: f, accountID: accountID, order: "ASC", compare: ">", last: f.After,
		sides: []string{"debit", "credit"}}
	within := allPostings
	switch {
	case f.Ascending:
		within.after = p.last.Seq - 1
	case p.last == (ports.EntryPosition{}):
		p.order, p.compare, p.last = "DESC", "<", ports.EntryPosition{Seq: math.MaxInt64}
	default:
		p.order, p.compare, within.upto = "DESC", "<", p.last.Seq
	}
	if p.last.N < 0 || p.last.N > math.MaxInt16 {
		return nil, fmt.Errorf("the position %v to continue after is not that of an entry", p.last)
	}
	ranges, err := accountSearchRanges(ctx, q, accountID, m, busy, f)
	if err != nil {
		return nil, err
	}
	p.ranges = m.clip(ranges, within, f.Ascending, true)
	if f.By == ports.ByEffective && !f.Interval.IsUnbounded() {
		p.condition, p.args = effectiveInSpan, []any{orMinTime(f.Interval.From), orMaxTime(f.Interval.Last())}
	}
	yearPostings := []int64{}
	for _, y := range f.YearPostings {
		yearPostings = append(yearPostings, y.Seq)
	}
	switch f.Part {
	case financials.AllEntries:
	case financials.Earned:
		p.condition += fmt.Sprintf(" AND e.seq <> ALL(%s::bigint[])", p.argument(yearPostings))
	case financials.YearEnd:
		p.condition += fmt.Sprintf(" AND e.seq = ANY(%s::bigint[])", p.argument(yearPostings))
	case financials.Debits:
		p.sides, p.condition = []string{"debit"}, p.condition+" AND e.debit_account_id = $2"
	case financials.Credits:
		p.sides, p.condition = []string{"credit"}, p.condition+" AND e.credit_account_id = $2"
	case financials.CashReceived, financials.CashPaid:
		account, other := "credit", "debit"
		if f.Part == financials.CashPaid {
			account, other = other, account
		}
		p.sides = []string{account}
		first, beyond := pathRanges(financials.CashPaths())
		p.condition += fmt.Sprintf(" AND e.%s_account_id = $2 AND e.%s_account_id IN (SELECT a.id %s)", account, other, fromPathRanges(
			p.argument(first), p.argument(beyond)))
	}
	return p, nil
}

// argument adds an argument of the condition, and returns its name.
func (p *accountPicker) argument(value any) string {
	p.args = append(p.args, value)
	return fmt.Sprintf("$%d", 9+len(p.args))
}

// pick returns a query of at most so many entries of a range, and its arguments.
func (p *accountPicker) pick(r searchRange, limit int64) (string, []any) {
	from, until := r.timeBounds()
	args := append([]any{p.Account.Platform, p.accountID, limit, r.after, r.upto, p.last.Seq, int16(p.last.N), from, until}, p.args...)
	if r.backdatedSeqs == nil {
		picks := make([]string, len(p.sides))
		for i, side := range p.sides {
			picks[i] = fmt.Sprintf(pickSideByRange, p.order, p.compare, p.condition, side)
		}
		return strings.Join(picks, " UNION ALL "), args
	}
	n := len(args)
	return fmt.Sprintf(pickBackdated, p.compare, p.condition, fmt.Sprintf("$%d::bigint[], $%d::timestamptz[]", n+1, n+2)),
		append(args, r.backdatedSeqs, r.backdatedTimes)
}

// readPage reads the page from the ranges that can contain its entries, and returns it
// in ascending order.
func (p *accountPicker) readPage(ctx context.Context, q Querier, m months, page *ports.AccountEntryPage) error {
	for _, r := range p.ranges {
		missing := p.Limit + 1 - len(page.Entries)
		if r.archived && len(page.Entries) == 0 {
			return m.archivedError()
		}
		if r.archived || missing <= 0 {
			page.More = r.archived
			break
		}
		pick, args := p.pick(r, int64(missing))
		if err := query(ctx, q, fmt.Sprintf(selectAccountPage, p.order, pick), args, func(rows pgx.Rows) error {
			e, err := scanEntry(rows)
			page.Entries = append(page.Entries, ports.AccountEntry{RecordedEntry: e})
			return err
		}); err != nil {
			return err
		}
	}
	if len(page.Entries) > p.Limit {
		page.Entries, page.More = page.Entries[:p.Limit], true
	}
	if !p.Ascending {
		slices.Reverse(page.Entries)
	}
	return nil
}

// selectAccountSum adds up the debits less the credits of entries.
const selectAccountSum = `
SELECT coalesce(sum(CASE WHEN e.debit_account_id = $2 THEN e.amount ELSE -e.amount END), 0)::text
FROM (SELECT * FROM (%s) picked LIMIT $3) e`

// AccountEntriesSum implements accounting.Finance.
func (r *Reader) AccountEntriesSum(ctx context.Context, f ports.AccountEntryFilter) (sum money.Total, err error) {
	f.After, f.Ascending = ports.EntryPosition{}, true
	err = r.readOnly(ctx, func(q Querier) error {
		ids, err := readAccountIDs(ctx, q, []ledger.Account{f.Account})
		accountID, exists := ids[f.Account]
		if err != nil || !exists {
			return err
		}
		m, err := loadMonths(ctx, q, f.Account.Platform.UUID())
		if err != nil {
			return err
		}
		picker, err := newAccountPicker(ctx, q, accountID, m, true, f)
		if err != nil {
			return err
		}
		for _, part := range picker.ranges {
			if part.archived {
				return m.archivedError()
			}
			pick, args := picker.pick(part, math.MaxInt64)
			n, err := readTotal(ctx, q, fmt.Sprintf(selectAccountSum, pick), args...)
			if err != nil {
				return err
			}
			sum = sum.Add(n)
		}
		return nil
	})
	if err != nil {
		return sum, fmt.Errorf("add up the entries of %s: %w", f.Account, err)
	}
	return sum, nil
}

// The blocks of an account with entries effective in a span, and the range after the last
// block. Uses ledger_balance_snapshots_pkey.
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

// accountSearchRanges returns the ranges that can contain entries of the interval, in
// ascending order. By effective time, these are blocks of the account, whose effective
// times are bounded. A busy account has large blocks; its entries are looked up as those of
// any posting.
func accountSearchRanges(ctx context.Context, q Querier, accountID int64, m months, busy bool,
	f ports.AccountEntryFilter) (ranges []searchRange, err error) {
	if busy || f.By == ports.ByRecorded || f.Interval.IsUnbounded() {
		return spanSearchRanges(ctx, q, f.Account.Platform.UUID(), accountID, m, f.By, f.Interval)
	}
	args := []any{f.Account.Platform, accountID, orMinTime(f.Interval.From), orMaxTime(f.Interval.Last())}
	err = query(ctx, q, blocksInSpan, args, func(rows pgx.Rows) error {
		var r seqRange
		if err := rows.Scan(&r.after, &r.upto); err != nil {
			return err
		}
		if n := len(ranges); n > 0 && ranges[n-1].upto == r.after {
			ranges[n-1].upto = r.upto
		} else {
			ranges = append(ranges, searchRange{seqRange: r})
		}
		return nil
	})
	return ranges, err
}

// The balance of the account before each of several entries: the change since the previous
// entry of the list or, if there is one in between, the last snapshot and the change since.
// Uses ledger_balance_snapshots_pkey, ledger_entries_by_debit_account and
// ledger_entries_by_credit_account.
const balancesBefore = `
SELECT coalesce(k.balance::text, ''), (d.amount - c.amount)::text
FROM unnest($3::bigint[], $4::smallint[], $5::timestamptz[], $6::bigint[], $7::smallint[], $8::timestamptz[]) WITH ORDINALITY
    AS w (seq, entry_no, recorded, last_seq, last_entry_no, last_recorded, position)
LEFT JOIN LATERAL (
    SELECT k.seq, k.balance FROM ledger_balance_snapshots k
    WHERE k.platform_id = $1 AND k.account_id = $2 AND k.seq < w.seq AND k.seq >= w.last_seq ORDER BY k.seq DESC LIMIT 1
) k ON true
CROSS JOIN LATERAL (
    SELECT coalesce(sum(e.amount), 0) AS amount FROM ledger_entries e
    WHERE e.platform_id = $1 AND e.debit_account_id = $2 AND e.seq >= greatest(k.seq + 1, w.last_seq) AND e.seq <= w.seq
      AND e.recorded_at >= w.last_recorded AND e.recorded_at <= w.recorded AND e.recorded_at >= $9 AND e.recorded_at < $10
      AND (k.seq IS NOT NULL OR (e.seq, e.entry_no) > (w.last_seq, w.last_entry_no)) AND (e.seq, e.entry_no) < (w.seq, w.entry_no)
) d
CROSS JOIN LATERAL (
    SELECT coalesce(sum(e.amount), 0) AS amount FROM ledger_entries e
    WHERE e.platform_id = $1 AND e.credit_account_id = $2 AND e.seq >= greatest(k.seq + 1, w.last_seq) AND e.seq <= w.seq
      AND e.recorded_at >= w.last_recorded AND e.recorded_at <= w.recorded AND e.recorded_at >= $9 AND e.recorded_at < $10
      AND (k.seq IS NOT NULL OR (e.seq, e.entry_no) > (w.last_seq, w.last_entry_no)) AND (e.seq, e.entry_no) < (w.seq, w.entry_no)
) c
ORDER BY w.position`

// runningBalances sets the balance after each entry of a page in ascending order.
func runningBalances(ctx context.Context, q Querier, accountID int64, m months, account ledger.Account,
	page *ports.AccountEntryPage) error {
	n := len(page.Entries)
	if n == 0 {
		return nil
	}
	// Entries before the last complete month are in the snapshot before the first entry.
	span := m.blockRange(seqRange{upto: page.Entries[0].Position.Seq})
	span.until = m.withTimeBounds(seqRange{upto: page.Entries[n-1].Position.Seq}).until
	from, until := span.timeBounds()
	seqs, entryNumbers, times := make([]int64, n), make([]int16, n), make([]pgtype.Timestamptz, n)
	lastSeqs, lastEntryNumbers, lastTimes := make([]int64, n), make([]int16, n), make([]pgtype.Timestamptz, n)
	lastTimes[0] = from
	for i, e := range page.Entries {
		seqs[i], entryNumbers[i], times[i] = e.Position.Seq, int16(e.Position.N), pgtype.Timestamptz{Time: e.Recorded, Valid: true}
		if i > 0 {
			lastSeqs[i], lastEntryNumbers[i], lastTimes[i] = seqs[i-1], entryNumbers[i-1], times[i-1]
		}
	}
	var balance money.Total
	index := 0
	args := []any{account.Platform, accountID, seqs, entryNumbers, times, lastSeqs, lastEntryNumbers, lastTimes, from, until}
	return query(ctx, q, balancesBefore, args, func(rows pgx.Rows) error {
		var snapshot, between string
		if err := rows.Scan(&snapshot, &between); err != nil {
			return err
		}
		if snapshot != "" {
			var err error
			if balance, err = parseTotal(snapshot); err != nil {
				return err
			}
		}
		debits, err := parseTotal(between)
		if err != nil {
			return err
		}
		e := &page.Entries[index]
		if e.Debit == account.Path {
			debits = debits.Add(money.TotalOf(e.Amount))
		} else {
			debits = debits.Sub(money.TotalOf(e.Amount))
		}
		balance = balance.Add(page.Class.Balance(debits, money.Total{}))
		e.Balance = balance
		index++
		return nil
	})
}

// minTime and maxTime replace the missing bounds of an interval.
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
