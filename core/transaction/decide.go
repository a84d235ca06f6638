package transaction

import (
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

// Decision is what follows from something that happened: the transaction as it is
// then, the postings and events that go with it, and the step that comes next.
type Decision struct {
	Transaction Transaction
	Postings    []ledger.Posting
	// Events are the dotted names to tell, in order.
	Events []string
	Next   Step
	// Due is when Next is; zero for at once.
	Due time.Time
}

// Receive decides about money that arrived with this transaction's reference. The
// rail it came by and the amount are the receipt's.
func (t Transaction) Receive(r Receipt, now time.Time) (Decision, error) {
	switch {
	case t.State.Status != Pending && t.State != (State{Status: Expired}), t.Flow().Funding != JustInTime:
		// It has its money, or has it from elsewhere: this is a further payment, and goes
		// back on its own.
		return Decision{Transaction: t, Postings: r.Surplus(), Next: StepSendBack}, nil
	case t.State.Status == Expired || !now.Before(t.ExpiresAt):
		return t.refundReceipt(r, FundLate, "", RefundTimeout, now)
	case r.Amount != t.Pricing.Sent:
		return t.refundReceipt(r, FundWrongAmount, FundingAmountMismatch, RefundFailed, now)
	}
	next, err := t.transition(Fund, "", now)
	if err != nil {
		return Decision{}, err
	}
	next.Funded, next.SourceAccount = r.Amount, r.PartnerAccount
	return t.dispatch(next, now, next.received(r.Amount, r.At), next.converted(now))
}

// dispatch decides about money that was set on its way: one that stays in the house
// has arrived, any other is to be delivered.
func (t Transaction) dispatch(next Transaction, now time.Time, postings ...ledger.Posting) (Decision, error) {
	d := Decision{Transaction: next, Postings: postings, Events: next.eventNames(t.State), Next: StepDeliver}
	if !next.Flow().Internal {
		return d, nil
	}
	arrived, err := next.transition(Deliver, "", now)
	if err != nil {
		return Decision{}, err
	}
	arrived.SettledAt = arrived.UpdatedAt
	d.Transaction, d.Events, d.Next = arrived, append(d.Events, arrived.eventNames(next.State)...), NoStep
	return d, nil
}

// Execute runs a quote that an account pays, when it is ordered. An internal account
// pays at once; whether it can is the caller's to look up first, and an external one
// is asked. Faults: QUOTE_EXPIRED, QUOTE_ALREADY_EXECUTED, QUOTE_NOT_EXECUTABLE.
func (t Transaction) Execute(now time.Time) (Decision, error) {
	if err := t.checkExecutable(now); err != nil {
		return Decision{}, err
	}
	if t.Flow().Funding == Pull {
		next, err := t.transition(Collect, "", now)
		if err != nil {
			return Decision{}, err
		}
		return Decision{Transaction: next, Events: next.eventNames(t.State), Next: StepCollect}, nil
	}
	next, err := t.transition(Execute, "", now)
	if err != nil {
		return Decision{}, err
	}
	return t.dispatch(next, now, next.converted(now))
}

func (t Transaction) checkExecutable(now time.Time) error {
	switch {
	case t.State.Status == Expired || t.State == Initial && !now.Before(t.ExpiresAt):
		return fault.New(fault.QuoteExpired, "The quote expired at %s. Create a new one.", t.ExpiresAt.Format(time.RFC3339))
	case t.State != Initial:
		return fault.New(fault.QuoteAlreadyExecuted, "The quote has run; its transaction is %s.", t.State)
	case t.Flow().Funding == JustInTime:
		return &fault.Error{Code: fault.QuoteNotExecutable, Reason: "Just-in-time funded quote",
			Message: "This quote runs by itself when its payment arrives. Pay it by its paymentInstructions, with the exact reference and amount."}
	}
	return nil
}

// Collected sets out with money that an external account has given.
func (t Transaction) Collected(now time.Time) (Decision, error) {
	if t.Flow().Funding != Pull || t.State.Status != Processing {
		return Decision{}, fault.New(fault.Conflict, "nothing is being collected for %s, which is %s", t.ID, t.State)
	}
	next, err := t.transition(Fund, "", now)
	if err != nil {
		return Decision{}, err
	}
	next.Funded = t.Pricing.Sent
	return t.dispatch(next, now, next.received(t.Pricing.Sent, now), next.converted(now))
}

// CollectionFailed ends a transaction whose money an external account did not give.
func (t Transaction) CollectionFailed(reason FailureReason, now time.Time) (Decision, error) {
	next, err := t.transition(FailCollection, reason, now)
	if err != nil {
		return Decision{}, err
	}
	return Decision{Transaction: next, Events: next.eventNames(t.State)}, nil
}

// StartTransfer begins a transfer out: the money leaves the account that pays as soon as the
// transfer is made.
func (t Transaction) StartTransfer(now time.Time) Decision {
	t.State = TransferInitial
	return Decision{Transaction: t, Postings: []ledger.Posting{t.converted(now)}, Events: t.eventNames(State{}), Next: StepDeliver}
}

// Submitted notes that the rail has taken a transfer on; a payment that is with it
// already stays as it is.
func (t Transaction) Submitted(now time.Time) (Decision, error) {
	if t.State.Status != Pending {
		return Decision{Transaction: t}, nil
	}
	next, err := t.transition(Submit, "", now)
	if err != nil {
		return Decision{}, err
	}
	return Decision{Transaction: next, Events: next.eventNames(t.State)}, nil
}

// refundReceipt takes the money in and owes it back at once.
func (t Transaction) refundReceipt(r Receipt, h Event, reason FailureReason, why RefundReason, now time.Time) (Decision, error) {
	next, err := t.transition(h, reason, now)
	if err != nil {
		return Decision{}, err
	}
	next.Funded, next.SourceAccount = r.Amount, r.PartnerAccount
	next.openRefund(why, now)
	return Decision{
		Transaction: next,
		Postings:    []ledger.Posting{next.received(r.Amount, r.At), next.refundOwed(now)},
		Events:      next.eventNames(t.State),
		Next:        StepRefund,
	}, nil
}

// ExpireAt ends the transaction when its time has passed without money.
func (t Transaction) ExpireAt(now time.Time) (Decision, error) {
	if now.Before(t.ExpiresAt) {
		return Decision{}, fault.New(fault.Conflict, "%s expires at %s, not before", t.ID, t.ExpiresAt.Format(time.RFC3339))
	}
	next, err := t.transition(Expire, "", now)
	if err != nil {
		return Decision{}, err
	}
	return Decision{Transaction: next, Events: next.eventNames(t.State)}, nil
}

// Deliver settles a payout that reached its beneficiary.
func (t Transaction) Deliver(now time.Time) (Decision, error) {
	next, err := t.transition(Deliver, "", now)
	if err != nil {
		return Decision{}, err
	}
	next.SettledAt = next.UpdatedAt
	return Decision{Transaction: next, Postings: []ledger.Posting{next.delivered(now)}, Events: next.eventNames(t.State)}, nil
}

// Refuse ends a payout that cannot be delivered: the conversion is undone and the
// payer gets back all that was paid, fees included.
func (t Transaction) Refuse(reason FailureReason, now time.Time) (Decision, error) {
	return t.reverseAndRefund(Refuse, reason, RefundFailed, now)
}

// Cancel ends a payout that the user took back while it was on its way.
func (t Transaction) Cancel(now time.Time) (Decision, error) {
	return t.reverseAndRefund(Cancel, "", RefundCancellation, now)
}

// Return takes back a payout that the beneficiary's bank sent back.
func (t Transaction) Return(now time.Time) (Decision, error) {
	if t.Flow().Internal {
		return Decision{}, fault.New(fault.Conflict, "%s went to an account in the house; no bank returns it", t.ID)
	}
	return t.reverseAndRefund(Return, CounterpartyPostFailed, RefundFailed, now)
}

func (t Transaction) reverseAndRefund(h Event, reason FailureReason, why RefundReason, now time.Time) (Decision, error) {
	next, err := t.transition(h, reason, now)
	if err != nil {
		return Decision{}, err
	}
	next.openRefund(why, now)
	var postings []ledger.Posting
	if h == Return {
		postings = append(postings, next.returned(now))
	}
	return Decision{
		Transaction: next,
		Postings:    append(postings, next.conversionReversed(now), next.refundOwed(now)),
		Events:      next.eventNames(t.State),
		Next:        StepRefund,
	}, nil
}

// RefundPaid settles a refund; to is the ledger path the money went to.
func (t Transaction) RefundPaid(to string, now time.Time) (Decision, error) {
	next, err := t.transition(PayRefund, "", now)
	if err != nil {
		return Decision{}, err
	}
	next.settleRefund(next.UpdatedAt)
	return Decision{Transaction: next, Postings: []ledger.Posting{next.refundPaid(to, now)}, Events: next.eventNames(t.State)}, nil
}

// RefundFailed ends a refund that could not be sent back.
func (t Transaction) RefundFailed(now time.Time) (Decision, error) {
	next, err := t.transition(FailRefund, "", now)
	if err != nil {
		return Decision{}, err
	}
	return Decision{Transaction: next, Postings: []ledger.Posting{next.refundFailed(now)}, Events: next.eventNames(t.State)}, nil
}

// transition takes the transaction to its next state. Its times only go forward, a
// millisecond at least, so that what is told of it sorts in order.
func (t Transaction) transition(h Event, reason FailureReason, now time.Time) (Transaction, error) {
	state, err := t.State.Next(h, reason)
	if err != nil {
		return t, err
	}
	t.State = state
	if earliest := t.UpdatedAt.Add(time.Millisecond); now.Before(earliest) {
		now = earliest
	}
	t.UpdatedAt = now
	return t, nil
}

func (t *Transaction) openRefund(why RefundReason, now time.Time) {
	t.Refund = &Refund{Reference: RefundReference(t.ID, t.Reference), Amount: t.Refundable(), Reason: why, InitiatedAt: now}
}

func (t *Transaction) settleRefund(at time.Time) {
	settled := *t.Refund
	settled.SettledAt = at
	t.Refund = &settled
}

// Refundable is what the payer gets back if the transaction ends early: what came.
func (t Transaction) Refundable() money.Amount {
	if t.Funded.Minor > 0 {
		return t.Funded
	}
	return t.Pricing.Sent
}

// RefundReference is what the payer sees on the refund.
func RefundReference(id ident.Transaction, reference string) string {
	if reference == "" {
		reference = id.UUID().String()
	}
	return reference + "-REFUND"
}
