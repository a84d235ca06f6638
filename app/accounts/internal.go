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
func (a *Accounts) ListInternal(ctx context.Context, who platform.Principal, of Owner, f ports.InternalFilter) (ports.Page[account.Holding], error) {
	if err := who.Must(platform.View); err != nil {
		return ports.Page[account.Holding]{}, err
	}
	f.PlatformOwned = bool(of)
	page, err := a.Store.InternalAccounts(ctx, who.Platform, f)
	if err != nil {
		return ports.Page[account.Holding]{}, err
	}
	holdings, err := a.holdings(ctx, page.Items)
	return ports.Page[account.Holding]{Items: holdings, More: page.More, Total: page.Total}, err
}

// UpdateInternal changes what can be changed of an internal account. Faults:
// INTERNAL_ACCOUNT_NOT_FOUND; INVALID_INPUT for a setting that it does not have;
// NOT_IMPLEMENTED for those of embedded wallets.
func (a *Accounts) UpdateInternal(ctx context.Context, who platform.Principal, id ident.InternalAccount, change account.InternalChange) (account.Holding, error) {
	if err := who.Must(platform.Transact); err != nil {
		return account.Holding{}, err
	}
	is, err := a.Store.InternalAccount(ctx, who.Platform, id)
	if err != nil {
		return account.Holding{}, err
	}
	if err := is.Check(change); err != nil {
		return account.Holding{}, err
	}
	if change.PrivateEnabled != nil {
		return account.Holding{}, fault.New(fault.NotImplemented, "The privacy of an embedded wallet cannot be set yet. Leave privateEnabled out.")
	}
	holdings, err := a.holdings(ctx, []account.Internal{is})
	if err != nil {
		return account.Holding{}, err
	}
	return holdings[0], nil
}

// holdings reads the balances of all accounts in one question to the books.
func (a *Accounts) holdings(ctx context.Context, accounts []account.Internal) ([]account.Holding, error) {
	places := make([]ledger.Account, len(accounts))
	for i, is := range accounts {
		places[i] = ledger.Account{Platform: is.Platform, Path: quote.BookPath(is), Currency: is.Currency}
	}
	balances, err := a.Books.Balances(ctx, places)
	if err != nil {
		return nil, err
	}
	holdings := make([]account.Holding, len(accounts))
	for i, is := range accounts {
		holdings[i] = account.Holding{Internal: is, Balance: balances[places[i]]}
	}
	return holdings, nil
}
