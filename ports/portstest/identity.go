package portstest

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/party"
	"causeway/core/verification"
	"causeway/ports"
)

// IdentityApplications returns complete applications of an individual, a business and a beneficial
// owner, each with an id of its own.
func IdentityApplications() []verification.Application {
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	newID := func(time.Time) uuid.UUID { return uuid.New() }
	platformID := ident.NewPlatform(newID, now)
	home := party.Address{Line1: "1 Main St", City: "Austin", State: "TX", PostalCode: "78701", Country: "US"}
	individual := customer.Customer{ID: ident.NewCustomer(newID, now), Platform: platformID, PlatformCustomerID: "ana",
		Type: customer.Individual, Status: customer.Pending,
		Region: "US", FullName: "Ana Ng", BirthDate: "1990-02-28", Nationality: "US", Address: &home, CreatedAt: now, UpdatedAt: now}
	business := customer.Customer{ID: ident.NewCustomer(newID, now), Platform: platformID, PlatformCustomerID: "acme", Type: customer.Business,
		Status: customer.Pending,
		Region: "US", Address: &home, CreatedAt: now, UpdatedAt: now,
		Business: &customer.BusinessInfo{LegalName: "Acme Inc", Country: "US", EntityType: "CORPORATION", RegistrationNumber: "5523041",
			TaxID: "12-3456789"}}
	owner := customer.BeneficialOwner{ID: ident.NewBeneficialOwner(newID, now), Platform: platformID, Customer: business.ID,
		Roles: []customer.OwnerRole{customer.ControlPerson, customer.UltimateOwner}, OwnershipPercentage: 60, Status: customer.Pending,
		Person: customer.PersonalInfo{FirstName: "Bo", LastName: "Ek", BirthDate: "1980-01-01", Nationality: "US", Address: home,
			IDType: customer.SSN, Identifier: "123-45-6789"}}
	return []verification.Application{
		{ID: uuid.New(), Platform: platformID, Verification: ident.NewVerification(newID, now), Customer: individual, SubmittedAt: now},
		{ID: uuid.New(), Platform: platformID, Verification: ident.NewVerification(newID, now), Customer: business,
			Owners: []customer.BeneficialOwner{owner}, SubmittedAt: now},
		{ID: uuid.New(), Platform: platformID, Customer: business, Owner: &owner, SubmittedAt: now},
	}
}

// Identity tests an adapter with applications of each kind.
func Identity(t *testing.T, identity ports.Identity) {
	t.Helper()
	for _, a := range IdentityApplications() {
		name := string(a.Customer.Type)
		if a.Owner != nil {
			name = "beneficial owner"
		}
		t.Run(name, func(t *testing.T) {
			// The immediate outcome is the same in every call. An application that has none is
			// submitted once, however often it is called, and then has the outcome that Status returns.
			if status := identity.NewCustomer(a.Customer); status == "" || status != identity.NewCustomer(a.Customer) {
				t.Fatalf("a new customer is %q, then %q", status, identity.NewCustomer(a.Customer))
			}
			first, known := identity.Immediate(a)
			if again, still := identity.Immediate(a); known != still || !reflect.DeepEqual(first, again) {
				t.Fatalf("immediately %+v %v, then %+v %v", first, known, again, still)
			}
			if known {
				checkOutcome(t, a, first)
			}
			submitted, err := identity.Submit(t.Context(), a, nil)
			if err != nil {
				t.Fatal(err)
			}
			checkOutcome(t, a, submitted)
			for _, call := range []func() (verification.Outcome, error){
				func() (verification.Outcome, error) { return identity.Submit(t.Context(), a, nil) },
				func() (verification.Outcome, error) { return identity.Status(t.Context(), a) },
			} {
				outcome, err := call()
				if err != nil {
					t.Fatal(err)
				}
				checkOutcome(t, a, outcome)
				final := submitted.Verdict == verification.Accepted || submitted.Verdict == verification.Refused
				if final && outcome.Verdict != submitted.Verdict {
					t.Fatalf("%s, then %s", submitted.Verdict, outcome.Verdict)
				}
			}
		})
	}
}

// checkOutcome fails the test for an outcome that no adapter may return.
func checkOutcome(t *testing.T, a verification.Application, o verification.Outcome) {
	t.Helper()
	switch o.Verdict {
	case verification.Waiting, verification.InReview, verification.Accepted, verification.Refused, verification.Correctable:
	default:
		t.Fatalf("unknown verdict %q", o.Verdict)
	}
	if len(o.Errors) > 0 != (o.Verdict == verification.Correctable) && o.Verdict != verification.Refused {
		t.Fatalf("%s with errors %+v", o.Verdict, o.Errors)
	}
	resources := []string{a.Customer.ID.String()}
	for _, owner := range a.Owners {
		resources = append(resources, owner.ID.String())
	}
	if a.Owner != nil {
		resources = append(resources, a.Owner.ID.String())
	}
	for _, e := range o.Errors {
		if !slices.Contains(resources, e.Resource) || !slices.Contains(customer.CheckErrorTypes, e.Type) || e.Reason == "" {
			t.Fatalf("error %+v names none of %v, has no known type or no reason", e, resources)
		}
	}
}
