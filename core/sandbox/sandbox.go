// Package sandbox defines the test values of the sandbox and their outcomes. No other
// package defines test values.
//
// The sandbox adapters simulate the outcomes. Production platforms never use those adapters,
// so test values have no effect there.
package sandbox

import (
	"strings"
	"time"

	"causeway/core/transaction"
)

// suffix returns the last three characters of an identifier if they are digits, else the empty
// string. Of an identifier with a domain (name@domain) it uses the name.
func suffix(identifier string) string {
	name, _, _ := strings.Cut(identifier, "@")
	return lastDigits(name)
}

func lastDigits(text string) string {
	if len(text) < 3 {
		return ""
	}
	last := text[len(text)-3:]
	for _, c := range []byte(last) {
		if c < '0' || c > '9' {
			return ""
		}
	}
	return last
}

// IsTestValue reports whether an account identifier ends in digits with an outcome. The check
// digits of such a value need not be valid.
func IsTestValue(identifier string) bool {
	digits := suffix(identifier)
	_, beneficiary := beneficiaryOutcomes[digits]
	return beneficiary || digits == failedLivenessSuffix || quoteScenarios[digits] != Succeeds || transferScenarios[digits] != Succeeds ||
		digits == unknownAccountSuffix
}

// Scenario is the simulated course of a payment.
type Scenario string

// Succeeds is the scenario of all other identifiers.
const Succeeds Scenario = ""

// The scenarios of transfers in and out. The first two fail at once.
const (
	InsufficientFunds Scenario = "INSUFFICIENT_FUNDS"
	AccountClosed     Scenario = "ACCOUNT_CLOSED"
	RejectedByBank    Scenario = "REJECTED_BY_BANK"
	// PendingThenFails is pending for PendingTime, then fails.
	PendingThenFails Scenario = "PENDING_THEN_FAILS"
	// TakenBack: it is collected, and after ReturnDelay the payer's bank takes it back. Only money that is collected.
	TakenBack Scenario = "TAKEN_BACK"
)

// The scenarios of quotes that pay an external account, after their execution.
const (
	// ExecutionFails: the conversion fails, and the payer is refunded.
	ExecutionFails Scenario = "EXECUTION_FAILS"
	// CompletesLate: it takes LongPaymentTime.
	CompletesLate Scenario = "COMPLETES_LATE"
	// Reviewed: an operator reviews it for LongPaymentTime, and it completes.
	Reviewed Scenario = "REVIEWED"
	// DeliveryFails: the receiving institution refuses, and the payer is refunded.
	DeliveryFails Scenario = "DELIVERY_FAILS"
	// Returned: it completes, and after ReturnDelay the receiving bank returns it.
	Returned Scenario = "RETURNED"
	// CancelledByUser: the user cancels it before delivery.
	CancelledByUser Scenario = "CANCELLED_BY_USER"
	// RefundFails: the payout fails, and so does the refund.
	RefundFails Scenario = "REFUND_FAILS"
)

// The scenarios of all payments to an account: each is refused for a reason of its own. ComplianceRejected is that of collections too.
const (
	AccountInvalid       Scenario = "ACCOUNT_INVALID"
	AccountCannotReceive Scenario = "ACCOUNT_CANNOT_RECEIVE"
	ComplianceRejected   Scenario = "COMPLIANCE_REJECTED"
	LimitExceeded        Scenario = "LIMIT_EXCEEDED"
	// RateUnavailable is that of quotes only.
	RateUnavailable Scenario = "RATE_UNAVAILABLE"
)

// Reason returns the reason of a payout that is refused in the scenario; empty for others.
func (s Scenario) Reason() transaction.FailureReason { return refusals[s] }

var refusals = map[Scenario]transaction.FailureReason{
	AccountInvalid: transaction.AccountInvalid, AccountCannotReceive: transaction.AccountCannotReceive,
	ComplianceRejected: transaction.ComplianceRejected, ComplianceFails: transaction.ComplianceRejected,
	LimitExceeded: transaction.LimitExceeded, RateUnavailable: transaction.QuoteRateUnavailable,
	ExecutionFails: transaction.QuoteExecutionFailed, DeliveryFails: transaction.CounterpartyPostFailed,
	RefundFails: transaction.CounterpartyPostFailed,
}

// The durations of scenarios.
const (
	PendingTime     = 30 * time.Second
	LongPaymentTime = 6 * time.Minute
	// ReturnDelay is short; a real return takes days.
	ReturnDelay = 5 * time.Second
)

var transferScenarios = map[string]Scenario{
	"002": InsufficientFunds,
	"003": AccountClosed,
	"004": RejectedByBank,
	"005": PendingThenFails,
	"006": TakenBack,
	"201": AccountInvalid,
	"202": AccountCannotReceive,
	"203": ComplianceRejected,
	"204": LimitExceeded,
}

var quoteScenarios = map[string]Scenario{
	"002": ExecutionFails,
	"003": CompletesLate,
	"004": DeliveryFails,
	"005": Returned,
	"006": CancelledByUser,
	"007": RefundFails,
	"009": Reviewed,
	"201": AccountInvalid,
	"202": AccountCannotReceive,
	"203": ComplianceRejected,
	"204": LimitExceeded,
	"205": RateUnavailable,
}

// TransferScenario returns the scenario of transfers in from, and out to, an account.
func TransferScenario(identifier string) Scenario { return transferScenarios[suffix(identifier)] }

// PayoutScenario returns the scenario of the payout of a quote, which its UMA address selects or, if it has
// none, the account that receives.
func PayoutScenario(umaAddress, identifier string) Scenario {
	if umaAddress != "" {
		return PersonScenario(umaAddress)
	}
	return QuoteScenario(identifier)
}

// QuoteScenario returns the scenario of quotes that pay an account.
func QuoteScenario(identifier string) Scenario { return quoteScenarios[suffix(identifier)] }
