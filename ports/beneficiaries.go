package ports

import (
	"context"

	"causeway/core/account"
	"causeway/core/platform"
)

// Beneficiaries verifies external accounts with the receiving institution. It changes
// nothing there, so that a call may be repeated.
type Beneficiaries interface {
	// AcceptsTestValue reports whether value is a test value that stands for no real
	// account, so that its check digits need not be right. Only sandboxes have any.
	AcceptsTestValue(value string) bool
	// ChecksDigits reports whether the check digits of account identifiers must be right. In
	// sandboxes only the format matters.
	ChecksDigits() bool
	// Verify compares the beneficiary with the owner of the account. It returns
	// INVALID_BANK_ACCOUNT if there is no such account. An institution that offers no
	// check is a status, not an error.
	Verify(ctx context.Context, a account.External) (Verification, error)
}

// Verification is the result of a verification. Name is the name of the owner as the
// institution has it; empty if the institution does not disclose it. Reason says why there is no result though one was asked for.
type Verification struct {
	Status       account.VerificationStatus
	Name, Reason string
}

// BeneficiariesByEnvironment holds the adapter of each environment.
type BeneficiariesByEnvironment map[platform.Environment]Beneficiaries
