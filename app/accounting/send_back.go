package accounting

import (
	"context"

	"causeway/app/internal/feedcontent"
	"causeway/app/internal/uow"
	"causeway/core/ident"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// sendBack is what is read before money is sent back: the receipt, zero if none can be, and what the partner said of a refund that failed.
type sendBack struct {
	receipt  ident.Receipt
	saidPaid bool
}

func (s *Service) readSendBack(ctx context.Context, p ident.Platform, receipt ident.Receipt) (b sendBack, err error) {
	u, found, err := s.Store.UnmatchedOf(ctx, p, receipt)
	if err != nil || !found {
		return b, err
	}
	b.receipt = u.SentBack()
	_, b.saidPaid, err = s.sayingsOfRefund(ctx, u)
	return b, err
}

// maxRefundReplies is how many replies about a transaction are searched for those about its refund.
const maxRefundReplies = 500

// sayingsOfRefund returns what rails have replied about a refund that failed, and whether the last word is that it was paid: by a reply, or
// by a report that stands beside what is recorded until a person closes it.
func (s *Service) sayingsOfRefund(ctx context.Context, u transaction.Unmatched) (replies []ports.RailReply, saidPaid bool, err error) {
	if u.RefundOf.IsZero() {
		return nil, false, nil
	}
	about, err := s.Store.RailReplies(ctx, u.Receipt.Platform, u.RefundOf.UUID(), maxRefundReplies)
	if err != nil {
		return nil, false, err
	}
	for _, reply := range about {
		if reply.Call != ports.CallRefund {
			continue
		}
		replies = append(replies, reply)
		switch reply.Verdict {
		case ports.Done:
			saidPaid = true
		case ports.Refused, ports.Returned, ports.CancelledByUser:
			saidPaid = false
		default: // it is not final
		}
	}
	items, err := s.Store.OpenContradictions(ctx, u.Receipt.Platform)
	for _, item := range items {
		c, err := feedcontent.Contradiction(item.Content)
		if err != nil {
			return nil, false, err
		}
		// An unknown code stands with the same state on both sides: where the money is, is not in doubt.
		saidPaid = saidPaid || c.Kind == rail.Refund && c.Subject == u.RefundOf.UUID() && c.Recorded.State != c.Reported.State
	}
	return replies, saidPaid, err
}

// payerHas locks the receipt that is sent back for a failed refund, and reports whether its payer has it already, or no rail returns it.
func payerHas(ctx context.Context, tx Tx, p ident.Platform, a AssignCommand) (bool, error) {
	sent := a.sendBack.receipt
	if sent.IsZero() || sent == a.Receipt {
		return false, nil
	}
	before, found, err := tx.LockUnmatched(ctx, p, sent)
	if err != nil || found && before.IsFailedRefund() {
		return true, err
	}
	return tx.IsReceiptReversed(ctx, p, sent)
}

// returnToPayer posts the refund that is owed to the payer, and enqueues sending it. A failed refund is sent as the receipt that had paid
// for the transaction, whose refund is pending again.
func returnToPayer(ctx context.Context, tx Tx, w *uow.Work, u transaction.Unmatched, a AssignCommand, payerHasIt bool) error {
	posting, err := u.SendBack(transaction.BeforeSendBack{PayerHasIt: payerHasIt, SaidPaid: a.sendBack.saidPaid}, a.Note, w.Now)
	if err != nil {
		return err
	}
	if u.SentBack() != a.sendBack.receipt { // it is unmatched since it was read
		return uow.ErrChanged
	}
	w.Post(posting)
	w.Enqueue(u.Receipt.Platform, transaction.StepSendBack, u.SentBack().UUID())
	if u.RefundOf.IsZero() {
		return nil
	}
	key := ports.TransactionKey{Platform: u.Receipt.Platform, ID: u.RefundOf}
	t, err := lockTransaction(ctx, tx, key)
	if err != nil {
		return err
	}
	d, err := t.RefundAgain(transaction.RefundPending, w.Now)
	if err != nil {
		return err
	}
	w.Update(d)
	return tx.SaveRefundAgain(ctx, key, u.SentBack())
}
