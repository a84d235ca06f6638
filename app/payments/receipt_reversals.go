package payments

import (
	"context"

	"causeway/app/internal/returns"
	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/rail"
	"causeway/core/receivable"
	"causeway/core/transaction"
	"causeway/ports"
)

// ReverseReceipt undoes a receipt that the partner took back. Unmatched money goes back. What an account was credited
// with, or what paid for a quote, is owed by its customer from now on; the balance pays it as other receivables. A payout or a
// refund that was made with it ends if it has not left, and its refund pays what is owed, as the refund of one that left and
// failed later does. Money that was to be sent back is not; if that has left, it is lost. A repeated reversal changes nothing.
func (s *Service) ReverseReceipt(ctx context.Context, v transaction.ReceiptReversal) error {
	funded, goesInside, err := s.useOf(ctx, v.Receipt)
	if err != nil {
		return err
	}
	return ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		u, isUnmatched, err := tx.LockUnmatched(ctx, v.Receipt.Platform, v.Receipt.ID)
		if err != nil {
			return err
		}
		if isNew, err := tx.SaveReceiptReversal(ctx, v); err != nil || !isNew {
			return err
		}
		work := uow.NewWork(v.RecordedAt, s.IDs, 0)
		switch isUnmatched = isUnmatched && u.RefundOf.IsZero(); {
		case isUnmatched && u.Assignment == nil:
			if err = returns.TakeBackUnmatched(ctx, tx, work, v, u); err == nil {
				err = refundedAgain(ctx, tx, work, v.Receipt, transaction.RefundCompleted)
			}
		default:
			keys := []ports.TransactionKey{{Platform: v.Receipt.Platform, ID: v.Receipt.DepositID()}}
			if isUnmatched && !u.Assignment.Transaction.IsZero() {
				keys = append(keys, ports.TransactionKey{Platform: v.Receipt.Platform, ID: u.Assignment.Transaction})
			}
			if !funded.IsZero() {
				keys = append(keys, ports.TransactionKey{Platform: v.Receipt.Platform, ID: funded})
			}
			err = s.reverseUsed(ctx, tx, work, v, keys, goesInside)
		}
		if err != nil {
			return err
		}
		return work.Write(ctx, tx)
	})
}

// useOf returns the transaction that a receipt has funded by its reference, zero for none, and whether it goes back to an internal
// account if it is surplus.
func (s *Service) useOf(ctx context.Context, r transaction.Receipt) (funded ident.Transaction, goesInside bool, err error) {
	if r.Reference == "" || account.IsFundingReference(r.Reference) {
		return funded, false, nil
	}
	key := ports.ReferenceKey{Platform: r.Platform, Reference: r.Reference}
	found, err := s.Store.TransactionsByReference(ctx, []ports.ReferenceKey{key})
	t, exists := found[key]
	if exists && t.Receipt == r.ID {
		funded = t.ID
	}
	return funded, exists && r.Amount.Currency.IsCrypto(), err
}

// reverseUsed opens a receivable for the transaction that has the money, takes it from a refund of that which has failed, or posts a
// loss if none has it.
func (s *Service) reverseUsed(ctx context.Context, tx Tx, w *uow.Work, v transaction.ReceiptReversal, keys []ports.TransactionKey,
	goesInside bool) error {
	failed, err := returns.LockFailedRefunds(ctx, tx, keys)
	if err != nil {
		return err
	}
	locked, err := tx.LockTransactions(ctx, keys)
	if err != nil {
		return err
	}
	for _, t := range inOrder(keys, locked) {
		u, unmatched, err := failed.Of(t)
		switch {
		case err != nil:
			return err
		case unmatched && u.Assignment == nil:
			return returns.TakeBackRefund(ctx, tx, w, v, u, t)
		case unmatched && u.Assignment.IsSentBack(): // as the receipt itself, which nobody has then
			delete(locked, transactionKey(t))
			continue
		}
		_, owed, err := tx.LockReceivableOf(ctx, t.Platform, t.ID)
		if err != nil {
			return err
		}
		if owed {
			continue
		}
		if err := s.openReceivable(ctx, tx, w, v, t); err != nil {
			return err
		}
		return s.stopUse(ctx, tx, w, t, v.Reason())
	}
	if r := v.Receipt; len(locked) == 0 && !goesInside {
		stopped, err := s.stop(ctx, tx, rail.SendBack, r.Platform, r.ID.UUID(), r.Rail, r.Amount, v.Reason())
		if err != nil {
			return err
		}
		if stopped {
			w.Post(v.OfSendBack())
			return refundedAgain(ctx, tx, w, r, transaction.RefundCompleted)
		}
	}
	w.Post(v.Lost())
	return nil
}

// openReceivable records that the owner of a transaction owes the money that was taken back. Later money and the
// balance pay it, as for collections that were returned.
func (s *Service) openReceivable(ctx context.Context, tx Tx, w *uow.Work, v transaction.ReceiptReversal,
	t transaction.Transaction) error {
	returned := receivable.Return{ReasonCode: v.Code, PartnerID: v.PartnerID, ReturnedAt: v.At, Note: v.Note, By: transaction.ReversedBy}
	_, err := s.recorder().Open(ctx, tx, w, t, v.Receipt.Amount.Currency, returned, func(opened receivable.Receivable) receivable.Receivable {
		opened.Amount, opened.Partner = v.Receipt.Amount, v.Receipt.Rail.LedgerPath()
		return opened
	})
	return err
}
