package books

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// A step along ledger_account_path_and_currency_unique, and for each account what
// touches it: ledger_entries_debit, ledger_entries_credit, ledger_posting_seq_unique.
const turnovers = `
WITH picked AS MATERIALIZED (
    SELECT a.id, a.path, a.currency, a.class
    FROM ledger_accounts a
    WHERE a.platform_id = $1 AND (a.path, a.currency) > ($2, $3) AND ($4 = '' OR a.path = $4) AND ($5 = '' OR a.currency = $5)
    ORDER BY a.path, a.currency LIMIT $6
), moves AS (
    SELECT e.debit_account AS id, e.seq, e.amount AS debit, NULL::bigint AS credit
    FROM picked JOIN ledger_entries e ON e.platform_id = $1 AND e.debit_account = picked.id AND e.seq <= $7
    UNION ALL
    SELECT e.credit_account, e.seq, NULL, e.amount
    FROM picked JOIN ledger_entries e ON e.platform_id = $1 AND e.credit_account = picked.id AND e.seq <= $7
), sums AS (
    SELECT m.id, count(*) AS entries,
           sum(coalesce(m.debit, 0) - coalesce(m.credit, 0)) FILTER (WHERE p.effective_at < $8) AS opening,
           sum(coalesce(m.debit, 0) - coalesce(m.credit, 0)) FILTER (WHERE $9::timestamptz IS NULL OR p.effective_at < $9) AS closing,
           count(m.debit) FILTER (WHERE NOT coalesce(p.effective_at < $8, false) AND NOT coalesce(p.effective_at >= $9, false)) AS debits,
           sum(m.debit) FILTER (WHERE NOT coalesce(p.effective_at < $8, false) AND NOT coalesce(p.effective_at >= $9, false)) AS debited,
           count(m.credit) FILTER (WHERE NOT coalesce(p.effective_at < $8, false) AND NOT coalesce(p.effective_at >= $9, false)) AS credits,
           sum(m.credit) FILTER (WHERE NOT coalesce(p.effective_at < $8, false) AND NOT coalesce(p.effective_at >= $9, false)) AS credited,
           min(p.effective_at) FILTER (WHERE NOT coalesce(p.effective_at >= $9, false)) AS first,
           max(p.effective_at) FILTER (WHERE NOT coalesce(p.effective_at >= $9, false)) AS last
    FROM moves m JOIN ledger_postings p ON p.platform_id = $1 AND p.seq = m.seq
    GROUP BY m.id
)
SELECT a.path, a.currency, a.class, coalesce(s.entries, 0), coalesce(s.opening, 0)::bigint, coalesce(s.closing, 0)::bigint,
       coalesce(s.debits, 0), coalesce(s.debited, 0)::bigint, coalesce(s.credits, 0), coalesce(s.credited, 0)::bigint, s.first, s.last
FROM picked a LEFT JOIN sums s ON s.id = a.id
ORDER BY a.path, a.currency`

// accountStep is how many accounts are added up and held at once.
const accountStep = 500

// Accounts is as ports.BookView says. Accounts that were made after the view's last
// posting are none of it.
func (v *bookView) Accounts(ctx context.Context, of ports.BookSpan, each func(ports.AccountTurnover) error) error {
	var path, currency string
	for {
		var step []ports.AccountTurnover
		read := 0
		args := []any{dbID(v.platform.UUID()), path, currency, of.Path, string(of.Currency), accountStep, v.upto.Seq,
			optionalMoment(of.From), optionalMoment(of.To)}
		err := planned(ctx, v.tx, turnovers, args, func(rows pgx.Rows) error {
			read++
			t, touched, err := scanTurnover(rows)
			path, currency = t.Account.Path, string(t.Account.Currency)
			if t.Account.Platform = v.platform; touched {
				step = append(step, t)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("add up accounts: %w", named(err))
		}
		for _, t := range step {
			if err := each(t); err != nil {
				return err
			}
		}
		if read < accountStep {
			return nil
		}
	}
}

func scanTurnover(rows pgx.Rows) (t ports.AccountTurnover, touched bool, err error) {
	var (
		currency, class string
		entries         int64
		first, last     *time.Time
	)
	err = rows.Scan(&t.Account.Path, &currency, &class, &entries, &t.Opening, &t.Closing,
		&t.Debits.Count, &t.Debits.Sum, &t.Credits.Count, &t.Credits.Sum, &first, &last)
	t.Account.Currency, t.Class = money.Currency(currency), ledger.Class(class)
	if first != nil && last != nil {
		t.First, t.Last = first.UTC(), last.UTC()
	}
	return t, entries > 0, err
}
