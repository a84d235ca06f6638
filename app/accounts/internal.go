package accounts

import (
	"context"

	"causeway/core/account"
	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// ListInternal returns the internal accounts of this kind of owner that match the filter,
// with their balances.
func (s *Service) ListInternal(ctx context.Context, platformID ident.Platform, owner Owner,
	f ports.InternalAccountFilter) (ports.Page[account.WithBalance], error) {
	f.PlatformOwned = bool(owner)
	page, err := s.Store.InternalAccounts(ctx, platformID, f)
	if err != nil {
		return ports.Page[account.WithBalance]{}, err
	}
	items, err := s.withBalances(ctx, page.Items)
	return ports.PageOf(items, page), err
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
