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

// One run of postings with their entries, recorded from $7 until before $8, along the
// primary keys; accounts by ledger_accounts_pkey.
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

// What touches accounts at a path, along ledger_entries_by_debit_account and ledger_entries_by_credit_account.
// An entry between two of them is one entry.
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

// entryRangeSize is how many postings are read with one statement.
const entryRangeSize = 5_000

// Entries is as ports.BookView says. The whole of the books is read in runs, so that
// nothing has to be sorted and the first entry comes at once; what touches one path is
// sorted by the database.
func (v *ledgerView) Entries(ctx context.Context, of ports.LedgerFilter, each func(ports.RecordedEntry) error) error {
	if of.Path != "" {
		return v.entriesOfPath(ctx, of, orderByRecorded, each)
	}
	begin, err := v.firstNeededSeq(of.Interval)
	if err != nil {
		return err
	}
	return v.withSettings(ctx, rangeReadSettings, func() error {
		for after := begin; after < v.last.Seq; after += entryRangeSize {
			run := v.months.withTimeBounds(seqRange{after: after, upto: min(after+entryRangeSize, v.last.Seq)})
			from, until := run.timeBounds()
			args := []any{pgUUID(v.platform.UUID()), run.after, run.upto, string(of.Currency), optionalTime(of.From), optionalTime(of.To), from, until}
			if err := queryFreshPlan(ctx, v.tx, selectEntriesInRange, args, scanInto(each)); err != nil {
				return fmt.Errorf("read entries: %w", err)
			}
		}
		return nil
	})
}

// EntriesByEffectiveTime is as ports.BookView says.
func (v *ledgerView) EntriesByEffectiveTime(ctx context.Context, account ledger.Account, of period.Interval, each func(ports.RecordedEntry) error) error {
	return v.entriesOfPath(ctx, ports.LedgerFilter{Interval: of, Path: account.Path, Currency: account.Currency}, orderByEffective, each)
}

func (v *ledgerView) entriesOfPath(ctx context.Context, of ports.LedgerFilter, order string, each func(ports.RecordedEntry) error) error {
	begin, err := v.firstNeededSeq(of.Interval)
	if err != nil {
		return err
	}
	args := []any{pgUUID(v.platform.UUID()), v.last.Seq, of.Path, string(of.Currency), optionalTime(of.From), optionalTime(of.To), begin}
	if err := query(ctx, v.tx, selectEntriesOfPath+order, args, scanInto(each)); err != nil {
		return fmt.Errorf("read the entries of %s: %w", of.Path, err)
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
