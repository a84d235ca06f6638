package books

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// AccountEntries is as ports.Finance says.
func (r *Reader) AccountEntries(ctx context.Context, f ports.AccountEntryFilter) (page ports.AccountEntryPage, found bool, err error) {
	err = r.with(ctx, func(q Querier) error {
		numbers, err := r.books.numbersOf(ctx, q, []ledger.Account{f.Account}, false)
		number, there := numbers[f.Account]
		if err != nil || !there {
			return err
		}
		line, err := ledger.Find(f.Account.Path)
		if err != nil {
			return err
		}
		found, page.Class = true, line.Class
		if err := readAccountPage(ctx, q, number, !line.Guarded, f, &page); err != nil {
			return err
		}
		return runningBalances(ctx, q, number, f.Account, &page)
	})
	if err != nil {
		return page, false, fmt.Errorf("read the entries of %s: %w", f.Account, err)
	}
	if !f.Ascending {
		slices.Reverse(page.Entries)
	}
	return page, found, nil
}

// stretch is a run of postings: those with numbers above after, up to upto.
type stretch struct{ after, upto int64 }

// A page of one stretch, which is ($4, $5], from the place ($6, $7) on: rides on
// ledger_entries_debit and ledger_entries_credit. An account is on one side of an entry
// only, so two short runs make the page; they are cut by postings, as the indexes have
// them in that order without a sort. %[1]s is the order, %[2]s how places compare
// to the last one, %[3]s what else an entry must be.
const accountPage = `
SELECT e.seq, e.n, d.path, c.path, e.currency, e.amount, p.id, p.kind, p.transaction_id, p.effective_at, p.recorded_at, p.memo, p.reverses
FROM (SELECT * FROM (
    (SELECT e.seq, e.n, e.debit_account, e.credit_account, e.amount, e.currency FROM ledger_entries e
     WHERE e.platform_id = $1 AND e.debit_account = $2 AND e.seq > $4 AND e.seq <= $5 AND (e.seq, e.n) %[2]s ($6, $7) %[3]s
     ORDER BY e.seq %[1]s FETCH FIRST ($3) ROWS WITH TIES)
    UNION ALL
    (SELECT e.seq, e.n, e.debit_account, e.credit_account, e.amount, e.currency FROM ledger_entries e
     WHERE e.platform_id = $1 AND e.credit_account = $2 AND e.seq > $4 AND e.seq <= $5 AND (e.seq, e.n) %[2]s ($6, $7) %[3]s
     ORDER BY e.seq %[1]s FETCH FIRST ($3) ROWS WITH TIES)
) picked ORDER BY seq %[1]s, n %[1]s LIMIT $3) e
JOIN ledger_postings p ON p.platform_id = $1 AND p.seq = e.seq
JOIN ledger_accounts d ON d.platform_id = $1 AND d.id = e.debit_account
JOIN ledger_accounts c ON c.platform_id = $1 AND c.id = e.credit_account
ORDER BY e.seq %[1]s, e.n %[1]s`

const tookEffect = `AND (SELECT p.effective_at FROM ledger_postings p WHERE p.platform_id = $1 AND p.seq = e.seq) BETWEEN $8 AND $9`

