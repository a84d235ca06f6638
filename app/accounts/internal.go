package accounts

import (
	"context"

	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// ListInternal returns the internal accounts of this kind of owner that match the filter,
// with their balances.
func (s *Service) ListInternal(ctx context.Context, platformID ident.Platform, owner Owner, f ports.InternalAccountFilter) (ports.Page[account.WithBalance], error) {
	f.PlatformOwned = bool(owner)
	page, err := s.Store.InternalAccounts(ctx, platformID, f)
	if err != nil {
		return ports.Page[account.WithBalance]{}, err
	}
	items, err := s.withBalances(ctx, page.Items)
	return ports.Page[account.WithBalance]{Items: items, More: page.More, Total: page.Total, TotalIsMinimum: page.TotalIsMinimum}, err
}

// UpdateInternal changes the settings of an internal account. Faults:
// INTERNAL_ACCOUNT_NOT_FOUND; INVALID_INPUT for a setting that the account does not have;
// NOT_IMPLEMENTED for the settings of embedded wallets.
func (s *Service) UpdateInternal(ctx context.Context, platformID ident.Platform, id ident.InternalAccount, change account.InternalChange) (account.WithBalance, error) {
	internal, err := s.Store.InternalAccount(ctx, platformID, id)
	if err != nil {
		return account.WithBalance{}, err
	}
	if err := internal.CheckChange(change); err != nil {
		return account.WithBalance{}, err
	}
	if change.PrivateEnabled != nil {
		return account.WithBalance{}, fault.New(fault.NotImplemented, "The privacy of an embedded wallet cannot be set yet. Leave privateEnabled out.")
	}
	items, err := s.withBalances(ctx, []account.Internal{internal})
	if err != nil {
		return account.WithBalance{}, err
	}
	return items[0], nil
}

// withBalances reads the balances of all accounts with one query.
func (s *Service) withBalances(ctx context.Context, internals []account.Internal) ([]account.WithBalance, error) {
	ledgerAccounts := make([]ledger.Account, len(internals))
	for i, a := range internals {
		ledgerAccounts[i] = a.LedgerAccount()
	}
	balances, err := s.Ledger.Balances(ctx, ledgerAccounts)
	if err != nil {
		return nil, err
	}
	items := make([]account.WithBalance, len(internals))
	for i, a := range internals {
		items[i] = account.WithBalance{Internal: a, Balance: balances[ledgerAccounts[i]]}
	}
	return items, nil
}
