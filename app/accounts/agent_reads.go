package accounts

import (
	"context"

	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// ListInternalForAgent returns the internal accounts of the customer of an agent that match the filter, with their
// balances: those from which the agent may spend. Faults: UNAUTHORIZED if the agent was deleted meanwhile.
func (s *Service) ListInternalForAgent(ctx context.Context, caller platform.Principal,
	f ports.InternalAccountFilter) (ports.Page[account.WithBalance], error) {
	a, err := s.callingAgent(ctx, caller)
	if err != nil {
		return ports.Page[account.WithBalance]{}, err
	}
	f.Customer, f.IDs = a.Customer, a.Policy.AllowedAccounts
	return s.ListInternal(ctx, caller.Platform, OwnedByCustomers, f)
}

// GetForAgent returns an external account of the customer of an agent, or EXTERNAL_ACCOUNT_NOT_FOUND.
func (s *Service) GetForAgent(ctx context.Context, caller platform.Principal, id ident.ExternalAccount) (account.External, error) {
	found, err := s.Get(ctx, caller.Platform, OwnedByCustomers, id)
	if err == nil && found.Customer != caller.Customer {
		return account.External{}, fault.New(fault.ExternalAccountNotFound, "There is no external account %s.", id)
	}
	return found, err
}

// ListForAgent returns the external accounts of the customer of an agent that match the filter.
func (s *Service) ListForAgent(ctx context.Context, caller platform.Principal,
	f ports.ExternalAccountFilter) (ports.Page[account.External], error) {
	f.Customer = caller.Customer
	return s.List(ctx, caller.Platform, OwnedByCustomers, f)
}
