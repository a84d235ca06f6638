package transaction

import (
	"time"

	"causeway/core/fault"
	"causeway/core/wallet"
	"causeway/ledger"
)

// Decision is the result of an event: the transaction afterwards, the postings and events of the
// change, and the next step.
type Decision struct {
	Transaction Transaction
	Postings    []ledger.Posting
	// Events are the names of the events to emit, in order.
	Events []string
	Next   Step
	// Challenges: the payer is asked to authorise the payment, and nothing else happens.
	Challenges bool
	// Due is when Next is due; zero for at once.
	Due time.Time
}

// Receive applies a payment that was received with the reference of this transaction. It is late if it
// reached the partner after the quote expired, not if this service hears of it later.
func (t Transaction) Receive(r Receipt, p Parties, now time.Time) (Decision, error) {
	if t.isInvoiced() {
		return t.receiveInvoiced(r, p, now)
	}
	switch {
	case t.State != Initial && !t.isChallenged() && t.State != (State{Status: Expired}), t.Flow().Funding != JustInTime:
		// The transaction already has its money, or an account funds it: the payment is surplus
		// and is refunded separately.
		return Decision{Transaction: t, Postings: r.Surplus(), Next: StepSendBack}, nil
	case !r.At.Before(t.ExpiresAt):
		return t.refundReceipt(r, FundLate, "", RefundTimeout, now)
	case t.isChallenged():
		return t.refundReceipt(r, FundRefused, SCANotCompleted, RefundFailed, now)
	case r.Amount != t.Pricing.Sent:
		return t.refundReceipt(r, FundWrongAmount, FundingAmountMismatch, RefundFailed, now)
	case t.CheckParties(p) != nil:
		return t.refundReceipt(r, FundRefused, QuoteExecutionFailed, RefundFailed, now)
	}
	next, err := t.transition(Fund, "", now)
	if err != nil {
		return Decision{}, err
	}
	next.fundedBy(r)
	return t.dispatch(next, now, next.received(r.Amount, r.At), next.converted(now))
}

// StartsWith reports whether a decision about received funds sends the payment on.
func (t Transaction) StartsWith(d Decision) bool {
	return t.State != d.Transaction.State && (d.Transaction.State.Status == Processing || d.Transaction.State.Status == Completed)
}

// RefuseFunds records a payment that was received in time, and refunds it, because a limit of the platform does not allow to send it.
func (t Transaction) RefuseFunds(r Receipt, now time.Time) (Decision, error) {
	return t.refundReceipt(r, FundRefused, LimitExceeded, RefundFailed, now)
}

// fundedBy records the receipt of the money, its rail, its amount and who has sent it.
func (t *Transaction) fundedBy(r Receipt) {
	t.Receipt, t.Funded, t.Originator, t.SourceHash = r.ID, r.Amount, r.Originator, r.TransactionHash
	t.SourceRail, t.SourceAccount = r.Rail, r.Rail.LedgerPath()
}

// dispatch returns the decision about converted funds: a payment to an internal account is complete,
// and any other payment is to be delivered. Nothing is paid to a payee that was changed.
func (t Transaction) dispatch(next Transaction, now time.Time, postings ...ledger.Posting) (Decision, error) {
	if t.PayeeChanged {
		return Decision{}, t.ErrPayeeChanged()
	}
	d := Decision{Transaction: next, Postings: postings, Events: next.eventNames(t.State), Next: next.DeliveryStep()}
	if !next.Flow().Internal {
		return d, nil
	}
	completed, err := next.transition(Deliver, "", now)
	if err != nil {
		return Decision{}, err
	}
	completed.SettledAt = completed.UpdatedAt
	d.Transaction, d.Events, d.Next = completed, append(d.Events, completed.eventNames(next.State)...), NoStep
	return d, nil
}

// CollectionStep returns the step that collects the funds of an executed quote.
func (t Transaction) CollectionStep() Step {
	if t.Flow().Funding == Wallet {
		return StepDebitWallet
	}
	return StepCollect
}

// DeliveryStep returns the step that delivers the payment.
func (t Transaction) DeliveryStep() Step {
	if t.Flow().ToWallet {
		return StepCreditWallet
	}
	return StepDeliver
}

