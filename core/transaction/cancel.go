package transaction

import (
	"time"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/rail"
)

// BankPayment is the payment of a bank that a transaction waits for.
type BankPayment struct {
	Kind   rail.Kind // a payout or a collection
	Rail   corridor.Rail
	Amount money.Amount
}

// IsCancelled reports whether the transaction was cancelled.
func (t Transaction) IsCancelled() bool { return t.State.Reason == UserCancellation }

// Cancellable returns the payment of a bank that has to be stopped before the transaction can be cancelled. Faults: INVALID_INPUT
// if no bank carries it, TRANSACTION_NOT_CANCELLABLE if it is not on its way.
func (t Transaction) Cancellable() (BankPayment, error) {
	stops := BankPayment{rail.Payout, t.DestinationRail, t.Pricing.Received}
	collects := t.Flow().Funding == Pull
	if collects && (t.Type == Incoming || t.State.Stage == NoFundsMoved) {
		stops = BankPayment{rail.Collection, t.SourceRail, t.Pricing.Sent}
	}
	if t.Type == Incoming && !collects || t.Source.UMA != "" || t.Destination.UMA != "" || stops.Rail == "" || stops.Rail.IsChain() {
		return BankPayment{}, fault.Invalid(fault.Field{Field: "transactionId", Message: "must be a transfer that a bank carries, such as by " +
			"ACH or wire: no other payment can be cancelled"})
	}
	switch {
	case t.Type == Outgoing && t.State == Initial:
		return BankPayment{}, notCancellable("The quote of the transaction was not paid, so there is nothing to cancel. It expires at %s.",
			t.ExpiresAt.Format(time.RFC3339))
	case stops.Kind == rail.Payout && t.State.InTransit(), t.Type == Outgoing && collects && t.State == State{Status: Processing},
		t.Type == Incoming && t.IncomingState() == AwaitingFunds:
		return stops, nil
	case t.Flow().Funding == Wallet && t.State == State{Status: Processing}:
		return BankPayment{}, notCancellable("The money of the wallet is on its way on its chain, which cannot be stopped. Once it has " +
			"arrived, the transaction can be cancelled by another request, until its payout leaves.")
	}
	return BankPayment{}, notCancellable("The transaction is %s, and can no longer be cancelled.", t.State)
}

// NotStopped is the fault of a transaction whose payment has left, or is not known to be still here.
func (t Transaction) NotStopped() error {
	return notCancellable("The transaction has left, and can no longer be cancelled. Ask the beneficiary to send the money back.")
}

func notCancellable(format string, args ...any) error {
	return fault.New(fault.TransactionNotCancellable, format, args...)
}

// Cancel ends a transaction whose payment was stopped. What was collected, or debited from an account, is refunded in full, fees
// included.
func (t Transaction) Cancel(now time.Time) (Decision, error) {
	switch {
	case t.Type == Incoming:
		return t.Failed(UserCancellation, now)
	case t.Flow().Funding == Pull && t.State == State{Status: Processing}:
		return t.CollectionFailed(UserCancellation, now)
	}
	return t.reverseAndRefund(Cancel, UserCancellation, RefundCancellation, now)
}
