package sandbox

import (
	"maps"
	"slices"

	"causeway/core/account"
	"causeway/core/verification"
)

// Listed is a test value with where it is given and what happens then, as a person reads it.
type Listed struct{ Where, Value, Then string }

var scenarioTexts = map[Scenario]string{
	InsufficientFunds: "fails at once: not enough money", AccountClosed: "fails at once: the account is closed",
	RejectedByBank: "is refused by the bank", PendingThenFails: "is pending, and fails after " + PendingTime.String(),
	TakenBack:      "is collected, and taken back after " + ReturnDelay.String(),
	ExecutionFails: "fails when it is executed, and is refunded", CompletesLate: "completes after " + LongPaymentTime.String(),
	Reviewed:      "is reviewed, and completes after " + LongPaymentTime.String(),
	DeliveryFails: "is refused by the receiving institution, and refunded",
	Returned:      "completes, and is returned after " + ReturnDelay.String(), CancelledByUser: "is cancelled before it is delivered",
	RefundFails: "fails, and so does its refund", Succeeds: "succeeds",
	AccountInvalid: "is refused: the account is invalid", AccountCannotReceive: "is refused: the account cannot receive it",
	ComplianceRejected: "is refused for compliance", LimitExceeded: "is refused: it exceeds a limit",
	RateUnavailable: "is refused: there is no rate any more",
	PendingLong:     "completes late", ComplianceFails: "is refused for compliance",
}

var beneficiaryTexts = map[account.VerificationStatus]string{
	account.NotMatched: "the name does not match", account.PartialMatch: "the name matches in part",
	account.VerificationPending: "the check of the name is pending", account.Unsupported: "names cannot be checked there",
	account.CheckedByReceivingFI: "the receiving institution checks the name",
}

var verdictTexts = map[verification.Verdict]string{
	verification.InReview: "waits for a review", verification.Refused: "is rejected", verification.Correctable: "has to be corrected",
}

// List returns all test values. Every other value succeeds.
func List() (all []Listed) {
	add := func(where, value, then string) { all = append(all, Listed{where, value, then}) }
	for _, digits := range slices.Sorted(maps.Keys(quoteScenarios)) {
		add("the last digits of the account that a quote pays", digits, "the payment "+scenarioTexts[quoteScenarios[digits]])
	}
	for _, digits := range slices.Sorted(maps.Keys(transferScenarios)) {
		add("the last digits of the account of a transfer in or out", digits, "the transfer "+scenarioTexts[transferScenarios[digits]])
	}
	add("the last digits of a new external account", unknownAccountSuffix, "there is no such account")
	for _, digits := range slices.Sorted(maps.Keys(beneficiaryOutcomes)) {
		add("the last digits of a new external account", digits, beneficiaryTexts[beneficiaryOutcomes[digits]])
	}
	for _, digits := range slices.Sorted(maps.Keys(identityVerdicts)) {
		add("the end of the name of a customer, or of the registration number of a business", digits, "the verification "+
			verdictTexts[identityVerdicts[digits]])
	}
	for _, address := range slices.Sorted(maps.Keys(people)) {
		add("a UMA address at the simulated provider", address, "the payment "+scenarioTexts[people[address].Scenario])
	}
	add("the last digits of the address of a wallet", failedLivenessSuffix, "its owner fails a liveness check")
	add("the signature that proves who owns an external wallet", WalletSignature, "is valid")
	add("a one-time code of a wallet", WalletCode, "is right")
	add("a code of strong customer authentication", SCACode, "is right")
	add("the signature of a passkey", WalletPasskeySignature, "is valid")
	add("the ID token of a credential", WalletIDToken, "is valid")
	add("the header of a signed request of a wallet", WalletSignature, "is valid")
	return all
}