// Execute executes a quote that an account funds. An internal account is debited at once, after the
// caller has checked its balance; an external account is debited by its rail. A payer who still has to authorise the
// payment is challenged instead. Faults: QUOTE_EXPIRED,
// QUOTE_ALREADY_EXECUTED, QUOTE_NOT_EXECUTABLE, USER_NOT_READY, UNAUTHORIZED (an embedded wallet pays).
func (t Transaction) Execute(p Parties, now time.Time) (Decision, error) {
	if err := t.checkRunnable(p, now); err != nil {
		return Decision{}, err
	}
	if t.Authorization == AuthorizationRequired && t.fundedByAccount() {
		return t.challenge(now)
	}
	return t.execute(now)
}

// execute executes a quote whose parties were checked.
func (t Transaction) execute(now time.Time) (Decision, error) {
	switch t.Flow().Funding {
	case Wallet:
		return Decision{}, wallet.MissingSignature("An embedded wallet pays this quote. Have its owner sign payloadToSign of the quote's " +
			"paymentInstructions, and send the signature in the header Service-Wallet-Signature.")
	case Pull:
		next, err := t.transition(Collect, "", now)
		if err != nil {
			return Decision{}, err
		}
		return Decision{Transaction: next, Events: next.eventNames(t.State), Next: t.CollectionStep()}, nil
	default:
		next, err := t.transition(Execute, "", now)
		if err != nil {
			return Decision{}, err
		}
		return t.dispatch(next, now, next.converted(now))
	}
}

// ExecuteSigned executes a quote that an embedded wallet funds, and whose payload its owner has signed.
// The wallet is debited at once, after the caller has checked its balance, and the transfer on its chain
// follows. Faults: as of Execute.
func (t Transaction) ExecuteSigned(p Parties, now time.Time) (Decision, error) {
	if err := t.checkRunnable(p, now); err != nil {
		return Decision{}, err
	}
	if t.Flow().Funding != Wallet {
		return Decision{}, fault.New(fault.Conflict, "%s is not paid by a wallet, so that there is nothing to sign", t.ID)
	}
	next, err := t.transition(Collect, "", now)
	if err != nil {
		return Decision{}, err
	}
	return Decision{Transaction: next, Postings: []ledger.Posting{next.walletDebited(now)}, Events: next.eventNames(t.State),
		Next: t.CollectionStep()}, nil
}

func (t Transaction) checkRunnable(p Parties, now time.Time) error {
	if err := t.CheckExecutable(now); err != nil {
		return err
	}
	return t.CheckParties(p)
}

// CheckExecutable returns a fault if the quote of the transaction cannot be executed, with any parties:
// QUOTE_EXPIRED, QUOTE_ALREADY_EXECUTED or QUOTE_NOT_EXECUTABLE.
func (t Transaction) CheckExecutable(now time.Time) error {
	switch {
	case t.State.Status == Expired || t.Expires() && !now.Before(t.ExpiresAt) || t.State == State{Status: Failed, Reason: SCANotCompleted}:
		return fault.New(fault.QuoteExpired, "The quote expired at %s. Create a new one.", t.ExpiresAt.Format(time.RFC3339))
	case !t.Expires():
		return fault.New(fault.QuoteAlreadyExecuted, "The quote was already executed; its transaction is %s.", t.State)
	case t.Flow().Funding == JustInTime:
		return &fault.Error{Code: fault.QuoteNotExecutable, Reason: "Just-in-time funded quote",
			Message: "This quote is executed when its payment arrives. Follow its paymentInstructions, with the exact reference and amount."}
	case t.Flow().Funding == Wallet && t.isChallenged():
		return errNotRunnable("Not authorized", "The payer has not authorised this quote yet. Do so with POST /quotes/{quoteId}/authorize, and "+
			"execute the quote then.")
	}
	return nil
}

// Collected dispatches the funds that were collected from an external account, or transferred from a
// wallet on its chain.
func (t Transaction) Collected(now time.Time) (Decision, error) {
	funding := t.Flow().Funding
	if funding != Pull && funding != Wallet || t.State.Status != Processing {
		return Decision{}, fault.New(fault.Conflict, "%s is %s and is not collecting funds", t.ID, t.State)
	}
	next, err := t.transition(Fund, "", now)
	if err != nil {
		return Decision{}, err
	}
	next.Funded = t.Pricing.Sent
	if funding == Wallet { // which was debited at the execution
		return t.dispatch(next, now, next.converted(now))
	}
	return t.dispatch(next, now, next.received(t.Pricing.Sent, now), next.converted(now))
}

