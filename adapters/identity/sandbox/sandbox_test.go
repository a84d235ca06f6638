package sandbox_test

import (
	"testing"

	"causeway/adapters/identity/sandbox"
	"causeway/core/customer"
	"causeway/core/verification"
	"causeway/ports/portstest"
)

func TestIdentity_Conformance(t *testing.T) {
	t.Parallel()
	portstest.Identity(t, sandbox.Identity{})
}

func TestIdentity_TestValuesSelectOutcome(t *testing.T) {
	t.Parallel()
	// The last three digits decide: of the name of an individual, of the registration number of a
	// business, and of the last name of a beneficial owner.
	individual := func(name string) verification.Application {
		return verification.Application{Customer: customer.Customer{Type: customer.Individual, FullName: name}}
	}
	business := func(number string) verification.Application {
		return verification.Application{Customer: customer.Customer{Type: customer.Business,
			Business: &customer.BusinessInfo{LegalName: "Acme 002", RegistrationNumber: number}}}
	}
	owner := func(lastName string) verification.Application {
		a := business("5523002")
		a.Owner = &customer.BeneficialOwner{Person: customer.PersonalInfo{FirstName: "Ana002", LastName: lastName}}
		return a
	}
	for name, c := range map[string]struct {
		application verification.Application
		want        verification.Verdict
	}{
		"individual": {individual("Ana Ng"), verification.Accepted}, "individual 001": {individual("Ana Ng001"), verification.InReview},
		"individual 002": {individual("Ana Ng 002"), verification.Refused}, "individual 003": {individual("Ana Ng003"), verification.Correctable},
		"business": {business("5523041"), verification.Accepted}, "business 001": {business("5523001"), verification.InReview},
		"business 002": {business("HRB-002"), verification.Refused}, "business 003": {business("003"), verification.Accepted},
		"business without": {business(""), verification.Accepted},
		"owner":            {owner("Ng"), verification.Accepted}, "owner 001": {owner("Ng001"), verification.InReview},
		"owner 002": {owner("Ng002"), verification.Refused}, "owner 003": {owner("Ng003"), verification.Accepted},
	} {
		if got, known := (sandbox.Identity{}).Immediate(c.application); !known || got.Verdict != c.want {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
	}
}
