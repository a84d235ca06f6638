package ledgerdb

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

const entryColumns = `e.seq, e.entry_no, d.path, c.path, e.currency, e.amount, p.id, p.kind, p.transaction_id, p.effective_at, p.recorded_at, p.memo, p.reverses`

// The entries of a range of postings, recorded from $7 until before $8, with the ids of their accounts. Uses the primary keys, from which
// it reads both ranges.
const selectEntriesInRange = `
SELECT e.debit_account_id, e.credit_account_id, e.seq, e.entry_no, e.currency, e.amount, p.id, p.kind, p.transaction_id, p.effective_at, p.recorded_at, p.memo, p.reverses
FROM ledger_entries e
JOIN ledger_postings p ON p.platform_id = $1 AND p.seq = e.seq AND p.recorded_at = e.recorded_at
WHERE e.platform_id = $1 AND e.seq > $2 AND e.seq <= $3 AND e.recorded_at >= $7 AND e.recorded_at < $8
  AND p.seq > $2 AND p.seq <= $3 AND p.recorded_at >= $7 AND p.recorded_at < $8 AND ($4 = '' OR e.currency = $4)
  AND ($5::timestamptz IS NULL OR p.effective_at >= $5) AND ($6::timestamptz IS NULL OR p.effective_at < $6)
ORDER BY e.seq, e.entry_no`

// The entries of the next postings after $7 on the accounts at a path, at least $9 if there
// are as many, and whether each is in the interval. Uses ledger_entries_by_debit_account and
// ledger_entries_by_credit_account, which have the order of the result; the limits count whole
// postings.
const selectEntriesOfPath = `
SELECT ` + entryColumns + `, ($5::timestamptz IS NULL OR p.effective_at >= $5) AND ($6::timestamptz IS NULL OR p.effective_at < $6)
FROM (
    SELECT u.* FROM ledger_accounts a CROSS JOIN LATERAL (
        (SELECT e.* FROM ledger_entries e
         WHERE e.platform_id = $1 AND e.debit_account_id = a.id AND e.seq > $7 AND e.seq <= $2 AND e.recorded_at >= $8 ORDER BY e.seq FETCH FIRST ($9) ROWS WITH TIES)
        UNION ALL
        (SELECT e.* FROM ledger_entries e
         WHERE e.platform_id = $1 AND e.credit_account_id = a.id AND e.seq > $7 AND e.seq <= $2 AND e.recorded_at >= $8 ORDER BY e.seq FETCH FIRST ($9) ROWS WITH TIES)
    ) u
    WHERE a.platform_id = $1 AND a.path = $3 AND ($4 = '' OR a.currency = $4)
    ORDER BY u.seq FETCH FIRST ($9) ROWS WITH TIES
) e
JOIN ledger_postings p ON p.platform_id = $1 AND p.seq = e.seq AND p.recorded_at = e.recorded_at
JOIN ledger_accounts d ON d.platform_id = $1 AND d.id = e.debit_account_id
JOIN ledger_accounts c ON c.platform_id = $1 AND c.id = e.credit_account_id
ORDER BY e.seq, e.entry_no`

// The entries of each of the accounts with paths $3 and currencies $4 by effective time, with the place of the account. The
// accounts are found first (OFFSET 0): joined otherwise, tables without statistics would be read without the index by account.
// Uses ledger_entries_by_debit_account and ledger_entries_by_credit_account.
const selectEntriesByEffectiveTime = `
SELECT e.seq, e.entry_no, CASE WHEN e.debited THEN w.path ELSE o.path END, CASE WHEN e.debited THEN o.path ELSE w.path END, e.currency, e.amount,
       p.id, p.kind, p.transaction_id, p.effective_at, p.recorded_at, p.memo, p.reverses, w.place
FROM (
    SELECT (SELECT a.id FROM ledger_accounts a WHERE a.platform_id = $1 AND a.path = w.path AND a.currency = w.currency) AS id, w.path, w.place
    FROM unnest($3::text[], $4::text[]) WITH ORDINALITY AS w (path, currency, place) OFFSET 0
) w
CROSS JOIN LATERAL (
    SELECT e.*, true AS debited, e.credit_account_id AS other_id FROM ledger_entries e
    WHERE e.platform_id = $1 AND e.debit_account_id = w.id AND e.seq > $7 AND e.seq <= $2
    UNION ALL
    SELECT e.*, false, e.debit_account_id FROM ledger_entries e
    WHERE e.platform_id = $1 AND e.credit_account_id = w.id AND e.seq > $7 AND e.seq <= $2
) e
JOIN ledger_postings p ON p.platform_id = $1 AND p.seq = e.seq AND p.recorded_at = e.recorded_at
JOIN ledger_accounts o ON o.platform_id = $1 AND o.id = e.other_id
WHERE ($5::timestamptz IS NULL OR p.effective_at >= $5) AND ($6::timestamptz IS NULL OR p.effective_at < $6)
ORDER BY w.place, p.effective_at, e.seq, e.entry_no`

// Uses ledger_accounts_pkey.
const selectPaths = `SELECT id, path FROM ledger_accounts WHERE platform_id = $1 AND id = ANY($2)`

// entryRangeSize is the number of postings, or of entries of one path, that one transaction
// reads. They are in memory until they are handed on.
const entryRangeSize = 5_000

