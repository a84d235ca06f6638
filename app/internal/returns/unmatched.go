package returns

import (
	"context"

	"causeway/app/internal/uow"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

// FailedRefunds are the unmatched funds of refunds that have failed, by the transactions that they were to refund.
type FailedRefunds map[ident.Transaction]transaction.Unmatched

// LockFailedRefunds locks the money of transactions whose refund has failed, and returns it. It is locked before the transactions.
func LockFailedRefunds(ctx context.Context, tx Tx, keys []ports.TransactionKey) (FailedRefunds, error) {
	failed := FailedRefunds{}
	for _, key := range keys {
		var id ident.Receipt
		id.SetUUID(key.ID.UUID())
		u, found, err := tx.LockUnmatched(ctx, key.Platform, id)
		if err != nil {
			return nil, err
		}
		if found && u.RefundOf == key.ID {
			failed[key.ID] = u
		}
	}
	return failed, nil
}

// Of returns the unmatched funds of a locked transaction whose refund has failed, and false for others. Error: uow.ErrChanged if it has
// failed since they were locked.
func (f FailedRefunds) Of(t transaction.Transaction) (u transaction.Unmatched, failed bool, err error) {
	if t.State.Refund != transaction.RefundUnpaid {
		return u, false, nil
	}
	u, known := f[t.ID]
	if !known {
		return u, false, uow.ErrChanged
	}
	return u, true, nil
}

// TakeBackUnmatched posts that unmatched money, which is locked and not assigned, has gone back to its payer.
func TakeBackUnmatched(ctx context.Context, tx Tx, w *uow.Work, v transaction.ReceiptReversal, u transaction.Unmatched) error {
	postings, assignment, err := v.OfUnmatched(u)
	if err != nil {
		return err
	}
	w.Post(postings...)
	u.Assignment = &assignment
	return tx.AssignUnmatched(ctx, u, assignment)
}

// TakeBackRefund is TakeBackUnmatched for the failed refund of a locked transaction, which is completed: its payer has the money.
func TakeBackRefund(ctx context.Context, tx Tx, w *uow.Work, v transaction.ReceiptReversal, u transaction.Unmatched,
	t transaction.Transaction) error {
	if err := TakeBackUnmatched(ctx, tx, w, v, u); err != nil {
		return err
	}
	d, err := t.RefundAgain(transaction.RefundCompleted, w.Now)
	if err == nil {
		w.Update(d)
	}
	return err
}
