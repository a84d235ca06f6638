package payments

import (
	"context"

	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/transaction"
	"causeway/ports"
)

// forward sends on what came to the UMA addresses of customers who want it on an account
// elsewhere, by a transfer of its own. Where that cannot be, the balance keeps it.
func (s *Service) forward(ctx context.Context, jobs []ports.Job) error {
	read, err := s.Store.TransactionsByKey(ctx, uow.TransactionKeys(jobs))
	if err != nil {
		return err
	}
	for _, t := range read {
		if err := s.forwardOne(ctx, t); err != nil {
			return err
		}
	}
	return s.settle(ctx, jobs, nil, nil)
}

func (s *Service) forwardOne(ctx context.Context, t transaction.Transaction) error {
	to, wanted, err := s.Store.UMAForwardingAccount(ctx, t.Platform, t.Customer)
	if err != nil || !wanted || to.Currency != t.Pricing.Received.Currency || to.Status != account.Active {
		return err
	}
	err = s.transferOutWithID(ctx, transaction.CounterpartID(t.ID), transaction.TransferOut{Platform: t.Platform, From: t.Destination.InternalAccount, To: to.ID, Amount: t.Pricing.Received.Minor})
	if _, refused := fault.As(err); refused {
		s.Log.WithError(err).WithField("transaction", t.ID.String()).Warn("a payment is not sent on and stays on the balance")
		return nil
	}
	return err
}
