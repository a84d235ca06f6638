package transaction

import (
	"slices"
	"strings"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

// refundReceipt records the receipt of the money and opens its refund at once.
func (t Transaction) refundReceipt(r Receipt, event Event, reason FailureReason, refundReason RefundReason,
	now time.Time) (Decision, error) {
	next, err := t.transition(event, reason, now)
	if err != nil {
		return Decision{}, err
	}
	next.fundedBy(r)
	next.openRefund(refundReason, now)
	return Decision{
		Transaction: next,
		Postings:    []ledger.Posting{next.received(r.Amount, r.At), next.refundOwed(now)},
		Events:      next.eventNames(t.State),
		Next:        StepRefund,
	}, nil
}

func (t Transaction) reverseAndRefund(event Event, reason FailureReason, refundReason RefundReason, now time.Time) (Decision, error) {
	next, err := t.transition(event, reason, now)
	if err != nil {
		return Decision{}, err
	}
	next.openRefund(refundReason, now)
	var postings []ledger.Posting
	if event == Return {
		postings = append(postings, next.returned(now))
	}
	return Decision{
		Transaction: next,
		Postings:    append(postings, next.conversionReversed(now), next.refundOwed(now)),
		Events:      next.eventNames(t.State),
		Next:        StepRefund,
	}, nil
}

// RefundPaid completes a refund; to is the ledger path to which it was paid.
func (t Transaction) RefundPaid(to string, now time.Time) (Decision, error) {
	next, err := t.transition(PayRefund, "", now)
	if err != nil {
		return Decision{}, err
	}
	next.settleRefund(next.UpdatedAt)
	return Decision{Transaction: next, Postings: []ledger.Posting{next.refundPaid(to, now)}, Events: next.eventNames(t.State)}, nil
}

// RefundFailed ends a refund that could not be paid.
func (t Transaction) RefundFailed(now time.Time) (Decision, error) {
	next, err := t.transition(FailRefund, "", now)
	if err != nil {
		return Decision{}, err
	}
	return Decision{Transaction: next, Postings: []ledger.Posting{next.refundFailed(now)}, Events: next.eventNames(t.State)}, nil
}

// RefundStatus returns what has become of the refund: of the one that a person has sent again, if the first one failed.
func (t Transaction) RefundStatus() RefundStatus {
	if t.Refund != nil && t.Refund.Again != NoRefund {
		return t.Refund.Again
	}
	return t.State.Refund
}

// afterFailedRefund lists what can become of a refund that has failed. Its payer may also get the money because their bank takes it back.
// The postings are those of the receipt that is sent back, so the state of the transaction stays as it is.
var afterFailedRefund = map[RefundStatus][]RefundStatus{
	NoRefund:      {RefundPending, RefundCompleted},
	RefundPending: {RefundCompleted, RefundUnpaid},
	RefundUnpaid:  {RefundCompleted},
}

// RefundAgain records what has become of a failed refund that was sent again. A repeated call changes nothing. Fault: CONFLICT.
func (t Transaction) RefundAgain(to RefundStatus, now time.Time) (Decision, error) {
	if t.State.Refund != RefundUnpaid {
		return Decision{}, fault.New(fault.Conflict, "%s is %s, so its refund cannot be sent again", t.ID, t.State)
	}
	from := t.Refund.Again
	if from == to {
		return Decision{Transaction: t}, nil
	}
	if !slices.Contains(afterFailedRefund[from], to) {
		return Decision{}, fault.New(fault.Conflict, "the refund of %s, sent again, is %s and cannot become %s", t.ID, from, to)
	}
	t.touch(now)
	again := *t.Refund
	again.Again = to
	t.Refund = &again
	if to == RefundCompleted {
		t.settleRefund(t.UpdatedAt)
	}
	return Decision{Transaction: t, Events: []string{t.refundEvent()}}, nil
}

func (t *Transaction) openRefund(refundReason RefundReason, now time.Time) {
	t.Refund = &Refund{Reference: RefundReference(t.ID, t.Reference), Amount: t.Refundable(), Reason: refundReason, InitiatedAt: now}
}

func (t *Transaction) settleRefund(now time.Time) {
	settled := *t.Refund
	settled.SettledAt = now
	t.Refund = &settled
}

// Refundable returns the amount that the payer is refunded if the transaction ends early.
func (t Transaction) Refundable() money.Amount {
	if t.Funded.Minor > 0 {
		return t.Funded
	}
	return t.Pricing.Sent
}

// RefundsInside reports whether an amount that was paid in for the transaction is refunded to an account of its customer, because it
// came over a chain or a network on which nobody sees who has paid. Its customer is the payer of an outgoing payment only: what an
// incoming one has brought belongs to somebody else.
func (t Transaction) RefundsInside(paid money.Amount) bool {
	return t.Type == Outgoing && paid.Currency.IsCrypto()
}

// maxRefundedReference is how much of the payer's reference is part of that of the refund, in bytes,
// because rails limit it.
const maxRefundedReference = 100

// RefundReference returns the reference that the payer sees on the refund: of the quote, or as much of
// what the payer wrote as a rail takes.
func RefundReference(id ident.Transaction, reference string) string {
	reference = ledger.MemoOf(reference)
	if len(reference) > maxRefundedReference {
		reference = strings.ToValidUTF8(reference[:maxRefundedReference], "")
	}
	if reference == "" {
		reference = id.UUID().String()
	}
	return reference + "-REFUND"
}
