package transaction

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
	// StepRefund: refund the payer.
	StepRefund Step = "refund"
	// StepSendBack: return a receipt that belongs to no transaction.
	StepSendBack Step = "send-back"
	// StepExpire: end quotes that were not paid.
	StepExpire Step = "expire"
	// StepCheckReturn: check with the rail whether a delivered payout was returned.
	StepCheckReturn Step = "check-return"
)

// CanDiscard reports whether a job of the step can be given up without stranding money: its
// transactions are final, so at most a return is not noticed, or money stays on a balance. A receipt
// must always be sent back.
func (s Step) CanDiscard(subjects []Transaction) bool {
	if s == StepSendBack {
		return false
	}
	for _, t := range subjects {
		if !t.State.IsFinal() {
			return false
		}
	}
	return true
}
