package payments

import (
	"context"

	"causeway/app/internal/uow"
	"causeway/core/fault"
	"causeway/core/transaction"
	"causeway/ports"
)

// forward transfers payments to UMA addresses to the external accounts that customers have chosen
// for them. If a transfer is not possible, the money stays on the balance.
func (s *Service) forward(ctx context.Context, jobs []ports.Job) error {
	keys := uow.TransactionKeys(jobs)
	read, err := s.Store.TransactionsByKey(ctx, keys)
	if err != nil {
		return err
	}
	for _, t := range inOrder(keys, read) {
		if err := s.forwardOne(ctx, t); err != nil {
			return err
		}
	}
	return s.settle(ctx, jobs, nil, nil)
}

func (s *Service) forwardOne(ctx context.Context, t transaction.Transaction) error {
	to, wanted, err := s.Store.UMAForwardingAccount(ctx, t.Platform, t.Customer)
	if err != nil || !wanted || to.Currency != t.Pricing.Received.Currency || !to.Status.Payable() {
		return err
	}
	err = s.transferOutWithID(ctx, transaction.CounterpartID(t.ID), transaction.TransferOut{Platform: t.Platform,
		From: t.Destination.InternalAccount, To: to.ID, Amount: t.Pricing.Received.Minor})
	if fault.IsFinal(err) { // also an embedded wallet, whose owner signs each payment
		s.Log.WithError(err).WithField("transaction", t.ID.String()).Warn("payment not forwarded; it stays on the balance")
		return nil
	}
	return err
}
