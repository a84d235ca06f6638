package books

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

var _ ports.Finance = (*Reader)(nil)

// The balances of balances.go as whole numbers of any size, in decimal digits.
var (
	exactPresent   = strings.TrimSuffix(presentBalance, "::bigint") + "::text"
	exactRecorded  = exactly(balanceRecorded)
	exactEffective = exactly(balanceEffective)
)

func exactly(statement string) string {
	return strings.Replace(statement, ")::bigint\nFROM ledger_accounts a", ")::text\nFROM ledger_accounts a", 1)
}

// Rides on ledger_accounts_in_order; said again that a path is there, so that the
// index can be used.
var listAccounts = `
SELECT a.path, a.currency, a.class, a.guarded, ` + exactPresent + `
FROM ledger_accounts a
WHERE a.platform_id = $1 AND a.path IS NOT NULL
  AND a.path COLLATE "C" >= $2 AND ($3 = '' OR a.path COLLATE "C" < $3)
  AND (a.path COLLATE "C", a.currency COLLATE "C") > ($4, $5)
  AND ($6 = '' OR a.currency = $6)
ORDER BY a.path COLLATE "C", a.currency COLLATE "C" LIMIT $7`

// LedgerAccounts is as ports.Finance says.
func (r *Reader) LedgerAccounts(ctx context.Context, p ident.Platform, f ports.LedgerAccountFilter) (page ports.LedgerAccountPage, err error) {
	args := []any{dbID(p.UUID()), f.Prefix, following(f.Prefix), f.AfterPath, string(f.AfterCurrency), string(f.Currency), f.Limit + 1}
	err = r.with(ctx, func(q Querier) error {
		page.Accounts, err = scanAccounts(ctx, q, p, listAccounts, args)
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

// following is the first text, in the order of bytes, after all that begin with the
// prefix; empty when there is none.
func following(prefix string) string {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0x7f {
			return prefix[:i] + string(rune(prefix[i]+1))
		}
	}
	return ""
}

// Rides on ledger_account_path_and_currency_unique.
var accountsAtPath = `
SELECT a.path, a.currency, a.class, a.guarded, ` + exactPresent + `
FROM ledger_accounts a
WHERE a.platform_id = $1 AND a.path = $2 AND ($3 = '' OR a.currency = $3)
ORDER BY a.currency COLLATE "C"`

// AccountCut is as ports.Finance says.
func (r *Reader) AccountCut(ctx context.Context, p ident.Platform, path string, currency money.Currency, cut ports.Cut) (accounts []ports.LedgerAccount, err error) {
	err = r.with(ctx, func(q Querier) error {
		accounts, err = scanAccounts(ctx, q, p, accountsAtPath, []any{dbID(p.UUID()), path, string(currency)})
		if err != nil || cut.Moment.IsZero() {
			return err
		}
		for i := range accounts {
			if err := r.books.balanceAtCut(ctx, q, &accounts[i], cut); err != nil {
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

func (b *Books) balanceAtCut(ctx context.Context, q Querier, a *ports.LedgerAccount, cut ports.Cut) error {
	numbers, err := b.numbersOf(ctx, q, []ledger.Account{a.Account}, false)
	if err != nil {
		return err
	}
	statement := exactRecorded
	if cut.By == ports.ByEffective && a.Guarded {
		statement = exactEffective // few entries lie in a block of such an account
	}
	var text string
	number, moment := numbers[a.Account], cut.Moment.UTC().Truncate(time.Microsecond)
	args := []any{dbID(a.Account.Platform.UUID()), number, moment}
	if err := planned(ctx, q, statement, args, func(rows pgx.Rows) error { return rows.Scan(&text) }); err != nil {
		return err
	}
	if a.Balance, err = total(text); err != nil || cut.By == ports.ByRecorded || a.Guarded {
		return err
	}
	// Busy accounts have thousands of entries in a block, so what was recorded late is
	// looked for among all postings.
	args = []any{dbID(a.Account.Platform.UUID()), moment, number}
	return planned(ctx, q, shiftedOfAccount, args, func(rows pgx.Rows) error {
		if err := rows.Scan(&text); err != nil {
			return err
		}
		debits, err := total(text)
		if !a.Class.DebitGrows() {
			debits = debits.Neg()
		}
		a.Balance = a.Balance.Add(debits)
		return err
	})
}

func scanAccounts(ctx context.Context, q Querier, p ident.Platform, statement string, args []any) (accounts []ports.LedgerAccount, err error) {
	err = planned(ctx, q, statement, args, func(rows pgx.Rows) error {
		var path, currency, class, balance string
		var a ports.LedgerAccount
		if err := rows.Scan(&path, &currency, &class, &a.Guarded, &balance); err != nil {
			return err
		}
		a.Account = ledger.Account{Platform: p, Path: path, Currency: money.Currency(currency)}
		a.Class = ledger.Class(class)
		a.Balance, err = total(balance)
		accounts = append(accounts, a)
		return err
	})
	return accounts, err
}
