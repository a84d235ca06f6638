package payments

import (
	"context"

	"causeway/app/internal/uow"
	"causeway/core/transaction"
	"causeway/ports"
)

// expire ends the transactions of quotes that were not paid in time. Most were paid before, so it
// reads them first and locks only those that are still pending.
func (s *Service) expire(ctx context.Context, jobs []ports.Job) error {
	transactions, err := s.Store.TransactionsByKey(ctx, uow.TransactionKeys(jobs))
	if err != nil {
		return err
	}
	var pending []ports.TransactionKey
	for key, t := range transactions {
		if t.Expires() {
			pending = append(pending, key)
		}
	}
	return s.settle(ctx, jobs, pending, func(w work, t transaction.Transaction) error {
		if !t.Expires() {
			return nil // paid meanwhile
		}
		if w.Now.Before(t.ExpiresAt) {
			w.EnqueueAt(t.Platform, transaction.StepExpire, t.ID.UUID(), t.ExpiresAt)
			return nil
		}
		return w.update(t.ExpireAt(w.Now))
	})
}
