package payments

import (
	"context"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/ports"
)

// AgentTransaction returns a transaction of the customer of an agent, or TRANSACTION_NOT_FOUND.
func (s *Service) AgentTransaction(ctx context.Context, caller platform.Principal, id ident.Transaction) (transaction.Transaction, error) {
	found, err := s.Store.Transaction(ctx, caller.Platform, id)
	if err == nil && found.Customer != caller.Customer {
		return transaction.Transaction{}, fault.New(fault.TransactionNotFound, "There is no transaction %s.", id)
	}
	return found, err
}

// AgentTransactions returns the transactions of the customer of an agent that match the filter.
func (s *Service) AgentTransactions(ctx context.Context, caller platform.Principal,
	f ports.TransactionFilter) (ports.Page[transaction.Transaction], error) {
	f.Customer = caller.Customer
	return s.Store.Transactions(ctx, caller.Platform, f)
}
