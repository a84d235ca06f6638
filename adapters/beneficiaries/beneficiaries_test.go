// Package beneficiaries_test runs the conformance suite of ports.Beneficiaries on every adapter.
package beneficiaries_test

import (
	"testing"

	"causeway/adapters/beneficiaries/sandbox"
	"causeway/adapters/beneficiaries/unsupported"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/ports"
)

func bankAccount(number string) account.External {
	return account.External{
		Type: account.USAccount, Currency: "USD", Fields: map[string]string{"accountNumber": number, "routingNumber": "021000021"},
		Beneficiary: &account.Beneficiary{Type: account.Individual, FullName: "Ana Silva"},
	}
}

func wallet(address string) account.External {
	return account.External{Type: account.Layer2Wallet, Currency: "BTC", Fields: map[string]string{"address": address}}
}

func TestBeneficiaries_Contract(t *testing.T) {
	t.Parallel()
	// Every adapter returns a valid status or INVALID_BANK_ACCOUNT, the same on each call, and
	// NOT_VERIFIED for a plain wallet.
	known := map[account.VerificationStatus]bool{
		account.Matched: true, account.PartialMatch: true, account.NotMatched: true, account.VerificationPending: true,
		account.Unsupported: true, account.CheckedByReceivingFI: true,
	}
	for name, adapter := range map[string]ports.Beneficiaries{"sandbox": sandbox.Beneficiaries{}, "unsupported": unsupported.Beneficiaries{}} {
		for _, number := range []string{"123456789", "102", "103", "104", "105", "106", "107", "000105"} {
			said, err := adapter.Verify(t.Context(), bankAccount(number))
			again, errAgain := adapter.Verify(t.Context(), bankAccount(number))

			if said != again || (err == nil) != (errAgain == nil) {
				t.Errorf("%s: %s: %v, then %v", name, number, said, again)
			}
			if (err == nil && !known[said.Status]) || (err != nil && !fault.Is(err, fault.InvalidBankAccount)) {
				t.Errorf("%s: %s: %v, %v", name, number, said, err)
			}
		}
		if said, err := adapter.Verify(t.Context(), wallet("spark1abc")); err != nil || said != (ports.Verification{}) {
			t.Errorf("%s: a wallet: %v, %v", name, said, err)
		}
	}
}

func TestSandbox_OutcomeByIdentifier(t *testing.T) {
	t.Parallel()
	// The last digits select the status, for wallets too. Matches and partial matches have a name.
	for number, want := range map[string]ports.Verification{
		"123456789": {Status: account.Matched, Name: "Ana Silva"},
		"123456103": {Status: account.PartialMatch, Name: "Ana Silva Sandbox"},
		"123456102": {Status: account.NotMatched},
		"123456104": {Status: account.VerificationPending},
	} {
		if said, err := (sandbox.Beneficiaries{}).Verify(t.Context(), bankAccount(number)); err != nil || said != want {
			t.Errorf("%s: %v, %v; want %v", number, said, err, want)
		}
	}
	if said, err := (sandbox.Beneficiaries{}).Verify(t.Context(), wallet("spark1102")); err != nil || said.Status != account.NotMatched {
		t.Errorf("a wallet that ends in 102: %v, %v", said, err)
	}
	if _, err := (sandbox.Beneficiaries{}).Verify(t.Context(), wallet("spark1105")); !fault.Is(err, fault.InvalidBankAccount) {
		t.Errorf("a wallet that ends in 105: %v", err)
	}
}

func TestAcceptsTestValue_OnlyInSandbox(t *testing.T) {
	t.Parallel()
	// The sandbox accepts test values despite invalid check digits; the real adapter does not.
	for value, want := range map[string]bool{"021000105": true, "021000021": false} {
		if got := (sandbox.Beneficiaries{}).AcceptsTestValue(value); got != want {
			t.Errorf("sandbox waives %s: %v, want %v", value, got, want)
		}
		if (unsupported.Beneficiaries{}).AcceptsTestValue(value) {
			t.Errorf("%s is waived where accounts are real", value)
		}
	}
}

func TestChecksDigits_OnlyInProduction(t *testing.T) {
	t.Parallel()
	// The check digits of account numbers matter in production and not in the sandbox.
	if (sandbox.Beneficiaries{}).ChecksDigits() || !(unsupported.Beneficiaries{}).ChecksDigits() {
		t.Error("check digits are checked in the sandbox, or not in production")
	}
}
