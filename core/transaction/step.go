package transaction

// Step is what has to follow after a decision, outside of its unit of work.
type Step string

// The steps.
const (
	// NoStep: nothing follows.
	NoStep Step = ""
	// StepDeliver: hand the payout to the rail and settle what it answers.
	StepDeliver Step = "deliver"
	// StepCollect: ask an external account for the money.
	StepCollect Step = "collect"
	// StepRefund: send the money back to the payer.
	StepRefund Step = "refund"
	// StepSendBack: send a receipt back that no transaction wants.
	StepSendBack Step = "send-back"
	// StepExpire: end quotes that nobody paid.
	StepExpire Step = "expire"
	// StepCheckReturn: ask the rail whether a delivered payout came back.
	StepCheckReturn Step = "watch"
)
