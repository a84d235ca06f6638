package ports

import (
	"context"

	"causeway/core/account"
	"causeway/core/platform"
)

// Beneficiaries asks the receiving side whether an account is there and belongs to
// its beneficiary. It changes nothing there, so asking twice does no harm.
type Beneficiaries interface {
	// AcceptsTestValue returns of a value in which wrong check digits do not matter, because it
	// stands for no real account.
	AcceptsTestValue(value string) bool
	// Verify answers INVALID_BANK_ACCOUNT when there is no such account.
	Verify(ctx context.Context, a account.External) (Verification, error)
}

// Verification is what the receiving side said. Name is the owner's name as it is
// known there; empty where it is not told.
type Verification struct {
	Status account.VerificationStatus
	Name   string
}

// BeneficiariesByEnvironment chooses who is asked for the platforms of an environment.
type BeneficiariesByEnvironment map[platform.Environment]Beneficiaries
