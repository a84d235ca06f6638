package ledgerdb

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

// selectLedgerState uses primary keys. The last posting may be in an archived month.
const selectLedgerState = `
SELECT c.seq,
       coalesce(p.digest, (SELECT k.digest FROM ledger_closings k WHERE k.platform_id = c.platform_id AND k.seq = c.seq LIMIT 1)),
       coalesce((SELECT k.signed_note FROM ledger_log_checkpoints k WHERE k.platform_id = c.platform_id ORDER BY k.size DESC LIMIT 1), '')
FROM ledger_clocks c
LEFT JOIN ledger_postings p ON p.platform_id = c.platform_id AND p.seq = c.seq
WHERE c.platform_id = $1`

// BalancesAt implements treasury.Finance.
func (r *Reader) BalancesAt(ctx context.Context, p ident.Platform, moment time.Time, each func(ports.LedgerAccount) error) (
	state ports.LedgerState, err error) {
	readState := func(q Querier) error {
		return query(ctx, q, selectLedgerState, []any{p}, func(rows pgx.Rows) error {
			return rows.Scan(&state.Seq, &state.Digest, &state.Checkpoint)
		})
	}
	cuts := []ports.Cutoff{{By: ports.ByEffective, Moment: moment}}
	err = r.turnovers(ctx, accountsOfClass(p, ""), cuts, readState, func(a ports.AccountTurnovers) error {
		return each(ports.LedgerAccount{Account: a.Account, Class: a.Class, Balance: a.Turnovers[0].Balance(a.Class)})
	})
	return state, err
}

// Uses ledger_accounts_by_path: one range for each prefix.
var currentBalancesByPrefix = `
SELECT a.path, a.currency, a.class, a.no_overdraft, (` + currentBalance("$5") + `)::text
FROM unnest($2::text[], $3::text[]) AS w (first, beyond)
JOIN ledger_accounts a ON a.platform_id = $1 AND a.path IS NOT NULL AND a.path COLLATE "C" >= w.first AND a.path COLLATE "C" < w.beyond
WHERE $4 IN ('', a.currency)
ORDER BY a.path COLLATE "C", a.currency COLLATE "C"`

// CurrentBalances implements treasury.Finance.
func (r *Reader) CurrentBalances(ctx context.Context, p ident.Platform, prefixes []string,
	currency money.Currency) (accounts []ports.LedgerAccount, err error) {
	ends := make([]string, len(prefixes))
	for i, prefix := range prefixes {
		ends[i] = prefixEnd(prefix)
	}
	err = r.readOnly(ctx, func(q Querier) error {
		m, err := loadMonths(ctx, q, p.UUID())
		if err != nil {
			return err
		}
		accounts, err = scanAccounts(ctx, q, p, currentBalancesByPrefix, []any{p, prefixes, ends, string(currency), m.currentEntriesFrom()})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read current balances: %w", err)
	}
	return accounts, nil
}
