// Package unsupported stands where no service that checks beneficiaries' names is
// connected. It says so: every check answers UNSUPPORTED, and nothing is waived.
package unsupported

import (
	"context"

	"causeway/core/account"
	"causeway/ports"
)

// Beneficiaries knows nobody.
type Beneficiaries struct{}

var _ ports.Beneficiaries = Beneficiaries{}

// AcceptsTestValue nothing: every account is taken for a real one.
func (Beneficiaries) AcceptsTestValue(string) bool { return false }

// Verify says that it cannot be checked; of a wallet nothing is to be checked.
func (Beneficiaries) Verify(_ context.Context, a account.External) (ports.Verification, error) {
	if a.Beneficiary == nil {
		return ports.Verification{Status: account.NotVerified}, nil
	}
	return ports.Verification{Status: account.Unsupported}, nil
}
