package transaction

import (
	"slices"

	"causeway/core/rail"
	"causeway/ledger"
)

// Step is the work that follows a decision, in a job of its own.
type Step string

// The steps.
const (
	// NoStep: no work follows.
	NoStep Step = ""
	// StepDeliver: send the payout to the rail and settle the outcome.
	StepDeliver Step = "deliver"
	// StepCollect: debit an external account.
	StepCollect Step = "collect"
	// StepDebitWallet: transfer what the owner of a wallet signed for on its chain.
	StepDebitWallet Step = "debit-wallet"
	// StepCreditWallet: transfer a payment to a wallet on its chain.
	StepCreditWallet Step = "credit-wallet"
	// StepSettleWallet: transfer to a wallet on its chain what a payment to a UMA address has credited.
	StepSettleWallet Step = "settle-wallet"
	// StepRefund: refund the payer.
	StepRefund Step = "refund"
	// StepSendBack: return a receipt that belongs to no transaction.
	StepSendBack Step = "send-back"
	// StepExpire: end quotes that were not paid.
	StepExpire Step = "expire"
	// StepCheckReturn: check with the rail whether a delivered payout was returned.
	StepCheckReturn Step = "check-return"
	// StepCheckCollection: check with the rail whether the payer's bank has taken a collection back.
	StepCheckCollection Step = "check-collection"
	// StepCallAgain: there is news of a payment, so call the rail about it, whatever its state is then.
	StepCallAgain Step = "call-again"
)

// RailSteps returns the steps in which a rail is called about the transaction in its present state, in the order in which
// they are settled; none for what no rail moves. Money that comes back is called about for good: a partner may
// report it after weeks.
func (t Transaction) RailSteps() []Step {
	flow := t.Flow()
	switch {
	case t.Type == Incoming && flow.Funding == Pull && t.IncomingState() == AwaitingFunds:
		return []Step{StepPull}
	case t.Type == Outgoing && flow.Funding == Pull && t.State == State{Status: Processing}:
		return []Step{StepCollect}
	}
	var steps []Step
	switch {
	case t.State.Refund == RefundPending && flow.Funding != Wallet:
		steps = append(steps, StepRefund)
	case t.Type == Incoming:
	case flow.ToWallet, flow.Internal, t.DestinationAccount == ledger.TransitInternal: // paid without a rail
	case t.State.InTransit():
		steps = append(steps, StepDeliver)
	case t.State.IsDelivered():
		steps = append(steps, StepCheckReturn)
	}
	if t.HasCollected() {
		steps = append(steps, StepCheckCollection)
	}
	return steps
}

// HasCollected reports whether the money of the transaction was collected from an external account.
func (t Transaction) HasCollected() bool {
	return t.Flow().Funding == Pull && t.State.Stage != NoFundsMoved
}

// PayoutEnd returns how the payout of the transaction over a rail has ended; empty if it has not, or if no rail was called about
// it.
func (t Transaction) PayoutEnd() rail.State {
	flow := t.Flow()
	switch {
	case t.Type == Incoming || flow.ToWallet || flow.Internal || t.DestinationAccount == ledger.TransitInternal:
		return ""
	case t.State.IsDelivered():
		return rail.Done
	case t.State.Status == Failed && t.State.Stage == Delivered:
		return rail.Returned
	case t.State.Status == Failed && t.State.Stage == Converted:
		return rail.Refused
	}
	return ""
}

// CollectionEnd returns how the collection of the transaction has ended; empty if it has not, or if there is none.
func (t Transaction) CollectionEnd() rail.State {
	switch {
	case t.Flow().Funding != Pull:
		return ""
	case t.HasCollected():
		return rail.Done
	case t.State.Status == Failed && t.State.Reason != SCANotCompleted:
		return rail.Refused
	}
	return ""
}

// RefundEnd returns how the refund of the transaction has ended; empty if it has not, or if there is none.
func (t Transaction) RefundEnd() rail.State {
	switch t.State.Refund {
	case RefundCompleted:
		return rail.Done
	case RefundUnpaid:
		return rail.Refused
	default:
		return ""
	}
}

// WalletSteps returns the steps in which coins of embedded wallets move on their chain.
func WalletSteps() []Step {
	return []Step{StepDebitWallet, StepCreditWallet, StepSettleWallet, StepRefund}
}

// MovesCoins reports whether coins of an embedded wallet move on their chain in a step of a transaction.
func (s Step) MovesCoins(t Transaction) bool {
	return slices.Contains(WalletSteps(), s) && (s != StepRefund || t.Flow().Funding == Wallet)
}

// CanDiscard reports whether a job of the step can be given up without stranding money: its
// transactions are final, so at most a return is not noticed, or money stays on a balance. A receipt
// must always be sent back, and a wallet must get on its chain what it was credited.
func (s Step) CanDiscard(subjects []Transaction) bool {
	switch s {
	case StepSendBack, StepSettleWallet: // what the books have is not where they have it
		return false
	case StepCallAgain: // the job of the step of the payment is there too
		return true
	default:
	}
	for _, t := range subjects {
		if !t.State.IsFinal() {
			return false
		}
	}
	return true
}
