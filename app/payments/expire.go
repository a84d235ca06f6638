package payments

import (
	"context"

	"causeway/app/internal/uow"
	"causeway/core/transaction"
	"causeway/ports"
)

// expire ends the transactions of quotes whose time passed without money. Most of
// them were paid long ago, so they are looked at before any is locked.
func (p *Service) expire(ctx context.Context, jobs []ports.Job) error {
	read, err := p.Store.TransactionsByKey(ctx, uow.TransactionKeys(jobs))
	if err != nil {
		return err
	}
	unpaid := map[ports.TransactionKey]ports.Outcome{}
	for key, t := range read {
		if t.State.Status == transaction.Pending {
			unpaid[key] = ports.Outcome{}
		}
	}
	return p.settle(ctx, jobs, ports.CallNone, unpaid, func(w work, t transaction.Transaction, _ ports.Outcome) error {
		if t.State.Status != transaction.Pending {
			return nil // paid meanwhile
		}
		if w.Now.Before(t.ExpiresAt) {
			w.EnqueueAt(t.Platform, transaction.StepExpire, t.ID.UUID(), t.ExpiresAt)
			return nil
		}
		d, err := t.ExpireAt(w.Now)
		if err == nil {
			w.Update(d)
		}
		return err
	})
}