// Entries implements ports.LedgerView. It reads ranges of postings, so that nothing is sorted
// and the first entry is available at once.
func (v *ledgerView) Entries(ctx context.Context, filter ports.LedgerFilter, each func(ports.RecordedEntry) error) error {
	after, err := v.firstNeededSeq(filter.Interval)
	if err != nil {
		return err
	}
	readRange := v.rangeOfAll
	if filter.Path != "" {
		readRange = v.rangeOfPath
	}
	var entries []ports.RecordedEntry
	for after < v.last.Seq && err == nil {
		if entries, after, err = readRange(ctx, filter, after, entries[:0]); err != nil {
			return fmt.Errorf("read entries: %w", err)
		}
		for i := 0; i < len(entries) && err == nil; i++ {
			err = each(entries[i])
		}
	}
	return err
}

// rangeOfAll appends the entries of the next entryRangeSize postings and returns the number of
// the last of them.
func (v *ledgerView) rangeOfAll(ctx context.Context, filter ports.LedgerFilter, after int64,
	entries []ports.RecordedEntry) ([]ports.RecordedEntry, int64, error) {
	r := v.months.withTimeBounds(seqRange{after: after, upto: min(after+entryRangeSize, v.last.Seq)})
	from, until := r.timeBounds()
	args := []any{v.platform, r.after, r.upto, string(filter.Currency), optionalTime(filter.From), optionalTime(filter.To), from, until}
	err := v.read(ctx, joinedReadSettings, func(tx pgx.Tx) error {
		var accounts []int64 // two of each entry
		err := queryFreshPlan(ctx, tx, selectEntriesInRange, args, func(rows pgx.Rows) error {
			var e ports.RecordedEntry
			var debit, credit int64
			err := rows.Scan(&debit, &credit, &e.Position.Seq, &e.Position.N, &e.Currency, &e.Amount, &e.Posting, &e.Kind, &e.Transaction,
				&e.Effective, &e.Recorded, &e.Memo, &e.Reverses)
			entries, accounts = append(entries, e), append(accounts, debit, credit)
			return err
		})
		if err != nil {
			return err
		}
		if err := v.readPaths(ctx, tx, accounts); err != nil {
			return err
		}
		for i := range entries {
			entries[i].Debit, entries[i].Credit = v.paths[accounts[2*i]], v.paths[accounts[2*i+1]]
		}
		return nil
	})
	return entries, r.upto, err
}

// maxKnownPaths is how many paths of accounts a view keeps: those of a few ranges of entries.
const maxKnownPaths = 20_000

// readPaths makes paths have those of accounts. They do not change.
func (v *ledgerView) readPaths(ctx context.Context, tx pgx.Tx, accounts []int64) error {
	if v.paths == nil || len(v.paths) > maxKnownPaths {
		v.paths = map[int64]string{}
	}
	var missing []int64
	for _, id := range accounts {
		if _, known := v.paths[id]; !known {
			v.paths[id] = ""
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	found := 0
	err := query(ctx, tx, selectPaths, []any{v.platform, missing}, func(rows pgx.Rows) error {
		var id int64
		var path string
		err := rows.Scan(&id, &path)
		v.paths[id] = path
		found++
		return err
	})
	if err == nil && found < len(missing) {
		err = fmt.Errorf("%d accounts of entries are missing", len(missing)-found)
	}
	return err
}

// rangeOfPath appends the next entries on the accounts at a path that are in the interval, and
// returns the number up to which they are complete.
func (v *ledgerView) rangeOfPath(ctx context.Context, filter ports.LedgerFilter, after int64,
	entries []ports.RecordedEntry) ([]ports.RecordedEntry, int64, error) {
	r := v.months.withTimeBounds(seqRange{after: after, upto: v.last.Seq})
	from, _ := r.timeBounds()
	args := []any{v.platform, r.upto, filter.Path, string(filter.Currency), optionalTime(filter.From), optionalTime(filter.To), r.after,
		from, entryRangeSize}
	read := 0
	err := v.read(ctx, indexLookupSettings, func(tx pgx.Tx) error {
		return query(ctx, tx, selectEntriesOfPath, args, func(rows pgx.Rows) error {
			included := false
			e, err := scanEntry(rows, &included)
			if read++; included {
				entries = append(entries, e)
			}
			after = e.Position.Seq
			return err
		})
	})
	if read < entryRangeSize {
		after = v.last.Seq
	}
	return entries, after, err
}

// EntriesByEffectiveTime implements ports.LedgerView. The entries are sorted by the database.
func (v *ledgerView) EntriesByEffectiveTime(ctx context.Context, accounts []ledger.Account, interval period.Interval,
	each func(ledger.Account, ports.RecordedEntry) error) error {
	firstSeq, err := v.firstNeededSeq(interval)
	if err != nil {
		return err
	}
	paths, currencies := make([]string, len(accounts)), make([]string, len(accounts))
	for i, a := range accounts {
		paths[i], currencies[i] = a.Path, string(a.Currency)
	}
	args := []any{v.platform, v.last.Seq, paths, currencies, optionalTime(interval.From), optionalTime(interval.To), firstSeq}
	return v.spoolAccounts(ctx, "read the entries of accounts", selectEntriesByEffectiveTime, args, func(r row) error {
		var place int
		e, err := scanEntry(r, &place)
		if err != nil {
			return err
		}
		return each(accounts[place-1], e)
	})
}
