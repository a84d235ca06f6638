package sandbox_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/sandbox"
)

// identifiers are of every shape an account has; %s takes the three digits.
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
	// The last three digits of an account, of whatever kind, decide over transfers.
	t.Parallel()
	want := map[string]sandbox.Scenario{
		"002": sandbox.InsufficientFunds, "003": sandbox.AccountClosed, "004": sandbox.RejectedByBank, "005": sandbox.PendingThenFails,
		"000": sandbox.Succeeds, "001": sandbox.Succeeds, "006": sandbox.Succeeds, "007": sandbox.Succeeds, "102": sandbox.Succeeds, "999": sandbox.Succeeds,
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
	// The same digits mean other things for a quote.
	t.Parallel()
	want := map[string]sandbox.Scenario{
		"002": sandbox.ExecutionFails, "003": sandbox.CompletesLate, "004": sandbox.DeliveryFails, "005": sandbox.Returned,
		"006": sandbox.CancelledByUser, "007": sandbox.RefundFails,
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
	// The range 1xx decides what is said of the beneficiary's name; 105 is no account at all.
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
	// An identifier that does not end in three digits has no scenario, however close it comes.
	t.Parallel()
	for _, identifier := range []string{"", "2", "02", "@", "a02", "00 2", "002a", "ana@bank002", "002@", "٠٠٢"} {
		name := identifier == "002@" // the name before the @ ends in 002
		if (sandbox.QuoteScenario(identifier) != sandbox.Succeeds) != name || (sandbox.TransferScenario(identifier) != sandbox.Succeeds) != name {
			t.Errorf("%q has a scenario: %v", identifier, !name)
		}
	}
}

func TestKYBAndKYCDecision(t *testing.T) {
	// 001 leaves a verification pending, 002 rejects it, everything else is approved.
	t.Parallel()
	want := map[string]customer.Status{
		"001": customer.Pending, "A-12001": customer.Pending, "Smith001": customer.Pending, "002": customer.Rejected, "Smith002": customer.Rejected,
		"": customer.Approved, "Smith": customer.Approved, "003": customer.Approved, "0010": customer.Approved, "01": customer.Approved, "Smith 00 1": customer.Approved,
	}
	for value, status := range want {
		if got := sandbox.KYBDecision(value); got != status {
			t.Errorf("KYB(%q) = %s; want %s", value, got, status)
		}
		if got := sandbox.KYCDecision(value); got != status {
			t.Errorf("KYC(%q) = %s; want %s", value, got, status)
		}
	}
}

func TestIsTestValue(t *testing.T) {
	// An identifier is scripted exactly when one of its meanings is not the ordinary one.
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SampledFrom(identifiers).Draw(t, "shape")
		identifier := fmt.Sprintf(shape, fmt.Sprintf("%03d", rapid.IntRange(0, 120).Draw(t, "digits")))

		outcome, err := sandbox.BeneficiaryOutcome(identifier)
		ordinary := sandbox.QuoteScenario(identifier) == sandbox.Succeeds && sandbox.TransferScenario(identifier) == sandbox.Succeeds &&
			outcome == account.Matched && err == nil

		if sandbox.IsTestValue(identifier) == ordinary {
			t.Fatalf("%s: scripted %v, ordinary %v", identifier, sandbox.IsTestValue(identifier), ordinary)
		}
	})
}
