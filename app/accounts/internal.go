package accounts

import (
	"context"

	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/ledger"
	"causeway/ports"
)

// ListInternal reads the internal accounts of this owner that pass the filter, with
// what they hold.
func (a *Service) ListInternal(ctx context.Context, who platform.Principal, of Owner, f ports.InternalAccountFilter) (ports.Page[account.WithBalance], error) {
	if err := who.CheckPermission(platform.View); err != nil {
		return ports.Page[account.WithBalance]{}, err
	}
	f.PlatformOwned = bool(of)
	page, err := a.Store.InternalAccounts(ctx, who.Platform, f)
	if err != nil {
		return ports.Page[account.WithBalance]{}, err
	}
	holdings, err := a.withBalances(ctx, page.Items)
	return ports.Page[account.WithBalance]{Items: holdings, More: page.More, Total: page.Total}, err
}

// UpdateInternal changes what can be changed of an internal account. Faults:
// INTERNAL_ACCOUNT_NOT_FOUND; INVALID_INPUT for a setting that it does not have;
// NOT_IMPLEMENTED for those of embedded wallets.
func (a *Service) UpdateInternal(ctx context.Context, who platform.Principal, id ident.InternalAccount, change account.InternalChange) (account.WithBalance, error) {
	if err := who.CheckPermission(platform.Transact); err != nil {
		return account.WithBalance{}, err
	}
	is, err := a.Store.InternalAccount(ctx, who.Platform, id)
	if err != nil {
		return account.WithBalance{}, err
	}
	if err := is.CheckChange(change); err != nil {
		return account.WithBalance{}, err
	}
	if change.PrivateEnabled != nil {
		return account.WithBalance{}, fault.New(fault.NotImplemented, "The privacy of an embedded wallet cannot be set yet. Leave privateEnabled out.")
	}
	holdings, err := a.withBalances(ctx, []account.Internal{is})
	if err != nil {
		return account.WithBalance{}, err
	}
	return holdings[0], nil
}

// withBalances reads the balances of all accounts in one question to the books.
func (a *Service) withBalances(ctx context.Context, accounts []account.Internal) ([]account.WithBalance, error) {
	places := make([]ledger.Account, len(accounts))
	for i, is := range accounts {
		places[i] = ledger.Account{Platform: is.Platform, Path: quote.AccountPath(is), Currency: is.Currency}
	}
	balances, err := a.Books.Balances(ctx, places)
	if err != nil {
		return nil, err
	}
	holdings := make([]account.WithBalance, len(accounts))
	for i, is := range accounts {
		holdings[i] = account.WithBalance{Internal: is, Balance: balances[places[i]]}
	}
	return holdings, nil
}
