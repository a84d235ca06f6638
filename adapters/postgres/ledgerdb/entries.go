package ledgerdb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

const (
	defaultPageSize = 100
	maxPageSize     = 1000
)

// Where the entries of a page come from; each is a list of (seq, recorded_at, n,
// debit_account_id, credit_account_id, amount, currency) after place ($2, $3), at most $4 of them, in order.
const (
	// Rides on ledger_entries_by_debit_account and ledger_entries_by_credit_account: an account is on one side
	// of an entry only, so two short runs make the page.
	pickByAccount = `
(SELECT e.seq, e.recorded_at, e.entry_no, e.debit_account_id, e.credit_account_id, e.amount, e.currency FROM ledger_entries e
 WHERE e.platform_id = $1 AND e.debit_account_id = $5 AND e.seq >= $2 AND (e.seq, e.entry_no) > ($2, $3) ORDER BY e.seq, e.entry_no LIMIT $4)
UNION ALL
(SELECT e.seq, e.recorded_at, e.entry_no, e.debit_account_id, e.credit_account_id, e.amount, e.currency FROM ledger_entries e
 WHERE e.platform_id = $1 AND e.credit_account_id = $5 AND e.seq >= $2 AND (e.seq, e.entry_no) > ($2, $3) ORDER BY e.seq, e.entry_no LIMIT $4)`

	// Rides on ledger_postings_by_transaction, or ledger_posting_ids_pkey for one posting,
	// and the primary keys of entries.
	pickByPosting = `
SELECT e.seq, e.recorded_at, e.entry_no, e.debit_account_id, e.credit_account_id, e.amount, e.currency
FROM ledger_postings p JOIN ledger_entries e ON e.platform_id = p.platform_id AND e.seq = p.seq AND e.recorded_at = p.recorded_at
WHERE p.platform_id = $1 AND (e.seq, e.entry_no) > ($2, $3) AND ($5::bigint = 0 OR $5 IN (e.debit_account_id, e.credit_account_id))
  AND ($6::uuid IS NULL OR p.transaction_id = $6) AND ($7::uuid IS NULL OR (p.seq, p.recorded_at) = (SELECT x.seq, x.recorded_at FROM ledger_posting_ids x WHERE x.platform_id = $1 AND x.id = $7))`

	// Rides on the primary keys of entries.
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

// Entries reads one page of entries in the order in which they were recorded.
func (b *Store) Entries(ctx context.Context, q Querier, f ports.EntryFilter) (ports.EntryPage, error) {
	if f.Platform.IsZero() {
		return ports.EntryPage{}, errors.New("read entries: a filter names a platform")
	}
	if (f.Path == "") != (f.Currency == "") {
		return ports.EntryPage{}, errors.New("read entries: an account is a path and a currency")
	}
	limit := min(f.Limit, maxPageSize)
	if limit <= 0 {
		limit = defaultPageSize
	}
	if f.After.N < 0 || f.After.N > math.MaxInt16 {
		return ports.EntryPage{}, errors.New("read entries: no entry stands at the place to go on from")
	}

	var account int64
	if f.Path != "" {
		of := ledger.Account{Platform: f.Platform, Path: f.Path, Currency: f.Currency}
		numbers, err := b.accountIDsOf(ctx, q, []ledger.Account{of}, false)
		if err != nil {
			return ports.EntryPage{}, err
		}
		if account = numbers[of]; account == 0 {
			return ports.EntryPage{}, nil
		}
	}

	if err := checkFilterAvailable(ctx, q, f); err != nil {
		return ports.EntryPage{}, err
	}

	// One more than the page, to know whether there are more.
	args := []any{pgUUID(f.Platform.UUID()), f.After.Seq, int16(f.After.N), limit + 1}
	pick := pickAll
	switch {
	case !f.Transaction.IsZero() || f.Posting != uuid.Nil:
		pick = pickByPosting
		args = append(args, account, pgUUID(f.Transaction.UUID()), pgUUID(f.Posting))
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

// checkFilterAvailable is nil when nothing that a filter asks for can lie in a month that is detached:
// a transaction has no postings before it was made, which its id tells.
func checkFilterAvailable(ctx context.Context, q Querier, f ports.EntryFilter) error {
	m, err := loadMonths(ctx, q, f.Platform.UUID())
	if err != nil || f.After.Seq >= m.lastArchivedSeq {
		return err
	}
	if f.Posting != uuid.Nil {
		at, _, err := findPosition(ctx, q, f.Platform, f.Posting)
		if err == nil && at.upto > 0 && at.upto <= m.lastArchivedSeq {
			err = m.archivedError()
		}
		return err
	}
	if id := f.Transaction.UUID(); id.Version() == 7 && !time.Unix(id.Time().UnixTime()).Before(m.archivedBefore) {
		return nil
	}
	return m.archivedError()
}

func scanEntry(rows pgx.Rows) (e ports.RecordedEntry, err error) {
	var (
		n                     int16
		currency, kind        string
		posting               [16]byte
		transaction, reverses pgtype.UUID
		effective, recorded   time.Time
	)
	err = rows.Scan(&e.Position.Seq, &n, &e.Debit, &e.Credit, &currency, &e.Amount, &posting, &kind, &transaction, &effective, &recorded, &e.Memo, &reverses)
	e.Position.N = int(n)
	e.Currency, e.Kind = money.Currency(currency), ledger.Kind(kind)
	e.Posting, e.Transaction, e.Reverses = posting, transactionID(transaction), reverses.Bytes
	e.Effective, e.Recorded = effective.UTC(), recorded.UTC()
	return e, err
}
