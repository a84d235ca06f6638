// Package sandbox simulates the verification of beneficiary names for sandbox platforms. The
// last digits of the account's identifier select the result. It makes no requests.
package sandbox

import (
	"context"

	"causeway/core/account"
	"causeway/core/sandbox"
	"causeway/ports"
)

// Beneficiaries implements ports.Beneficiaries with the test values of core/sandbox.
type Beneficiaries struct{}

var _ ports.Beneficiaries = Beneficiaries{}

// AcceptsTestValue reports whether a value ends in test digits, whose check digits are not
// verified.
func (Beneficiaries) AcceptsTestValue(value string) bool { return sandbox.IsTestValue(value) }

// ChecksDigits returns false, so that invented account numbers can be registered.
func (Beneficiaries) ChecksDigits() bool { return false }

// Verify returns the result that the account's identifier selects. A wallet has no owner name,
// so it is NOT_VERIFIED unless its address selects another result.
func (Beneficiaries) Verify(_ context.Context, a account.External) (ports.Verification, error) {
	status, err := sandbox.BeneficiaryOutcome(a.Identifier())
	if err != nil {
		return ports.Verification{}, err
	}
	if a.Beneficiary == nil {
		if status == account.Matched {
			status = account.NotVerified
		}
		return ports.Verification{Status: status}, nil
	}
	return ports.Verification{Status: status, Name: verifiedName(status, a.Beneficiary.Name())}, nil
}

// verifiedName returns the owner's name as known to the receiving institution: for a match and,
// so that it can be corrected, for a partial match.
func verifiedName(status account.VerificationStatus, name string) string {
	if status == account.Matched {
		return name
	}
	if status == account.PartialMatch {
		return name + " Sandbox"
	}
	return ""
}
