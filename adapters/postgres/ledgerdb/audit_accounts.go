package ledgerdb

import (
	"context"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

const (
	// Uses ledger_accounts_pkey, ledger_balances_pkey and ledger_added_accounts_pkey.
	auditAccounts = `
SELECT a.id, a.path, a.currency, a.class, a.no_overdraft, b.balance,
       EXISTS (SELECT FROM ledger_added_accounts c WHERE c.platform_id = a.platform_id AND c.path = a.path)
FROM ledger_accounts a
LEFT JOIN ledger_balances b ON b.platform_id = a.platform_id AND b.account_id = a.id
WHERE a.platform_id = $1 AND a.id > $2
ORDER BY a.id LIMIT $3`

	// The changes of a range of accounts, in order: debits and credits with their effective times
	// (ledger_entries_by_debit_account, ledger_entries_by_credit_account), and snapshots after
	// the entries of the same number (ledger_balance_snapshots_pkey).
	auditMoves = `
SELECT e.account_id, e.seq, e.rank, e.amount, NULL::text AS balance, NULL::text AS debits, p.effective_at AS earliest, NULL::timestamptz AS latest
FROM (
    SELECT e.debit_account_id AS account_id, e.seq, e.recorded_at, 0 AS rank, e.amount FROM ledger_entries e
    WHERE e.platform_id = $1 AND e.debit_account_id > $2 AND e.debit_account_id <= $3
    UNION ALL
    SELECT e.credit_account_id, e.seq, e.recorded_at, 1, e.amount FROM ledger_entries e
    WHERE e.platform_id = $1 AND e.credit_account_id > $2 AND e.credit_account_id <= $3
) e
LEFT JOIN ledger_postings p ON p.platform_id = $1 AND p.seq = e.seq AND p.recorded_at = e.recorded_at
UNION ALL
SELECT k.account_id, k.seq, 2, 0, k.balance::text, k.debit_total::text, k.earliest_effective_at, k.latest_effective_at
FROM ledger_balance_snapshots k
WHERE k.platform_id = $1 AND k.account_id > $2 AND k.account_id <= $3
ORDER BY account_id, seq, rank`
)

// Accounts implements ports.AuditView. It reads accounts in batches and merges each batch
// with the changes of its accounts.
func (v *auditView) Accounts(ctx context.Context, p ident.Platform, visitor ports.AccountVisitor) error {
	after := int64(math.MinInt64)
	for {
		batch, err := v.accountsAfter(ctx, p, after, auditBatchSize)
		if err != nil {
			return wrapError("audit accounts", err)
		}
		upto := int64(math.MaxInt64)
		if len(batch) == auditBatchSize {
			upto = batch[len(batch)-1].Number
		}
		visitUpTo := func(accountID int64) error { // visits the accounts up to this one
			for len(batch) > 0 && batch[0].Number <= accountID {
				if err := visitor.Account(batch[0]); err != nil {
					return err
				}
				batch = batch[1:]
			}
			return nil
		}
		if err := v.visitMoves(ctx, p, after, upto, visitor, visitUpTo); err != nil {
			return wrapError("audit accounts", err)
		}
		if err := visitUpTo(upto); err != nil {
			return err
		}
		if upto == math.MaxInt64 {
			return nil
		}
		after = upto
	}
}

// OldestAccounts implements ports.AuditView.
func (v *auditView) OldestAccounts(ctx context.Context, p ident.Platform, limit int) ([]ledger.Account, error) {
	found, err := v.accountsAfter(ctx, p, math.MinInt64, limit)
	accounts := make([]ledger.Account, len(found))
	for i, a := range found {
		accounts[i] = a.Account
	}
	return accounts, wrapError("audit accounts", err)
}

func (v *auditView) accountsAfter(ctx context.Context, platform ident.Platform, after int64,
	limit int) (batch []ports.AuditAccount, err error) {
	err = queryFreshPlan(ctx, v.tx, auditAccounts, []any{platform, after, limit}, func(rows pgx.Rows) error {
		var a ports.AuditAccount
		var balance *int64
		if err := rows.Scan(&a.Number, &a.Account.Path, &a.Account.Currency, &a.Class, &a.NoOverdraft, &balance, &a.Added); err != nil {
			return err
		}
		a.Account.Platform = platform
		if a.HasBalance = balance != nil; a.HasBalance {
			a.Balance = *balance
		}
		batch = append(batch, a)
		return nil
	})
	return batch, err
}

func (v *auditView) visitMoves(ctx context.Context, p ident.Platform, after, upto int64, visitor ports.AccountVisitor,
	visitUpTo func(int64) error) error {
	var account int64
	var first, last time.Time // effective times of the entries since the last snapshot of the account
	return queryFreshPlan(ctx, v.tx, auditMoves, []any{p, after, upto}, func(rows pgx.Rows) error {
		var (
			accountID, seq, amount int64
			rank                   int32
			balance, debits        pgtype.Text
			earliest, latest       pgtype.Timestamptz
		)
		if err := rows.Scan(&accountID, &seq, &rank, &amount, &balance, &debits, &earliest, &latest); err != nil {
			return err
		}
		if err := visitUpTo(accountID); err != nil {
			return err
		}
		if accountID != account {
			account, first, last = accountID, time.Time{}, time.Time{}
		}
		if rank == 2 {
			snapshot := ports.AuditBalanceSnapshot{Number: accountID, Seq: seq, Balance: balance.String, Debits: debits.String,
				Earliest: utc(earliest), Latest: utc(latest), TrueEarliest: first, TrueLatest: last}
			first, last = time.Time{}, time.Time{}
			return visitor.BalanceSnapshot(snapshot)
		}
		if at := utc(earliest); earliest.Valid {
			if first.IsZero() || at.Before(first) {
				first = at
			}
			if at.After(last) {
				last = at
			}
		}
		return visitor.Movement(accountID, seq, rank == 0, amount)
	})
}

// Uses ledger_balances_pkey and ledger_accounts_pkey.
const auditOrphanBalances = `
SELECT b.account_id, b.balance
FROM ledger_balances b
WHERE b.platform_id = $1 AND NOT EXISTS (SELECT FROM ledger_accounts a WHERE a.platform_id = b.platform_id AND a.id = b.account_id)
ORDER BY b.account_id`

// OrphanBalances implements ports.AuditView.
func (v *auditView) OrphanBalances(ctx context.Context, p ident.Platform, each func(accountID, balance int64) error) error {
	err := queryFreshPlan(ctx, v.tx, auditOrphanBalances, []any{p}, func(rows pgx.Rows) error {
		var accountID, balance int64
		if err := rows.Scan(&accountID, &balance); err != nil {
			return err
		}
		return each(accountID, balance)
	})
	return wrapError("audit balances", err)
}
