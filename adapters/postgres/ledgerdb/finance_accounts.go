package ledgerdb

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// Uses ledger_accounts_by_path; the condition on the path is repeated so that
// the partial index can be used.
var listAccounts = `
SELECT a.path, a.currency, a.class, a.no_overdraft, (` + currentBalance("$8") + `)::text
FROM ledger_accounts a
WHERE a.platform_id = $1 AND a.path IS NOT NULL
  AND a.path COLLATE "C" >= $2 AND ($3 = '' OR a.path COLLATE "C" < $3)
  AND (a.path COLLATE "C", a.currency COLLATE "C") > ($4, $5)
  AND ($6 = '' OR a.currency = $6)
  AND (NOT $9 OR a.class = 'asset' AND (` + currentBalance("$8") + `) < 0)
ORDER BY a.path COLLATE "C", a.currency COLLATE "C" LIMIT $7`

// LedgerAccounts implements accounting.Finance.
func (r *Reader) LedgerAccounts(ctx context.Context, p ident.Platform,
	f ports.LedgerAccountFilter) (page ports.LedgerAccountPage, err error) {
	args := []any{p, f.Prefix, prefixEnd(f.Prefix), f.AfterPath, string(f.AfterCurrency), string(f.Currency), f.Limit + 1}
	err = r.readOnly(ctx, func(q Querier) error {
		m, err := loadMonths(ctx, q, p.UUID())
		if err != nil {
			return err
		}
		page.Accounts, err = scanAccounts(ctx, q, p, listAccounts, append(args, m.currentEntriesFrom(), f.Overdrawn))
		return err
	})
	if err != nil {
		return page, fmt.Errorf("list ledger accounts: %w", err)
	}
	if page.More = len(page.Accounts) > f.Limit; page.More {
		page.Accounts = page.Accounts[:f.Limit]
	}
	return page, nil
}

// prefixEnd returns the first text, in byte order, after all texts with the prefix; empty if
// there is none.
func prefixEnd(prefix string) string {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0x7f {
			return prefix[:i] + string(rune(prefix[i]+1))
		}
	}
	return ""
}

// Uses ledger_account_path_and_currency_unique.
var (
	accountsAtPath = `
SELECT a.path, a.currency, a.class, a.no_overdraft, '0'` + fromAccountsAtPath
	balancesAtPath = `
SELECT a.path, a.currency, a.class, a.no_overdraft, (` + currentBalance("$4") + `)::text` + fromAccountsAtPath
)

const fromAccountsAtPath = `
FROM ledger_accounts a
WHERE a.platform_id = $1 AND a.path = $2 AND ($3 = '' OR a.currency = $3)
ORDER BY a.currency COLLATE "C"`

// AccountsAtCutoff implements accounting.Finance.
func (r *Reader) AccountsAtCutoff(ctx context.Context, p ident.Platform, path string, currency money.Currency,
	cut ports.Cutoff) (accounts []ports.LedgerAccount, err error) {
	err = r.readOnly(ctx, func(q Querier) error {
		m, err := loadMonths(ctx, q, p.UUID())
		if err != nil {
			return err
		}
		args := []any{p, path, string(currency)}
		if cut.Moment.IsZero() {
			accounts, err = scanAccounts(ctx, q, p, balancesAtPath, append(args, m.currentEntriesFrom()))
			return err
		}
		if accounts, err = scanAccounts(ctx, q, p, accountsAtPath, args); err != nil {
			return err
		}
		for i := range accounts {
			ids, err := readAccountIDs(ctx, q, []ledger.Account{accounts[i].Account})
			if err != nil {
				return err
			}
			if accounts[i].Balance, err = balanceAt(ctx, q, m, accounts[i].Account, ids[accounts[i].Account], cut.By, cut.Moment); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the ledger account %s: %w", path, err)
	}
	return accounts, nil
}

// currentEntriesFrom returns the recorded time from which entries are needed, beside
// snapshots, for current balances.
func (m months) currentEntriesFrom() pgtype.Timestamptz {
	return timeOrInfinity(m.entriesFrom(allPostings.upto), pgtype.NegativeInfinity)
}

func scanAccounts(ctx context.Context, q Querier, p ident.Platform, statement string,
	args []any) (accounts []ports.LedgerAccount, err error) {
	err = query(ctx, q, statement, args, func(rows pgx.Rows) error {
		a := ports.LedgerAccount{Account: ledger.Account{Platform: p}}
		err := rows.Scan(&a.Account.Path, &a.Account.Currency, &a.Class, &a.NoOverdraft, &a.Balance)
		accounts = append(accounts, a)
		return err
	})
	return accounts, err
}
