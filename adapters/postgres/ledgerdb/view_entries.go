package ledgerdb

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"causeway/ledger"
	"causeway/ports"
)

const entryColumns = `e.seq, e.n, d.path, c.path, e.currency, e.amount, p.id, p.kind, p.transaction_id, p.effective_at, p.recorded_at, p.memo, p.reverses`

// One run of postings with their entries, recorded from $7 until before $8, along the
// primary keys; accounts by ledger_accounts_pkey.
const entriesOfRun = `
SELECT ` + entryColumns + `
FROM ledger_entries e
JOIN ledger_postings p ON p.platform_id = $1 AND p.seq = e.seq AND p.recorded_at = e.recorded_at
JOIN ledger_accounts d ON d.platform_id = $1 AND d.id = e.debit_account
JOIN ledger_accounts c ON c.platform_id = $1 AND c.id = e.credit_account
WHERE e.platform_id = $1 AND e.seq > $2 AND e.seq <= $3 AND e.recorded_at >= $7 AND e.recorded_at < $8
  AND p.recorded_at >= $7 AND p.recorded_at < $8 AND ($4 = '' OR e.currency = $4)
  AND ($5::timestamptz IS NULL OR p.effective_at >= $5) AND ($6::timestamptz IS NULL OR p.effective_at < $6)
ORDER BY e.seq, e.n`

// What touches accounts at a path, along ledger_entries_debit and ledger_entries_credit.
// An entry between two of them is one entry.
const entriesOfAccounts = `
SELECT ` + entryColumns + `
FROM (
    SELECT e.* FROM ledger_accounts a JOIN ledger_entries e ON e.platform_id = $1 AND e.debit_account = a.id AND e.seq > $7 AND e.seq <= $2
    WHERE a.platform_id = $1 AND a.path = $3 AND ($4 = '' OR a.currency = $4)
    UNION ALL
    SELECT e.* FROM ledger_accounts a JOIN ledger_entries e ON e.platform_id = $1 AND e.credit_account = a.id AND e.seq > $7 AND e.seq <= $2
    WHERE a.platform_id = $1 AND a.path = $3 AND ($4 = '' OR a.currency = $4)
) e
JOIN ledger_postings p ON p.platform_id = $1 AND p.seq = e.seq AND p.recorded_at = e.recorded_at
JOIN ledger_accounts d ON d.platform_id = $1 AND d.id = e.debit_account
JOIN ledger_accounts c ON c.platform_id = $1 AND c.id = e.credit_account
WHERE ($5::timestamptz IS NULL OR p.effective_at >= $5) AND ($6::timestamptz IS NULL OR p.effective_at < $6)
ORDER BY `

const (
	asRecorded = `e.seq, e.n`
	inTime     = `p.effective_at, e.seq, e.n`
)

// entryRun is how many postings are read with one statement.
const entryRun = 5_000

// Entries is as ports.BookView says. The whole of the books is read in runs, so that
// nothing has to be sorted and the first entry comes at once; what touches one path is
// sorted by the database.
func (v *bookView) Entries(ctx context.Context, of ports.LedgerFilter, each func(ports.RecordedEntry) error) error {
	if of.Path != "" {
		return v.ofPath(ctx, of, asRecorded, each)
	}
	begin, err := v.begin(of.Period)
	if err != nil {
		return err
	}
	return v.with(ctx, byRuns, func() error {
		for after := begin; after < v.upto.Seq; after += entryRun {
			run := v.months.bounded(stretch{after: after, upto: min(after+entryRun, v.upto.Seq)})
			from, until := run.times()
			args := []any{dbID(v.platform.UUID()), run.after, run.upto, string(of.Currency), optionalMoment(of.From), optionalMoment(of.To), from, until}
			if err := planned(ctx, v.tx, entriesOfRun, args, visit(each)); err != nil {
				return fmt.Errorf("read entries: %w", err)
			}
		}
		return nil
	})
}

// EntriesByEffectiveTime is as ports.BookView says.
func (v *bookView) EntriesByEffectiveTime(ctx context.Context, account ledger.Account, of ports.Period, each func(ports.RecordedEntry) error) error {
	return v.ofPath(ctx, ports.LedgerFilter{Period: of, Path: account.Path, Currency: account.Currency}, inTime, each)
}

func (v *bookView) ofPath(ctx context.Context, of ports.LedgerFilter, order string, each func(ports.RecordedEntry) error) error {
	begin, err := v.begin(of.Period)
	if err != nil {
		return err
	}
	args := []any{dbID(v.platform.UUID()), v.upto.Seq, of.Path, string(of.Currency), optionalMoment(of.From), optionalMoment(of.To), begin}
	if err := query(ctx, v.tx, entriesOfAccounts+order, args, visit(each)); err != nil {
		return fmt.Errorf("read the entries of %s: %w", of.Path, err)
	}
	return nil
}

func visit(each func(ports.RecordedEntry) error) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		e, err := scanEntry(rows)
		if err != nil {
			return err
		}
		return each(e)
	}
}
