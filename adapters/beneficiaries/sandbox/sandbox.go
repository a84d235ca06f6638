// Package sandbox plays the receiving side for sandbox platforms: what it says of a
// beneficiary follows from the end of the account's identifier. It never asks anybody.
package sandbox

import (
	"context"

	"causeway/core/account"
	"causeway/core/sandbox"
	"causeway/ports"
)

// Beneficiaries answers by the script of the sandbox.
type Beneficiaries struct{}

var _ ports.Beneficiaries = Beneficiaries{}

// AcceptsTestValue check digits in values that are chosen for how they end.
func (Beneficiaries) AcceptsTestValue(value string) bool { return sandbox.IsTestValue(value) }

// Verify says what the script says. A wallet has no owner whose name could match, so
// nothing is said of it unless its address asks for an outcome.
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

// verifiedName is the owner's name as the receiving side has it: it tells the name when
// it is nearly right, so that it can be put right.
func verifiedName(status account.VerificationStatus, name string) string {
	if status == account.Matched {
		return name
	}
	if status == account.PartialMatch {
		return name + " Sandbox"
	}
	return ""
}
