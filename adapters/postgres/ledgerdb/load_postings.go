package ledgerdb

import (
	"context"
	"fmt"
	"sort"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

// Uses ledger_posting_ids_pkey, the primary keys of one month, and ledger_accounts_pkey. Its rows are in no order:
// in an audit, in which the planner does not sort, an order would make it read all accounts for each entry.
const loadPostings = `
SELECT p.platform_id, p.id, p.kind, p.transaction_id, p.effective_at, p.memo, p.reverses,
       e.entry_no, d.path, c.path, e.currency, e.amount
FROM unnest($1::uuid[], $2::uuid[]) AS w (platform_id, id)
JOIN ledger_posting_ids x ON x.platform_id = w.platform_id AND x.id = w.id
JOIN ledger_postings p ON p.platform_id = x.platform_id AND p.seq = x.seq AND p.recorded_at = x.recorded_at
JOIN ledger_entries e ON e.platform_id = x.platform_id AND e.seq = x.seq AND e.recorded_at = x.recorded_at
JOIN ledger_accounts d ON d.platform_id = e.platform_id AND d.id = e.debit_account_id
JOIN ledger_accounts c ON c.platform_id = e.platform_id AND c.id = e.credit_account_id`

// postings loads the postings with these keys; those that do not exist are missing from
// the result.
func (s *Store) postings(ctx context.Context, q Querier, keys []postingKey) (map[postingKey]ledger.Posting, error) {
	var platforms, ids uuidArray
	seen := map[postingKey]bool{}
	for _, k := range keys {
		if seen[k] {
			continue
		}
		seen[k] = true
		platforms, ids = append(platforms, pgUUID(k.platform.UUID())), append(ids, pgUUID(k.id))
	}
	found, numbers := map[postingKey]ledger.Posting{}, map[postingKey][]int{}
	err := query(ctx, q, loadPostings, []any{platforms, ids}, func(rows pgx.Rows) error {
		var (
			platform, id                        [16]byte
			transaction, reverses               pgtype.UUID
			kind, memo, debit, credit, currency string
			effective                           time.Time
			amount                              int64
			n                                   int
		)
		if err := rows.Scan(&platform, &id, &kind, &transaction, &effective, &memo, &reverses, &n, &debit, &credit, &currency,
			&amount); err != nil {
			return err
		}
		key := postingKey{platformID(platform), id}
		p, ok := found[key]
		if !ok {
			p = ledger.Posting{
				ID: id, Platform: key.platform, Kind: ledger.Kind(kind), Transaction: transactionID(transaction),
				Effective: effective.UTC(), Memo: memo, Reverses: uuid.UUID(reverses.Bytes),
			}
		}
		p.Entries = append(p.Entries, ledger.Entry{Debit: debit, Credit: credit, Currency: money.Currency(currency), Amount: amount})
		found[key], numbers[key] = p, append(numbers[key], n)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load postings: %w", err)
	}
	for key, p := range found {
		sort.Sort(entriesByNumber{p.Entries, numbers[key]})
	}
	return found, nil
}

// entriesByNumber sorts the entries of a posting by their numbers in it.
type entriesByNumber struct {
	entries []ledger.Entry
	numbers []int
}

func (s entriesByNumber) Len() int           { return len(s.entries) }
func (s entriesByNumber) Less(i, j int) bool { return s.numbers[i] < s.numbers[j] }
func (s entriesByNumber) Swap(i, j int) {
	s.entries[i], s.entries[j] = s.entries[j], s.entries[i]
	s.numbers[i], s.numbers[j] = s.numbers[j], s.numbers[i]
}

func transactionID(u pgtype.UUID) (t ident.Transaction) {
	t.SetUUID(u.Bytes)
	return t
}
