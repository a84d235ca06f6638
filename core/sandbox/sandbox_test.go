package sandbox_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/sandbox"
)

// identifiers have the forms of all types of accounts; %s is replaced by the three digits.
var identifiers = []string{
	"1234567%s",                // account number
	"DE89370400440532013%s",    // IBAN
	"032180000118359%s",        // CLABE
	"+254712345%s",             // phone number
	"0xAb5801a7D398351b8bE1%s", // address on a chain
	"testuser.%s@example.com",  // e-mail as a PIX key
	"ana%s@okbank",             // UPI address
	"ana%s@pay999.example.com", // Lightning address on a host with digits
	"%s",                       // nothing else
	"%s@host",                  // nothing else before the host
}

func TestTransferScenario(t *testing.T) {
	// The last three digits of an account of any type decide the scenario of transfers.
	t.Parallel()
	want := map[string]sandbox.Scenario{
		"002": sandbox.InsufficientFunds, "003": sandbox.AccountClosed, "004": sandbox.RejectedByBank, "005": sandbox.PendingThenFails,
		"006": sandbox.TakenBack,
		"201": sandbox.AccountInvalid, "202": sandbox.AccountCannotReceive, "203": sandbox.ComplianceRejected, "204": sandbox.LimitExceeded,
		"205": sandbox.Succeeds,
		"000": sandbox.Succeeds, "001": sandbox.Succeeds, "007": sandbox.Succeeds, "102": sandbox.Succeeds, "999": sandbox.Succeeds,
	}
	for digits, scenario := range want {
		for _, shape := range identifiers {
			if identifier := fmt.Sprintf(shape, digits); sandbox.TransferScenario(identifier) != scenario {
				t.Errorf("%s: %q; want %q", identifier, sandbox.TransferScenario(identifier), scenario)
			}
		}
	}
}

func TestQuoteScenario(t *testing.T) {
	// The same three digits select other scenarios for quotes.
	t.Parallel()
	want := map[string]sandbox.Scenario{
		"002": sandbox.ExecutionFails, "003": sandbox.CompletesLate, "004": sandbox.DeliveryFails, "005": sandbox.Returned,
		"006": sandbox.CancelledByUser, "007": sandbox.RefundFails,
		"201": sandbox.AccountInvalid, "202": sandbox.AccountCannotReceive, "203": sandbox.ComplianceRejected, "204": sandbox.LimitExceeded,
		"205": sandbox.RateUnavailable,
		"000": sandbox.Succeeds, "001": sandbox.Succeeds, "008": sandbox.Succeeds, "105": sandbox.Succeeds,
	}
	for digits, scenario := range want {
		for _, shape := range identifiers {
			if identifier := fmt.Sprintf(shape, digits); sandbox.QuoteScenario(identifier) != scenario {
				t.Errorf("%s: %q; want %q", identifier, sandbox.QuoteScenario(identifier), scenario)
			}
		}
	}
}

func TestBeneficiaryOutcome(t *testing.T) {
	// The digits 1xx decide the result of verifying the beneficiary; 105 is an account that does not exist.
	t.Parallel()
	want := map[string]account.VerificationStatus{
		"102": account.NotMatched, "103": account.PartialMatch, "104": account.VerificationPending, "105": account.NotVerified,
		"106": account.Unsupported, "107": account.CheckedByReceivingFI,
		"101": account.Matched, "108": account.Matched, "000": account.Matched, "002": account.Matched,
	}
	for digits, status := range want {
		for _, shape := range identifiers {
			identifier := fmt.Sprintf(shape, digits)
			got, err := sandbox.BeneficiaryOutcome(identifier)
			if got != status || fault.Is(err, fault.InvalidBankAccount) != (digits == "105") || (err != nil) != (digits == "105") {
				t.Errorf("%s: %q, %v; want %q", identifier, got, err, status)
			}
		}
	}
}

func TestScenarios_SucceedWithoutThreeDigitSuffix(t *testing.T) {
	// An identifier that does not end in three digits has no scenario.
	t.Parallel()
	for _, identifier := range []string{"", "2", "02", "@", "a02", "00 2", "002a", "ana@bank002", "002@", "٠٠٢"} {
		name := identifier == "002@" // the name before the @ ends in 002
		if (sandbox.QuoteScenario(identifier) != sandbox.Succeeds) != name || (sandbox.TransferScenario(identifier) != sandbox.Succeeds) != name {
			t.Errorf("%q has a scenario: %v", identifier, !name)
		}
	}
}

func TestIsTestValue(t *testing.T) {
	// An identifier is a test value exactly if one of its outcomes is not the normal one.
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SampledFrom(identifiers).Draw(t, "shape")
		identifier := fmt.Sprintf(shape, fmt.Sprintf("%03d", rapid.IntRange(0, 210).Draw(t, "digits")))

		outcome, err := sandbox.BeneficiaryOutcome(identifier)
		normal := sandbox.QuoteScenario(identifier) == sandbox.Succeeds && sandbox.TransferScenario(identifier) == sandbox.Succeeds &&
			outcome == account.Matched && err == nil && sandbox.LivenessOutcome(identifier) == account.LivenessPassed

		if sandbox.IsTestValue(identifier) == normal {
			t.Fatalf("%s: test value %v, normal outcomes %v", identifier, sandbox.IsTestValue(identifier), normal)
		}
	})
}
