package ledgerdb

import (
	"github.com/jackc/pgx/v5"

	"causeway/ledger"
)

// SelectResultBalances returns the balances of all income and expense accounts at the end ($4) of a month that
// starts at $3, with the postings up to a number ($5): those at the end of the month before it ($2), if that is
// closed, and the entries of the month since. It reads the postings by primary key from the first that can belong
// to the month.
const SelectResultBalances = `
WITH base AS (
    SELECT k.next_month_seq FROM ledger_closings k WHERE k.platform_id = $1 AND k.month = $2
), changes AS (
    SELECT x.account_id, sum(x.amount) AS net
    FROM ledger_postings p
    JOIN ledger_entries e ON e.platform_id = p.platform_id AND e.seq = p.seq AND e.recorded_at = p.recorded_at
    CROSS JOIN LATERAL (VALUES (e.debit_account_id, e.amount::numeric), (e.credit_account_id, -e.amount::numeric)) x (account_id, amount)
    JOIN ledger_accounts a ON a.platform_id = p.platform_id AND a.id = x.account_id AND a.class IN ('income', 'expense')
    WHERE p.platform_id = $1 AND p.seq >= (SELECT coalesce(max(next_month_seq), 0) FROM base) AND p.seq <= $5
      AND p.effective_at < $4 AND (p.effective_at >= $3 OR NOT EXISTS (SELECT FROM base))
    GROUP BY x.account_id
)
SELECT a.path, a.currency, (CASE WHEN a.class = 'expense' THEN 1 ELSE -1 END * coalesce(l.closing, 0) + coalesce(c.net, 0))::text
FROM ledger_accounts a
LEFT JOIN ledger_closing_lines l ON l.platform_id = a.platform_id AND l.month = $2 AND l.account_id = a.id
LEFT JOIN changes c ON c.account_id = a.id
WHERE a.platform_id = $1 AND a.class IN ('income', 'expense')
ORDER BY a.currency COLLATE "C", a.path COLLATE "C"`

// ScanResultBalance scans a row of SelectResultBalances.
func ScanResultBalance(rows pgx.Rows) (b ledger.NetBalance, err error) {
	err = rows.Scan(&b.Path, &b.Currency, &b.Net)
	return b, err
}
