// Package unsupported is used where no service for verifying beneficiary names is connected.
// Every verification returns UNSUPPORTED.
package unsupported

import (
	"context"

	"causeway/core/account"
	"causeway/ports"
)

// Beneficiaries implements ports.Beneficiaries without a verification service.
type Beneficiaries struct{}

var _ ports.Beneficiaries = Beneficiaries{}

// AcceptsTestValue returns false: every account is treated as real.
func (Beneficiaries) AcceptsTestValue(string) bool { return false }

// ChecksDigits returns true.
func (Beneficiaries) ChecksDigits() bool { return true }

// Verify returns UNSUPPORTED, or NOT_VERIFIED for a wallet, which has no owner name.
func (Beneficiaries) Verify(_ context.Context, a account.External) (ports.Verification, error) {
	if a.Beneficiary == nil {
		return ports.Verification{Status: account.NotVerified}, nil
	}
	return ports.Verification{Status: account.Unsupported}, nil
}
