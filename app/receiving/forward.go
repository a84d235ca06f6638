package receiving

import (
	"context"

	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/transaction"
	"causeway/core/transfer"
	"causeway/ports"
)

// forward sends on what came to the UMA addresses of customers who want it on an account
// elsewhere, by a transfer of its own. Where that cannot be, the balance keeps it.
func (r *IncomingService) forward(ctx context.Context, jobs []ports.Job) error {
	read, err := r.Store.TransactionsByKey(ctx, uow.TransactionKeys(jobs))
	if err != nil {
		return err
	}
	for _, t := range read {
		if err := r.forwardOne(ctx, t); err != nil {
			return err
		}
	}
	return r.settle(ctx, jobs, nil, nil)
}

func (r *IncomingService) forwardOne(ctx context.Context, t transaction.Transaction) error {
	to, wanted, err := r.Store.UMAForwardingAccount(ctx, t.Platform, t.Customer)
	if err != nil || !wanted || to.Currency != t.Pricing.Received.Currency || to.Status != account.Active {
		return err
	}
	err = r.TransferOut(ctx, transaction.CounterpartID(t.ID), transfer.Out{Platform: t.Platform, From: t.Destination.InternalAccount, To: to.ID, Amount: t.Pricing.Received.Minor})
	if _, refused := fault.As(err); refused {
		r.Log.WithError(err).WithField("transaction", t.ID.String()).Warn("a payment is not sent on and stays on the balance")
		return nil
	}
	return err
}
