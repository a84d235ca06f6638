package ledgerdb

import (
	"context"
	"time"

	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// viewedAccount is the id of the account with path $3 and currency $4. It is found first: in a join, tables
// without statistics would be read without the index by account.
const viewedAccount = `(SELECT a.id FROM ledger_accounts a WHERE a.platform_id = $1 AND a.path = $3 AND a.currency = $4)`

// The days since $5 with entries of one account, and the sums of those that are effective in the interval
// from $6. Uses ledger_entries_by_debit_account and ledger_entries_by_credit_account.
const selectDays = `
SELECT date_trunc('day', p.effective_at, 'UTC') AS day,
       count(e.debit) FILTER (WHERE $6::timestamptz IS NULL OR p.effective_at >= $6), coalesce(sum(e.debit) FILTER (WHERE $6::timestamptz IS NULL OR p.effective_at >= $6), 0)::bigint,
       count(e.credit) FILTER (WHERE $6::timestamptz IS NULL OR p.effective_at >= $6), coalesce(sum(e.credit) FILTER (WHERE $6::timestamptz IS NULL OR p.effective_at >= $6), 0)::bigint,
       max(p.effective_at)
FROM (
    SELECT e.seq, e.recorded_at, e.amount AS debit, NULL::bigint AS credit
    FROM ledger_entries e WHERE e.platform_id = $1 AND e.debit_account_id = ` + viewedAccount + ` AND e.seq > $8 AND e.seq <= $2
    UNION ALL
    SELECT e.seq, e.recorded_at, NULL, e.amount
    FROM ledger_entries e WHERE e.platform_id = $1 AND e.credit_account_id = ` + viewedAccount + ` AND e.seq > $8 AND e.seq <= $2
) e
JOIN ledger_postings p ON p.platform_id = $1 AND p.seq = e.seq AND p.recorded_at = e.recorded_at
WHERE ($5::timestamptz IS NULL OR p.effective_at >= $5) AND ($7::timestamptz IS NULL OR p.effective_at < $7)
GROUP BY day ORDER BY day`

// Days implements ports.LedgerView.
func (v *ledgerView) Days(ctx context.Context, account ledger.Account, since time.Time, interval period.Interval,
	each func(ports.DayTurnover) error) error {
	firstSeq, err := v.firstNeededSeq(period.Interval{From: since, To: interval.To})
	if err != nil {
		return err
	}
	args := []any{v.platform, v.last.Seq, account.Path, string(account.Currency), optionalTime(since), optionalTime(interval.From),
		optionalTime(interval.To), firstSeq}
	return v.spoolAccounts(ctx, "sum the days of "+account.Path, selectDays, args, func(r row) error {
		var d ports.DayTurnover
		if err := r.Scan(&d.Day, &d.Debits.Count, &d.Debits.Sum, &d.Credits.Count, &d.Credits.Sum, &d.Last); err != nil {
			return err
		}
		d.Day, d.Last = d.Day.UTC(), d.Last.UTC()
		return each(d)
	})
}
