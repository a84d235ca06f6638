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

// The entries of a range of postings, recorded from $7 until before $8. Uses the primary keys.
const selectEntriesInRange = `
SELECT ` + entryColumns + `
FROM ledger_entries e
JOIN ledger_postings p ON p.platform_id = $1 AND p.seq = e.seq AND p.recorded_at = e.recorded_at
JOIN ledger_accounts d ON d.platform_id = $1 AND d.id = e.debit_account_id
JOIN ledger_accounts c ON c.platform_id = $1 AND c.id = e.credit_account_id
WHERE e.platform_id = $1 AND e.seq > $2 AND e.seq <= $3 AND e.recorded_at >= $7 AND e.recorded_at < $8
  AND p.recorded_at >= $7 AND p.recorded_at < $8 AND ($4 = '' OR e.currency = $4)
  AND ($5::timestamptz IS NULL OR p.effective_at >= $5) AND ($6::timestamptz IS NULL OR p.effective_at < $6)
ORDER BY e.seq, e.entry_no`

// The entries of the accounts at a path. Uses ledger_entries_by_debit_account and
// ledger_entries_by_credit_account.
const selectEntriesOfPath = `
SELECT ` + entryColumns + `
FROM (
    SELECT e.* FROM ledger_accounts a JOIN ledger_entries e ON e.platform_id = $1 AND e.debit_account_id = a.id AND e.seq > $7 AND e.seq <= $2
    WHERE a.platform_id = $1 AND a.path = $3 AND ($4 = '' OR a.currency = $4)
    UNION ALL
    SELECT e.* FROM ledger_accounts a JOIN ledger_entries e ON e.platform_id = $1 AND e.credit_account_id = a.id AND e.seq > $7 AND e.seq <= $2
    WHERE a.platform_id = $1 AND a.path = $3 AND ($4 = '' OR a.currency = $4)
) e
JOIN ledger_postings p ON p.platform_id = $1 AND p.seq = e.seq AND p.recorded_at = e.recorded_at
JOIN ledger_accounts d ON d.platform_id = $1 AND d.id = e.debit_account_id
JOIN ledger_accounts c ON c.platform_id = $1 AND c.id = e.credit_account_id
WHERE ($5::timestamptz IS NULL OR p.effective_at >= $5) AND ($6::timestamptz IS NULL OR p.effective_at < $6)
ORDER BY `

const (
	orderByRecorded  = `e.seq, e.entry_no`
	orderByEffective = `p.effective_at, e.seq, e.entry_no`
)

// entryRangeSize is the number of postings read by one statement.
const entryRangeSize = 5_000

// Entries implements ports.LedgerView. Without a path it reads ranges of postings, so that
// nothing is sorted and the first entry is available at once. The entries of one path are
// sorted by the database.
func (v *ledgerView) Entries(ctx context.Context, filter ports.LedgerFilter, each func(ports.RecordedEntry) error) error {
	if filter.Path != "" {
		return v.entriesOfPath(ctx, filter, orderByRecorded, each)
	}
	firstSeq, err := v.firstNeededSeq(filter.Interval)
	if err != nil {
		return err
	}
	return v.withSettings(ctx, rangeReadSettings, func() error {
		for after := firstSeq; after < v.last.Seq; after += entryRangeSize {
			r := v.months.withTimeBounds(seqRange{after: after, upto: min(after+entryRangeSize, v.last.Seq)})
			from, until := r.timeBounds()
			args := []any{pgUUID(v.platform.UUID()), r.after, r.upto, string(filter.Currency), optionalTime(filter.From), optionalTime(filter.To), from, until}
			if err := queryFreshPlan(ctx, v.tx, selectEntriesInRange, args, scanInto(each)); err != nil {
				return fmt.Errorf("read entries: %w", err)
			}
		}
		return nil
	})
}

// EntriesByEffectiveTime implements ports.LedgerView.
func (v *ledgerView) EntriesByEffectiveTime(ctx context.Context, account ledger.Account, interval period.Interval, each func(ports.RecordedEntry) error) error {
	return v.entriesOfPath(ctx, ports.LedgerFilter{Interval: interval, Path: account.Path, Currency: account.Currency}, orderByEffective, each)
}

func (v *ledgerView) entriesOfPath(ctx context.Context, filter ports.LedgerFilter, order string, each func(ports.RecordedEntry) error) error {
	firstSeq, err := v.firstNeededSeq(filter.Interval)
	if err != nil {
		return err
	}
	args := []any{pgUUID(v.platform.UUID()), v.last.Seq, filter.Path, string(filter.Currency), optionalTime(filter.From), optionalTime(filter.To), firstSeq}
	if err := query(ctx, v.tx, selectEntriesOfPath+order, args, scanInto(each)); err != nil {
		return fmt.Errorf("read the entries of %s: %w", filter.Path, err)
	}
	return nil
}

func scanInto(each func(ports.RecordedEntry) error) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		e, err := scanEntry(rows)
		if err != nil {
			return err
		}
		return each(e)
	}
}
