package uow

import (
	"context"
	"fmt"
	"time"

	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

// EnsureAccount is the account of a customer (zero: the platform) in a currency, opened if need
// be. Another process may open it at the same moment: what counts is what is read then.
func EnsureAccount(ctx context.Context, tx ports.Tx, ids ports.IDs, now time.Time, p ident.Platform, of ident.Customer, currency money.Currency) (account.Internal, error) {
	found, there, err := tx.InternalAccount(ctx, p, of, currency)
	if err != nil || there {
		return found, err
	}
	fresh, err := account.NewInternal(ident.NewInternalAccount(ids.New, now), p, of, currency, now)
	if err != nil {
		return fresh, err
	}
	if err := tx.OpenInternalAccounts(ctx, []account.Internal{fresh}); err != nil {
		return fresh, err
	}
	if found, there, err = tx.InternalAccount(ctx, p, of, currency); err == nil && !there {
		err = fmt.Errorf("no account of %s in %s, although it was opened", of, currency)
	}
	return found, err
}