// readAccountPage reads the page out of the stretches that can have something of it,
// and leaves it in ascending order.
func readAccountPage(ctx context.Context, q Querier, number int64, busy bool, f ports.AccountEntryFilter, page *ports.AccountEntryPage) error {
	stretches, err := stretchesOf(ctx, q, number, busy, f)
	if err != nil {
		return err
	}
	order, compare := "ASC", ">"
	last := f.After
	if !f.Ascending {
		order, compare = "DESC", "<"
		slices.Reverse(stretches)
		if last == (ports.EntryPlace{}) {
			last = ports.EntryPlace{Seq: math.MaxInt64}
		}
	}
	if last.N < 0 || last.N > math.MaxInt16 {
		return fmt.Errorf("no entry stands at the place %v to go on from", last)
	}
	filter := ""
	var span []any
	if f.By == ports.ByEffective && f.Span != (ports.Span{}) {
		filter, span = tookEffect, []any{orEarliest(f.Span.From), orLatest(f.Span.To)}
	}
	statement := fmt.Sprintf(accountPage, order, compare, filter)
	for _, s := range stretches {
		if f.Ascending {
			s.after = max(s.after, last.Seq-1)
		} else {
			s.upto = min(s.upto, last.Seq)
		}
		missing := f.Limit + 1 - len(page.Entries)
		if s.after >= s.upto || missing <= 0 {
			continue
		}
		args := append([]any{dbID(f.Account.Platform.UUID()), number, missing, s.after, s.upto, last.Seq, int16(last.N)}, span...)
		if err := planned(ctx, q, statement, args, func(rows pgx.Rows) error {
			e, err := scanEntry(rows)
			page.Entries = append(page.Entries, ports.AccountEntry{RecordedEntry: e})
			return err
		}); err != nil {
			return err
		}
	}
	if page.More = len(page.Entries) > f.Limit; page.More {
		page.Entries = page.Entries[:f.Limit]
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
    SELECT lag(k.seq, 1, 0::bigint) OVER (ORDER BY k.seq) AS after, k.seq AS upto, k.earliest, k.latest
    FROM ledger_checkpoints k WHERE k.platform_id = $1 AND k.account_id = $2
    UNION ALL
    SELECT coalesce(max(k.seq), 0), 9223372036854775807, '-infinity', 'infinity'
    FROM ledger_checkpoints k WHERE k.platform_id = $1 AND k.account_id = $2
) blocks
WHERE earliest <= $4 AND latest >= $3
ORDER BY after`

// Postings that touch an account and took effect in a span ($3 to $4), but were recorded
// outside of a stretch ($5 to $6). Rides on ledger_postings_astray.
const strays = `
SELECT p.seq FROM (
    SELECT p.seq FROM ledger_postings p
    WHERE p.platform_id = $1 AND p.recorded_at < $3 AND p.effective_at BETWEEN $3 AND $4 AND ` + astray + `
    UNION ALL
    SELECT p.seq FROM ledger_postings p
    WHERE p.platform_id = $1 AND p.recorded_at > $4 AND p.effective_at BETWEEN $3 AND $4 AND ` + astray + `
) p
WHERE (p.seq <= $5 OR p.seq > $6)
  AND EXISTS (SELECT FROM ledger_entries e WHERE e.platform_id = $1 AND e.seq = p.seq AND $2 IN (e.debit_account, e.credit_account))
ORDER BY p.seq LIMIT $7`

// mostStrays is how many stretches of one posting are worth their while.
const mostStrays = 50

// stretchesOf says where entries of the span can be, in ascending order. Recorded time
// grows with the number, so that is one stretch. What took effect in a span was mostly
// recorded around it too. The rest is looked for in the blocks of the account, which
// know their extremes; where blocks are large, since the account is busy, it is looked
// for among all postings first.
func stretchesOf(ctx context.Context, q Querier, number int64, busy bool, f ports.AccountEntryFilter) ([]stretch, error) {
	if f.By == ports.ByRecorded || f.Span == (ports.Span{}) {
		s, err := recordedStretch(ctx, q, f.Account.Platform.UUID(), f.Span)
		return []stretch{s}, err
	}
	args := []any{dbID(f.Account.Platform.UUID()), number, orEarliest(f.Span.From), orLatest(f.Span.To)}
	if busy {
		recorded, err := recordedStretch(ctx, q, f.Account.Platform.UUID(), tolerant(f.Span))
		if err != nil {
			return nil, err
		}
		var found []stretch
		if err := planned(ctx, q, strays, append(args, recorded.after, recorded.upto, mostStrays+1), func(rows pgx.Rows) error {
			var seq int64
			err := rows.Scan(&seq)
			if seq > recorded.upto && (len(found) == 0 || found[len(found)-1].upto <= recorded.after) {
				found = append(found, recorded)
			}
			found = append(found, stretch{seq - 1, seq})
			return err
		}); err != nil {
			return nil, err
		}
		if len(found) <= mostStrays {
			if len(found) == 0 || found[len(found)-1].upto <= recorded.after {
				found = append(found, recorded)
			}
			return found, nil
		}
	}
	return blocksOf(ctx, q, args)
}

func blocksOf(ctx context.Context, q Querier, args []any) (found []stretch, err error) {
	err = planned(ctx, q, blocksInSpan, args, func(rows pgx.Rows) error {
		var s stretch
		if err := rows.Scan(&s.after, &s.upto); err != nil {
			return err
		}
		if n := len(found); n > 0 && found[n-1].upto == s.after {
			found[n-1].upto = s.upto
		} else {
			found = append(found, s)
		}
		return nil
	})
	return found, err
}

// What was on the account before each of several entries, counted from the entry before
// it in the list or, where there is one in between, from the last checkpoint. Rides on
// ledger_checkpoints_pkey, ledger_entries_debit and ledger_entries_credit.
const balancesBefore = `
SELECT coalesce(k.balance::text, ''), (d.amount - c.amount)::text
FROM unnest($3::bigint[], $4::smallint[], $5::bigint[], $6::smallint[]) WITH ORDINALITY AS w (seq, n, last_seq, last_n, place)
LEFT JOIN LATERAL (
    SELECT k.seq, k.balance FROM ledger_checkpoints k
    WHERE k.platform_id = $1 AND k.account_id = $2 AND k.seq < w.seq AND k.seq >= w.last_seq ORDER BY k.seq DESC LIMIT 1
) k ON true
CROSS JOIN LATERAL (
    SELECT coalesce(sum(e.amount), 0) AS amount FROM ledger_entries e
    WHERE e.platform_id = $1 AND e.debit_account = $2 AND e.seq >= coalesce(k.seq + 1, w.last_seq) AND e.seq <= w.seq
      AND (k.seq IS NOT NULL OR (e.seq, e.n) > (w.last_seq, w.last_n)) AND (e.seq, e.n) < (w.seq, w.n)
) d
CROSS JOIN LATERAL (
    SELECT coalesce(sum(e.amount), 0) AS amount FROM ledger_entries e
    WHERE e.platform_id = $1 AND e.credit_account = $2 AND e.seq >= coalesce(k.seq + 1, w.last_seq) AND e.seq <= w.seq
      AND (k.seq IS NOT NULL OR (e.seq, e.n) > (w.last_seq, w.last_n)) AND (e.seq, e.n) < (w.seq, w.n)
) c
ORDER BY w.place`

// runningBalances fills in the balance after each entry of a page in ascending order.
func runningBalances(ctx context.Context, q Querier, number int64, account ledger.Account, page *ports.AccountEntryPage) error {
	n := len(page.Entries)
	seqs, places, lastSeqs, lastPlaces := make([]int64, n), make([]int16, n), make([]int64, n), make([]int16, n)
	for i, e := range page.Entries {
		seqs[i], places[i] = e.Place.Seq, int16(e.Place.N)
		if i > 0 {
			lastSeqs[i], lastPlaces[i] = seqs[i-1], places[i-1]
		}
	}
	var balance money.Total
	at := 0
	args := []any{dbID(account.Platform.UUID()), number, seqs, places, lastSeqs, lastPlaces}
	return planned(ctx, q, balancesBefore, args, func(rows pgx.Rows) error {
		var checkpoint, between string
		if err := rows.Scan(&checkpoint, &between); err != nil {
			return err
		}
		if checkpoint != "" {
			var err error
			if balance, err = total(checkpoint); err != nil {
				return err
			}
		}
		debits, err := total(between)
		if err != nil {
			return err
		}
		e := &page.Entries[at]
		if e.Debit == account.Path {
			debits = debits.Add(money.TotalOf(e.Amount))
		} else {
			debits = debits.Sub(money.TotalOf(e.Amount))
		}
		if !page.Class.DebitGrows() {
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
	earliest = time.Date(-4000, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
)

func orEarliest(t time.Time) time.Time {
	if t.IsZero() {
		return earliest
	}
	return t.UTC()
}

func orLatest(t time.Time) time.Time {
	if t.IsZero() {
		return latest
	}
	return t.UTC()
}
