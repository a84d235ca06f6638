package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

// selectUnsettled uses transactions_by_customer. An outgoing payment that waits for its funding has
// moved no money, unless it is a transfer.
const selectUnsettled = `
	SELECT id FROM transactions WHERE platform_id = $1 AND customer_id = $2
		AND (status = 'PROCESSING' OR 'PENDING' IN (refund_status, refund_again) OR status = 'PENDING' AND (direction = 'INCOMING' OR stage <> ''))
	LIMIT 1`

// selectOwed uses receivables_by_customer.
const selectOwed = `SELECT id FROM receivables WHERE platform_id = $1 AND customer_id = $2 AND state = 'OPEN' LIMIT 1`

// CustomerFunds uses internal_accounts_by_owner. The balances are read before the payments: money that a
// payment debits meanwhile is in the one or the other.
func (u *Unit) CustomerFunds(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Funds, error) {
	return u.customerFunds(ctx, p, id, ledgerdb.Read)
}

// LockCustomerFunds locks the balances in the order in which postings lock them.
func (u *Unit) LockCustomerFunds(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Funds, error) {
	return u.customerFunds(ctx, p, id, ledgerdb.Lock)
}

func (u *Unit) customerFunds(ctx context.Context, p ident.Platform, id ident.Customer, mode ledgerdb.Mode) (customer.Funds, error) {
	owned, err := u.InternalAccountsOf(ctx, p, id)
	if err != nil {
		return customer.Funds{}, err
	}
	accounts := make([]ledger.Account, len(owned))
	for i, a := range owned {
		accounts[i] = a.LedgerAccount()
	}
	var left customer.Funds
	balances, err := u.db.ledgerStore.Balances(ctx, batchedQuerier{u: u}, accounts, mode)
	if err != nil {
		return left, err
	}
	for a, minor := range balances {
		if minor != 0 {
			left.Balances = append(left.Balances, money.Amount{Minor: minor, Currency: a.Currency})
		}
	}
	slices.SortFunc(left.Balances, func(a, b money.Amount) int { return cmp.Compare(a.Currency, b.Currency) })
	if err := u.query(ctx, selectOwed, []any{p, id}, func(rows pgx.Rows) error { return rows.Scan(&left.Receivable) }); err != nil {
		return left, err
	}
	err = u.query(ctx, selectUnsettled, []any{p, id}, func(rows pgx.Rows) error { return rows.Scan(&left.Unsettled) })
	return left, err
}

// DeleteExternalAccountsOf uses external_accounts_by_customer.
func (u *Unit) DeleteExternalAccountsOf(ctx context.Context, p ident.Platform, id ident.Customer, at time.Time) error {
	u.queueExec(
		`UPDATE external_accounts SET deleted_at = $3, updated_at = $3 WHERE platform_id = $1 AND customer_id = $2 AND deleted_at IS NULL`,
		p, id, at)
	return nil
}
