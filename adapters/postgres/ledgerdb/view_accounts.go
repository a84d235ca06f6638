package ledgerdb

import (
	"context"
	"errors"
	"time"

	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// The sums of each account's entries after a posting ($7), and its balance at that posting,
// which is its last snapshot. For one account it uses
// ledger_account_path_and_currency_unique, ledger_entries_by_debit_account,
// ledger_entries_by_credit_account and the primary keys of postings; for all accounts it
// reads each table once.
const selectTurnovers = `
WITH moves AS (
    SELECT e.debit_account_id AS id, e.seq, e.recorded_at, e.amount AS debit, NULL::bigint AS credit
    FROM ledger_accounts a JOIN ledger_entries e ON e.platform_id = $1 AND e.debit_account_id = a.id AND e.seq > $7 AND e.seq <= $4
    WHERE a.platform_id = $1 AND ($2 = '' OR a.path = $2) AND ($3 = '' OR a.currency = $3)
    UNION ALL
    SELECT e.credit_account_id, e.seq, e.recorded_at, NULL, e.amount
    FROM ledger_accounts a JOIN ledger_entries e ON e.platform_id = $1 AND e.credit_account_id = a.id AND e.seq > $7 AND e.seq <= $4
    WHERE a.platform_id = $1 AND ($2 = '' OR a.path = $2) AND ($3 = '' OR a.currency = $3)
), sums AS (
    SELECT m.id,
           sum(coalesce(m.debit, 0) - coalesce(m.credit, 0)) FILTER (WHERE p.effective_at < $5) AS opening,
           sum(coalesce(m.debit, 0) - coalesce(m.credit, 0)) FILTER (WHERE $6::timestamptz IS NULL OR p.effective_at < $6) AS closing,
           count(m.debit) FILTER (WHERE NOT coalesce(p.effective_at < $5, false) AND NOT coalesce(p.effective_at >= $6, false)) AS debits,
           sum(m.debit) FILTER (WHERE NOT coalesce(p.effective_at < $5, false) AND NOT coalesce(p.effective_at >= $6, false)) AS debited,
           count(m.credit) FILTER (WHERE NOT coalesce(p.effective_at < $5, false) AND NOT coalesce(p.effective_at >= $6, false)) AS credits,
           sum(m.credit) FILTER (WHERE NOT coalesce(p.effective_at < $5, false) AND NOT coalesce(p.effective_at >= $6, false)) AS credited,
           min(p.effective_at) FILTER (WHERE NOT coalesce(p.effective_at >= $6, false)) AS first,
           max(p.effective_at) FILTER (WHERE NOT coalesce(p.effective_at >= $6, false)) AS last
    FROM moves m JOIN ledger_postings p ON p.platform_id = $1 AND p.seq = m.seq AND p.recorded_at = m.recorded_at
    GROUP BY m.id
)
SELECT a.path, a.currency, a.class, (coalesce(s.opening, 0) + coalesce(k.debits, 0))::bigint, (coalesce(s.closing, 0) + coalesce(k.debits, 0))::bigint,
       coalesce(s.debits, 0), coalesce(s.debited, 0)::bigint, coalesce(s.credits, 0), coalesce(s.credited, 0)::bigint,
       CASE WHEN k.seq IS NULL THEN s.first ELSE least(s.first, $5) END, coalesce(s.last, CASE WHEN k.seq IS NULL THEN NULL ELSE $5 END)
FROM ledger_accounts a
LEFT JOIN sums s ON s.id = a.id
LEFT JOIN LATERAL (
    SELECT k.seq, CASE WHEN a.class IN ('asset', 'expense') THEN k.balance ELSE -k.balance END AS debits FROM ledger_balance_snapshots k
    WHERE $7::bigint > 0 AND k.platform_id = $1 AND k.account_id = a.id AND k.seq <= $7 ORDER BY k.seq DESC LIMIT 1
) k ON true
WHERE a.platform_id = $1 AND ($2 = '' OR a.path = $2) AND ($3 = '' OR a.currency = $3) AND (s.id IS NOT NULL OR k.seq IS NOT NULL)
ORDER BY a.path, a.currency`

// Accounts implements ports.LedgerView. Accounts created after the view's last posting are not
// included.
func (v *ledgerView) Accounts(ctx context.Context, filter ports.LedgerFilter, each func(ports.AccountTurnover) error) error {
	firstSeq, err := v.firstNeededSeq(filter.Interval)
	if err != nil {
		return err
	}
	args := []any{v.platform, filter.Path, string(filter.Currency), v.last.Seq, optionalTime(filter.From), optionalTime(filter.To), firstSeq}
	const doing = "sum accounts"
	scan := func(r row) error {
		t, err := scanTurnover(r)
		t.Account.Platform = v.platform
		if err != nil {
			return err
		}
		return each(t)
	}
	if filter.Path != "" {
		return v.spool(ctx, doing, bulkReadSettings, selectTurnovers, args, scan)
	}
	rows := v.turnovers[filter]
	if rows == nil {
		rows = &rowSpool{}
		if err := v.fill(ctx, rows, queryFreshPlan, doing, wholeReadSettings, selectTurnovers, args); err != nil {
			return errors.Join(err, rows.Close())
		}
		if v.turnovers == nil {
			v.turnovers = map[ports.LedgerFilter]*rowSpool{}
		}
		v.turnovers[filter] = rows
	}
	return rows.each(scan)
}

func scanTurnover(r row) (t ports.AccountTurnover, err error) {
	var (
		currency, class string
		first, last     *time.Time
	)
	err = r.Scan(&t.Account.Path, &currency, &class, &t.Opening, &t.Closing,
		&t.Debits.Count, &t.Debits.Sum, &t.Credits.Count, &t.Credits.Sum, &first, &last)
	t.Account.Currency, t.Class = money.Currency(currency), ledger.Class(class)
	if first != nil && last != nil {
		t.First, t.Last = first.UTC(), last.UTC()
	}
	return t, err
}
