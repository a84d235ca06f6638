package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

// readExternalAccounts uses the primary key. A deleted account still receives pending
// payouts, and pending collections are still made from it.
const readExternalAccounts = `
	SELECT e.platform_id, e.id, e.account_type, e.currency, e.fields, e.beneficiary
	FROM external_accounts e JOIN unnest($1::uuid[], $2::uuid[]) AS k(platform_id, id) USING (platform_id, id)`

// externalKey identifies an account that is paid to or collected from.
type externalKey struct {
	platform ident.Platform
	account  ident.ExternalAccount
}

// Payouts reads transactions with the accounts they pay to. The payee of an account that does not belong to its row is changed.
func (db *DB) Payouts(ctx context.Context, keys []ports.TransactionKey) ([]ports.Payout, error) {
	found, err := db.TransactionsByKey(ctx, keys)
	if err != nil {
		return nil, err
	}
	to := func(t transaction.Transaction) externalKey {
		return externalKey{t.Platform, t.Destination.ExternalAccount}
	}
	accounts, unreadable, err := db.externalAccountsOf(ctx, found, to)
	if err != nil {
		return nil, err
	}
	payouts := make([]ports.Payout, 0, len(found))
	for _, t := range found {
		account := accounts[to(t)]
		if invoice := t.InvoiceAccount(); invoice != nil {
			account = *invoice
		}
		if !t.Destination.ExternalAccount.IsZero() {
			changed, err := db.payeeChanged(ctx, &t, &account)
			if err != nil {
				return nil, err
			}
			t.PayeeChanged = changed || unreadable[to(t)] != nil
		}
		payouts = append(payouts, ports.Payout{Transaction: t, Account: account})
	}
	return payouts, nil
}

// Collections reads transactions with the accounts they are paid from.
func (db *DB) Collections(ctx context.Context, keys []ports.TransactionKey) ([]ports.Collection, error) {
	found, err := db.TransactionsByKey(ctx, keys)
	if err != nil {
		return nil, err
	}
	from := func(t transaction.Transaction) externalKey { return externalKey{t.Platform, t.Source.ExternalAccount} }
	accounts, unreadable, err := db.externalAccountsOf(ctx, found, from)
	for _, failed := range unreadable {
		err = errors.Join(err, failed)
	}
	if err != nil {
		return nil, err
	}
	collections := make([]ports.Collection, 0, len(found))
	for _, t := range found {
		collections = append(collections, ports.Collection{Transaction: t, Account: accounts[from(t)]})
	}
	return collections, nil
}

// externalAccountsOf reads the external accounts at one end of transactions, and why some cannot be decrypted.
func (db *DB) externalAccountsOf(ctx context.Context, transactions map[ports.TransactionKey]transaction.Transaction,
	end func(transaction.Transaction) externalKey) (found map[externalKey]account.External, unreadable map[externalKey]error, err error) {
	found, unreadable = map[externalKey]account.External{}, map[externalKey]error{}
	var platforms []ident.Platform
	var accounts []ident.ExternalAccount
	for _, t := range transactions {
		to := end(t)
		if _, exists := found[to]; exists || to.account.IsZero() {
			continue
		}
		found[to] = account.External{}
		platforms, accounts = append(platforms, to.platform), append(accounts, to.account)
	}
	return found, unreadable, db.read(ctx, readExternalAccounts, []any{platforms, accounts}, func(rows pgx.Rows) error {
		var a account.External
		var fields, beneficiary []byte
		if err := rows.Scan(&a.Platform, &a.ID, &a.Type, &a.Currency, &fields, &beneficiary); err != nil {
			return err
		}
		err := db.openPayee(ctx, &a, fields, beneficiary)
		if errors.Is(err, ports.ErrCannotDecrypt) {
			unreadable[externalKey{a.Platform, a.ID}], err = err, nil
		}
		found[externalKey{a.Platform, a.ID}] = a
		return err
	})
}