// CollectionFailed ends a transaction whose funds could not be collected. A wallet has its money again,
// so that there is nothing to refund.
func (t Transaction) CollectionFailed(reason FailureReason, now time.Time) (Decision, error) {
	next, err := t.transition(FailCollection, reason, now)
	if err != nil {
		return Decision{}, err
	}
	d := Decision{Transaction: next, Events: next.eventNames(t.State)}
	if t.Flow().Funding == Wallet {
		d.Postings = []ledger.Posting{next.walletDebitReversed(now)}
	}
	return d, nil
}

// StartTransfer starts a transfer out: the source account is debited at once. A payer who has to authorise the payment cannot do so
// here. Fault: CONFLICT.
func (t Transaction) StartTransfer(now time.Time) (Decision, error) {
	if t.Authorization == AuthorizationRequired {
		return Decision{}, ErrPayerAuthorizes
	}
	t.State = TransferInitial
	return Decision{Transaction: t, Postings: []ledger.Posting{t.converted(now)}, Events: t.eventNames(State{}), Next: StepDeliver}, nil
}

// Submitted records that the rail has accepted a transfer. It does not change a transfer that was
// accepted before.
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

// ExpireAt ends the transaction if it was not funded in time.
func (t Transaction) ExpireAt(now time.Time) (Decision, error) {
	if now.Before(t.ExpiresAt) {
		return Decision{}, fault.New(fault.Conflict, "%s expires at %s, not before", t.ID, t.ExpiresAt.Format(time.RFC3339))
	}
	if t.Type == Incoming {
		return t.declined(Lapse, QuoteExpired, now)
	}
	event, reason := Expire, FailureReason("")
	if t.isChallenged() {
		event, reason = LapseAuthorization, SCANotCompleted
	}
	next, err := t.transition(event, reason, now)
	if err != nil {
		return Decision{}, err
	}
	return Decision{Transaction: next, Events: next.eventNames(t.State)}, nil
}

// ExpireEarly ends the transaction of a quote that waits to be funded, as if the quote had expired by now. It is for the tests of
// sandbox platforms, and for payments that another one replaces, or that nobody can execute any more.
func (t Transaction) ExpireEarly(now time.Time) (Decision, error) {
	if !t.Expires() {
		return Decision{}, fault.New(fault.Conflict, "The transaction %s is %s, so its quote can no longer expire.", t.ID, t.State)
	}
	if now.Before(t.ExpiresAt) {
		t.ExpiresAt = now
	}
	return t.ExpireAt(now)
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

// Refuse ends a payout that cannot be delivered: the conversion is reversed, and the payer is
// refunded in full, fees included.
func (t Transaction) Refuse(reason FailureReason, now time.Time) (Decision, error) {
	return t.reverseAndRefund(Refuse, reason, RefundFailed, now)
}

// Return ends a delivered payout that the beneficiary's bank has returned.
func (t Transaction) Return(now time.Time) (Decision, error) {
	if flow := t.Flow(); flow.Internal || flow.ToWallet {
		return Decision{}, fault.New(fault.Conflict, "%s was paid to an internal account, which no bank returns", t.ID)
	}
	return t.reverseAndRefund(Return, PayoutReturned, RefundFailed, now)
}

// transition moves the transaction to its next state.
func (t Transaction) transition(event Event, reason FailureReason, now time.Time) (Transaction, error) {
	if err := t.checkAuthorized(event); err != nil {
		return t, err
	}
	state, err := t.State.Next(event, reason)
	if err != nil {
		return t, err
	}
	t.setState(state)
	t.touch(now)
	return t, nil
}

// touch increases UpdatedAt by at least a millisecond, so that events of the transaction can be sorted by time.
func (t *Transaction) touch(now time.Time) {
	if earliest := t.UpdatedAt.Add(time.Millisecond); now.Before(earliest) {
		now = earliest
	}
	t.UpdatedAt = now
}

// setState moves the transaction to a state. A payment that fails counts no more towards limits.
func (t *Transaction) setState(s State) {
	if t.State = s; s.Status != Failed {
		return
	}
	if u := t.AgentUsage; u != nil && !u.GivenBack {
		t.AgentUsage, t.StopsCounting = &AgentUsage{Day: u.Day, GivenBack: true}, true
	}
	if u := t.LimitUsage; u != nil && !u.GivenBack() {
		t.LimitUsage, t.StopsCounting = &LimitUsage{Day: u.Day}, true
	}
}
