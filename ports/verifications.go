package ports

import (
	"context"
	"time"

	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/verification"
)

// BeneficialOwnerWriter changes beneficial owners. The customer must be locked, so that its owners
// change one after the other.
type BeneficialOwnerWriter interface {
	CreateBeneficialOwner(ctx context.Context, o customer.BeneficialOwner) error
	UpdateBeneficialOwner(ctx context.Context, o customer.BeneficialOwner) error
	// BeneficialOwnersOf returns the owners of a locked customer, oldest first.
	BeneficialOwnersOf(ctx context.Context, p ident.Platform, customers ...ident.Customer) ([]customer.BeneficialOwner, error)
}

// BeneficialOwners reads beneficial owners.
type BeneficialOwners interface {
	// BeneficialOwner returns an owner, or BENEFICIAL_OWNER_NOT_FOUND.
	BeneficialOwner(ctx context.Context, p ident.Platform, id ident.BeneficialOwner) (customer.BeneficialOwner, error)
	// BeneficialOwnersOf returns the owners of customers, oldest first.
	BeneficialOwnersOf(ctx context.Context, p ident.Platform, customers ...ident.Customer) ([]customer.BeneficialOwner, error)
	ListBeneficialOwners(ctx context.Context, p ident.Platform, f BeneficialOwnerFilter) (Page[customer.BeneficialOwner], error)
}

// BeneficialOwnerFilter selects the beneficial owners of a customer.
type BeneficialOwnerFilter struct {
	Paging
	Customer ident.Customer
}

// VerificationWriter changes verifications. The customer must be locked.
type VerificationWriter interface {
	CreateVerification(ctx context.Context, v verification.Verification) error
	UpdateVerification(ctx context.Context, v verification.Verification) error
	// VerificationsOf returns the verifications of a locked customer, newest first.
	VerificationsOf(ctx context.Context, p ident.Platform, c ident.Customer) ([]verification.Verification, error)
	// CreateReview records what an operator decided.
	CreateReview(ctx context.Context, r verification.Review) error
	// SaveDecisionMessage records the id of a message with a decision of an identity provider, and
	// reports whether it is new.
	SaveDecisionMessage(ctx context.Context, p ident.Platform, id string, receivedAt time.Time) (isNew bool, err error)
	// ReviewsOf returns what operators decided about a customer and its owners, oldest first.
	ReviewsOf(ctx context.Context, p ident.Platform, c ident.Customer) ([]verification.Review, error)
}

// VerificationReader reads verifications.
type VerificationReader interface {
	// Verification returns a verification, or VERIFICATION_NOT_FOUND.
	Verification(ctx context.Context, p ident.Platform, id ident.Verification) (verification.Verification, error)
	Verifications(ctx context.Context, p ident.Platform, f VerificationFilter) (Page[verification.Verification], error)
	// ReviewsOf returns what operators decided about a customer and its owners, oldest first.
	ReviewsOf(ctx context.Context, p ident.Platform, c ident.Customer) ([]verification.Review, error)
}

// VerificationFilter selects verifications; zero fields match all.
type VerificationFilter struct {
	Paging
	Customer ident.Customer
	Status   verification.Status
}
