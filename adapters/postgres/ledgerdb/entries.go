package ledgerdb

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/ledger"
	"causeway/ports"
)

const (
	defaultPageSize = 100
	maxPageSize     = 1000
)

// Queries for the entries of a page. Each returns (seq, recorded_at, entry_no,
// debit_account_id, credit_account_id, amount, currency) after position ($2, $3), in order.
const (
	// Uses ledger_entries_by_debit_account and ledger_entries_by_credit_account: an account
	// is on one side of an entry only, so two short index scans give the page.
	pickByAccount = `
(SELECT e.seq, e.recorded_at, e.entry_no, e.debit_account_id, e.credit_account_id, e.amount, e.currency FROM ledger_entries e
 WHERE e.platform_id = $1 AND e.debit_account_id = $5 AND e.seq >= $2 AND (e.seq, e.entry_no) > ($2, $3) ORDER BY e.seq, e.entry_no LIMIT $4)
UNION ALL
(SELECT e.seq, e.recorded_at, e.entry_no, e.debit_account_id, e.credit_account_id, e.amount, e.currency FROM ledger_entries e
 WHERE e.platform_id = $1 AND e.credit_account_id = $5 AND e.seq >= $2 AND (e.seq, e.entry_no) > ($2, $3) ORDER BY e.seq, e.entry_no LIMIT $4)`

	// Uses ledger_postings_by_transaction, or ledger_posting_ids_pkey for one posting,
	// and the primary keys of entries.
	pickByPosting = `
SELECT e.seq, e.recorded_at, e.entry_no, e.debit_account_id, e.credit_account_id, e.amount, e.currency
FROM ledger_postings p JOIN ledger_entries e ON e.platform_id = p.platform_id AND e.seq = p.seq AND e.recorded_at = p.recorded_at
WHERE p.platform_id = $1 AND (e.seq, e.entry_no) > ($2, $3) AND ($5::bigint = 0 OR $5 IN (e.debit_account_id, e.credit_account_id))
  AND ($6::uuid IS NULL OR p.transaction_id = $6) AND ($7::uuid IS NULL OR (p.seq, p.recorded_at) = (SELECT x.seq, x.recorded_at FROM ledger_posting_ids x WHERE x.platform_id = $1 AND x.id = $7))`

	// Uses the primary keys of entries.
	pickAll = `
SELECT e.seq, e.recorded_at, e.entry_no, e.debit_account_id, e.credit_account_id, e.amount, e.currency FROM ledger_entries e
WHERE e.platform_id = $1 AND (e.seq, e.entry_no) > ($2, $3)`

	selectEntryPage = `
SELECT e.seq, e.entry_no, d.path, c.path, e.currency, e.amount, p.id, p.kind, p.transaction_id, p.effective_at, p.recorded_at, p.memo, p.reverses
FROM (SELECT * FROM (%s) picked ORDER BY seq, entry_no LIMIT $4) e
JOIN ledger_postings p ON p.platform_id = $1 AND p.seq = e.seq AND p.recorded_at = e.recorded_at
JOIN ledger_accounts d ON d.platform_id = $1 AND d.id = e.debit_account_id
JOIN ledger_accounts c ON c.platform_id = $1 AND c.id = e.credit_account_id
ORDER BY e.seq, e.entry_no`
)

// Entries reads one page of entries in recorded order.
func (s *Store) Entries(ctx context.Context, q Querier, f ports.EntryFilter) (ports.EntryPage, error) {
	if f.Platform.IsZero() {
		return ports.EntryPage{}, errors.New("read entries: the filter has no platform")
	}
	if (f.Path == "") != (f.Currency == "") {
		return ports.EntryPage{}, errors.New("read entries: an account needs a path and a currency")
	}
	limit := min(f.Limit, maxPageSize)
	if limit <= 0 {
		limit = defaultPageSize
	}
	if f.After.N < 0 || f.After.N > math.MaxInt16 {
		return ports.EntryPage{}, errors.New("read entries: the position to continue after is not that of an entry")
	}

	var account int64
	if f.Path != "" {
		ledgerAccount := ledger.Account{Platform: f.Platform, Path: f.Path, Currency: f.Currency}
		ids, err := readAccountIDs(ctx, q, []ledger.Account{ledgerAccount})
		if err != nil {
			return ports.EntryPage{}, err
		}
		if account = ids[ledgerAccount]; account == 0 {
			return ports.EntryPage{}, nil
		}
	}

	if err := checkFilterAvailable(ctx, q, f); err != nil {
		return ports.EntryPage{}, err
	}

	// One more than the page, to see whether more follow.
	args := []any{f.Platform, f.After.Seq, int16(f.After.N), limit + 1}
	pick := pickAll
	switch {
	case !f.Transaction.IsZero() || f.Posting != uuid.Nil:
		pick = pickByPosting
		args = append(args, account, f.Transaction, pgUUID(f.Posting))
	case account != 0:
		pick = pickByAccount
		args = append(args, account)
	}
	var page ports.EntryPage
	err := queryFreshPlan(ctx, q, fmt.Sprintf(selectEntryPage, pick), args, func(rows pgx.Rows) error {
		e, err := scanEntry(rows)
		page.Entries = append(page.Entries, e)
		return err
	})
	if err != nil {
		return ports.EntryPage{}, fmt.Errorf("read entries: %w", err)
	}
	if page.More = len(page.Entries) > limit; page.More {
		page.Entries = page.Entries[:limit]
	}
	return page, nil
}

// checkFilterAvailable returns MONTH_ARCHIVED if an entry of the filter may be in an archived
// month.
func checkFilterAvailable(ctx context.Context, q Querier, f ports.EntryFilter) error {
	m, err := loadMonths(ctx, q, f.Platform.UUID())
	if err != nil || f.After.Seq >= m.lastArchivedSeq {
		return err
	}
	if f.Posting != uuid.Nil {
		position, _, err := findPosition(ctx, q, f.Platform, f.Posting)
		if err == nil && position.upto > 0 && position.upto <= m.lastArchivedSeq {
			err = m.archivedError()
		}
		return err
	}
	if m.areBefore(f.Transaction) {
		return nil
	}
	return m.archivedError()
}

// scanEntry reads the columns of an entry and its posting, and then those of more.
func scanEntry(r row, more ...any) (e ports.RecordedEntry, err error) {
	err = r.Scan(append([]any{&e.Position.Seq, &e.Position.N, &e.Debit, &e.Credit, &e.Currency, &e.Amount, &e.Posting, &e.Kind, &e.Transaction,
		&e.Effective, &e.Recorded, &e.Memo, &e.Reverses}, more...)...)
	return e, err
}
