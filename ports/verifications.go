package ports

import (
	"causeway/core/ident"
	"causeway/core/verification"
)

// BeneficialOwnerFilter selects the beneficial owners of a customer.
type BeneficialOwnerFilter struct {
	Paging
	Customer ident.Customer
}

// VerificationFilter selects verifications; zero fields match all.
type VerificationFilter struct {
	Paging
	Customer ident.Customer
	Status   verification.Status
}
