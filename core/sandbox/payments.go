package sandbox

import "time"

// Scenario is what happens to a payment.
type Scenario string

// Succeeds is what happens when an identifier says nothing else.
const Succeeds Scenario = ""

// What can happen to a transfer in or out. The first two fail at once.
const (
	InsufficientFunds Scenario = "INSUFFICIENT_FUNDS"
	AccountClosed     Scenario = "ACCOUNT_CLOSED"
	RejectedByBank    Scenario = "REJECTED_BY_BANK"
	// PendingThenFails stays pending for PendingTime, then fails.
	PendingThenFails Scenario = "PENDING_THEN_FAILS"
)

// What can happen to a quote that pays an external account, after its execution.
const (
	// ExecutionFails: the conversion fails, and the payer is refunded.
	ExecutionFails Scenario = "EXECUTION_FAILS"
	// CompletesLate: it takes LongPayment.
	CompletesLate Scenario = "COMPLETES_LATE"
	// DeliveryFails: the receiving side refuses, and the payer is refunded.
	DeliveryFails Scenario = "DELIVERY_FAILS"
	// Returned: it completes, and after ReturnDelay the receiving bank sends it back.
	Returned Scenario = "RETURNED"
	// CancelledByUser: the user takes it back while it is on its way.
	CancelledByUser Scenario = "CANCELLED_BY_USER"
	// RefundFails: the payout fails, and so does the refund.
	RefundFails Scenario = "REFUND_FAILS"
)

// How long things take.
const (
	PendingTime     = 30 * time.Second
	LongPaymentTime = 6 * time.Minute
	// ReturnDelay is short, so that nobody has to wait days for a bank return.
	ReturnDelay = 5 * time.Second
)

var transferScenarios = map[string]Scenario{
	"002": InsufficientFunds,
	"003": AccountClosed,
	"004": RejectedByBank,
	"005": PendingThenFails,
}

var quoteScenarios = map[string]Scenario{
	"002": ExecutionFails,
	"003": CompletesLate,
	"004": DeliveryFails,
	"005": Returned,
	"006": CancelledByUser,
	"007": RefundFails,
}

// TransferScenario returns what happens to a transfer in from, or out to, the account
// with the identifier.
func TransferScenario(identifier string) Scenario { return transferScenarios[suffix(identifier)] }

// QuoteScenario returns what happens to a quote that pays the account with the identifier.
func QuoteScenario(identifier string) Scenario { return quoteScenarios[suffix(identifier)] }
