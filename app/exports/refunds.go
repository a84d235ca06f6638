package exports

import (
	"context"
	"fmt"

	"causeway/app/exports/statement"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// refundedPayments are the payments of an account of which something was refunded in an interval,
// with what they took from it and gave to it.
type refundedPayments map[ident.Transaction]*paymentTurnover

type paymentTurnover struct{ in, out int64 }

// maxRefundedPayments limits the payments that one statement keeps in memory.
const maxRefundedPayments = 200_000

// net returns the sum of the movements of a payment, and whether it was paid and refunded in the
// interval.
func (r refundedPayments) net(id ident.Transaction) (int64, bool) {
	t, found := r[id]
	if !found || t.in == 0 || t.out == 0 {
		return 0, false
	}
	return t.in - t.out, true
}

// isRefund reports whether postings of a kind undo a payment.
func isRefund(kind ledger.Kind) bool {
	return kind == ledger.KindReversal || kind == ledger.KindRefundOwed || kind == ledger.KindRefundPaid
}

// countWhatMoved sets the totals of a statement, whose TotalIn and TotalOut are the sums of credits
// and debits: it counts refunded payments with what is left of them, and adds up the fees. It reads
// the entries twice if there are refunds, because these come after what they refund.
func countWhatMoved(ctx context.Context, view ports.LedgerView, a ledger.Account, interval period.Interval,
	s *statement.Summary) (refundedPayments, error) {
	refunded := refundedPayments{}
	filter := ports.LedgerFilter{Interval: interval, Path: a.Path, Currency: a.Currency}
	err := view.Entries(ctx, filter, func(e ports.RecordedEntry) error {
		switch {
		case e.Kind == ledger.KindPlatformFees: // income of the platform, whose account it is
		case ledger.IsFee(e.Credit):
			s.Fees += e.Amount
		case ledger.IsFee(e.Debit):
			s.Fees -= e.Amount
		}
		if !isRefund(e.Kind) || e.Transaction.IsZero() || refunded[e.Transaction] != nil {
			return nil
		}
		if len(refunded) == maxRefundedPayments {
			return fault.Invalid(fault.Field{Field: "to", Message: fmt.Sprintf("must be earlier: a statement has at most %d refunded payments",
				maxRefundedPayments)})
		}
		refunded[e.Transaction] = &paymentTurnover{}
		return nil
	})
	if err != nil || len(refunded) == 0 {
		return refunded, err
	}
	err = view.Entries(ctx, filter, func(e ports.RecordedEntry) error {
		switch t := refunded[e.Transaction]; {
		case t == nil:
		case e.Debit == a.Path:
			t.out += e.Amount
		default:
			t.in += e.Amount
		}
		return nil
	})
	for id, t := range refunded {
		if _, both := refunded.net(id); both {
			twice := min(t.in, t.out)
			s.TotalIn, s.TotalOut = s.TotalIn-twice, s.TotalOut-twice
			s.RefundedPayments++
		}
	}
	return refunded, err
}
