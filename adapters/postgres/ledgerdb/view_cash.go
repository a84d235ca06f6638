package ledgerdb

import (
	"context"

	"causeway/core/financials"
	"causeway/core/period"
)

// cashAccounts has the accounts that are cash, in ranges of paths ($11, $12): all of them are own, so that what moves between
// two of them is
// left out; $2 is empty. Uses ledger_accounts_by_path.
var cashAccounts = `
    SELECT a.id, a.path, a.currency, a.class, $2::text = '' AS own` + fromPathRanges("$11", "$12")

// selectCashMovements adds up by the account on the other side; customers, wallets and what customers owe are one each, unless $13 says
// which group, whose accounts are then one each. Uses the primary key of accounts.
var selectCashMovements = movesOn(cashAccounts) + `
SELECT o.path, m.currency, coalesce(sum(-m.quantity) FILTER (WHERE m.quantity < 0), 0)::bigint,
    coalesce(sum(m.quantity) FILTER (WHERE m.quantity > 0), 0)::bigint
FROM (
    SELECT CASE WHEN $13 = '' AND split_part(o.path, '/', 1) IN ('customers', 'wallets', 'customer-receivables') THEN split_part(o.path, '/', 1) || '/' ELSE o.path END AS path, o.id
    FROM ledger_accounts o WHERE o.platform_id = $1 AND starts_with(o.path, $13)
) o
JOIN moves m ON m.other = o.id` + movedPostings + `
GROUP BY o.path, m.currency`

// CashMovements implements ports.MonthEndView. The database adds up a part at a time.
func (v *ledgerView) CashMovements(ctx context.Context, i period.Interval, group string, each func(financials.Movement) error) error {
	early, err := v.recordedEarly(ctx, i)
	if err != nil {
		return err
	}
	first, beyond := pathRanges(financials.CashPaths())
	return v.inParts(i, func(part period.Interval) error {
		args, err := v.movesArgs(ctx, "", part, early)
		if err != nil {
			return err
		}
		args = append(args, first, beyond, group)
		return v.spool(ctx, "read the movements of cash", bulkReadSettings, selectCashMovements, args, func(r row) error {
			var m financials.Movement
			if err := r.Scan(&m.Path, &m.Currency, &m.Received, &m.Paid); err != nil {
				return err
			}
			return each(m)
		})
	})
}
