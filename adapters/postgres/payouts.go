package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/account"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ports"
)

var (
	readPayouts     = readWithAccount("t.destination_external")
	readCollections = readWithAccount("t.source_external")
)

// readWithAccount reads transactions and the external account that one of their columns names, by the primary keys. A deleted account
// still receives pending payouts, and pending collections are still made from it.
func readWithAccount(column string) string {
	return `SELECT ` + columnsWithoutInstructions + `, e.id, e.account_type, e.currency, e.fields, e.beneficiary` + transactionsByKeys + `
	LEFT JOIN external_accounts e ON e.platform_id = t.platform_id AND e.id = ` + column
}

// Payouts reads transactions with the accounts they pay to. The payee of an account that does not belong to its row is changed.
func (db *DB) Payouts(ctx context.Context, keys []ports.TransactionKey) ([]ports.Payout, error) {
	payouts := make([]ports.Payout, 0, len(keys))
	platforms, ids := keyArrays(keys)
	err := db.read(ctx, readPayouts, []any{platforms, ids}, db.scanPayout(ctx, &payouts))
	return payouts, err
}

// QueuePayouts is Payouts for what the unit of work has written, with the next statements that it sends. What cannot be read is omitted.
func (u *Unit) QueuePayouts(ctx context.Context, keys []ports.TransactionKey, payouts *[]ports.Payout) error {
	platforms, ids := keyArrays(keys)
	scan := u.db.scanPayout(ctx, payouts)
	u.queueQuery(readPayouts, []any{platforms, ids}, func(rows pgx.Rows) error {
		_ = scan(rows) // the unit of work goes on, and who needs the payout reads it again
		return nil
	})
	return nil
}

// scanPayout returns a function that adds the payout of a row.
func (db *DB) scanPayout(ctx context.Context, payouts *[]ports.Payout) func(pgx.Rows) error {
	return db.scanWithAccount(ctx, func(t transaction.Transaction, account account.External, unreadable error) error {
		if invoice := t.InvoiceAccount(); invoice != nil {
			account = *invoice
		}
		if !t.Destination.ExternalAccount.IsZero() {
			changed, err := db.payeeChanged(ctx, &t, &account)
			if err != nil {
				return err
			}
			t.PayeeChanged = changed || unreadable != nil
		}
		*payouts = append(*payouts, ports.Payout{Transaction: t, Account: account})
		return nil
	})
}

// Collections reads transactions with the accounts they are paid from.
func (db *DB) Collections(ctx context.Context, keys []ports.TransactionKey) ([]ports.Collection, error) {
	collections := make([]ports.Collection, 0, len(keys))
	platforms, ids := keyArrays(keys)
	err := db.read(ctx, readCollections, []any{platforms, ids}, db.scanWithAccount(ctx,
		func(t transaction.Transaction, account account.External, unreadable error) error {
			collections = append(collections, ports.Collection{Transaction: t, Account: account})
			return unreadable
		}))
	return collections, err
}

// scanWithAccount returns a function that calls visit for the transaction of a row, with its external account, and why that cannot be
// decrypted.
func (db *DB) scanWithAccount(ctx context.Context,
	visit func(t transaction.Transaction, account account.External, unreadable error) error) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var id pgtype.UUID
		var kind, currency pgtype.Text
		var fields, beneficiary []byte
		t, err := scanTransaction(ctx, db, rows, &id, &kind, &currency, &fields, &beneficiary)
		if err != nil {
			return err
		}
		if !id.Valid {
			return visit(t, account.External{}, nil)
		}
		a := account.External{Platform: t.Platform, Type: account.Type(kind.String), Currency: money.Currency(currency.String)}
		a.ID.SetUUID(id.Bytes)
		if err = db.openPayee(ctx, &a, fields, beneficiary); err != nil && !errors.Is(err, ports.ErrCannotDecrypt) {
			return err
		}
		return visit(t, a, err)
	}
}
