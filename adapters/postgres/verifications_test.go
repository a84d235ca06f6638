package postgres_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/party"
	"causeway/core/verification"
	"causeway/ports"
	"causeway/ports/portstest"
)

// newOwner returns an owner of a business with every field.
func newOwner(c customer.Customer) customer.BeneficialOwner {
	return customer.BeneficialOwner{
		ID: ident.NewBeneficialOwner(generator.New, noon), Platform: c.Platform, Customer: c.ID, Roles: []customer.OwnerRole{customer.Director,
			customer.UltimateOwner},
		OwnershipPercentage: 40, Status: customer.Pending, CreatedAt: noon, UpdatedAt: noon,
		Check: customer.Check{Application: uuid.New(), Submitted: true, By: "ana", At: noon, Reason: "r", Errors: []customer.CheckError{
			{Resource: "Document:x", Type: customer.ExpiredDocument, Field: "f", AcceptedDocuments: []string{"PASSPORT"}, Reason: "Expired."}}},
		Person: customer.PersonalInfo{FirstName: "Ana", MiddleName: "B", LastName: "D’Ávila", BirthDate: "1990-02-28", Nationality: "BR",
			Email:       "a@example.com",
			PhoneNumber: "+5511999999999", Address: party.Address{Line1: "Rua 1", Line2: "ap. 2", City: "São Paulo", State: "SP",
				PostalCode: "01000-000", Country: "BR"},
			IDType: customer.NonUSTaxID, Identifier: "123.456.789-09", CountryOfIssuance: "BR"},
	}
}

// newBusiness stores a business.
func (c *env) newBusiness(t *testing.T, name string) customer.Customer {
	t.Helper()
	business := newCustomer(c.platform, name)
	business.Type, business.FullName, business.Business = customer.Business, "", &customer.BusinessInfo{LegalName: "Acme"}
	c.createCustomers(t, business)
	return business
}

func TestBeneficialOwner_RoundTrip(t *testing.T) {
	t.Parallel()
	// An owner is read as it was written, alone, with the other owners, in a unit of work and after
	// an update; an owner of another platform does not exist.
	c := newEnv(t)
	business := c.newBusiness(t, "acme")
	first, second := newOwner(business), newOwner(business)
	second.Check, second.Person.MiddleName = customer.Check{}, ""
	other := newOwner(c.newBusiness(t, "other"))
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		for _, o := range []customer.BeneficialOwner{first, second, other} {
			if err := tx.CreateBeneficialOwner(ctx, o); err != nil {
				return err
			}
		}
		return nil
	})
	first.Roles, first.OwnershipPercentage, first.Status, first.UpdatedAt = []customer.OwnerRole{customer.Trustee}, 1, customer.Rejected,
		noon.Add(time.Hour)
	first.Person.LastName = "Silva"
	want := []customer.BeneficialOwner{first, second}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.UpdateBeneficialOwner(ctx, first); err != nil {
			return err
		}
		owners, err := tx.BeneficialOwnersOf(ctx, c.platform.ID, business.ID)
		if !reflect.DeepEqual(owners, want) {
			t.Errorf("in the unit of work\n%+v, want\n%+v", owners, want)
		}
		return err
	})

	if owners, err := c.BeneficialOwnersOf(t.Context(), c.platform.ID, business.ID); err != nil || !reflect.DeepEqual(owners, want) {
		t.Errorf("owners\n%+v, %v, want\n%+v", owners, err, want)
	}
	if o, err := c.BeneficialOwner(t.Context(), c.platform.ID, second.ID); err != nil || !reflect.DeepEqual(o, second) {
		t.Errorf("read\n%+v, %v, want\n%+v", o, err, second)
	}
	page, err := c.ListBeneficialOwners(t.Context(), c.platform.ID, ports.BeneficialOwnerFilter{Paging: ports.Paging{Limit: 1},
		Customer: business.ID})
	if err != nil || page.Total != 2 || !page.More || len(page.Items) != 1 || !reflect.DeepEqual(page.Items[0], second) {
		t.Errorf("page %+v, %v", page, err)
	}
	if _, err := c.BeneficialOwner(t.Context(), c.otherPlatform.ID, first.ID); !fault.Is(err, fault.BeneficialOwnerNotFound) {
		t.Errorf("of another platform: %v", err)
	}
	if err := c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		missing := newOwner(business)
		return tx.UpdateBeneficialOwner(ctx, missing)
	}); !fault.Is(err, fault.BeneficialOwnerNotFound) {
		t.Errorf("update of a missing one: %v", err)
	}
}

func TestVerification_RoundTrip(t *testing.T) {
	t.Parallel()
	// A verification is read as it was written, before and after it was submitted and decided, with
	// the data that was submitted.
	c := newEnv(t)
	business := c.newBusiness(t, "acme")
	errors := newOwner(business).Check.Errors
	v := verification.New(ident.NewVerification(generator.New, noon), business, noon)
	v.Status, v.Errors = verification.ResolveErrors, errors
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateVerification(ctx, v) })
	if read, err := c.Verification(t.Context(), c.platform.ID, v.ID); err != nil || !reflect.DeepEqual(read, v) {
		t.Fatalf("read\n%+v, %v, want\n%+v", read, err, v)
	}

	a := portstest.IdentityApplications()[1]
	a.Platform, a.Verification, a.Customer.Platform, a.Customer.ID = c.platform.ID, v.ID, c.platform.ID, business.ID
	a.Customer.Status, a.Customer.CreatedAt, a.Customer.UpdatedAt = "", time.Time{}, time.Time{}
	a.Owners[0].Platform, a.Owners[0].Customer = c.platform.ID, business.ID
	a.Files = []uuid.UUID{uuid.New(), uuid.New()}
	v.Status, v.Errors, v.Submitted, v.CustomerApproved, v.UpdatedAt = verification.InProgress, nil, &a, true, noon.Add(time.Hour)
	v.LastDecision = verification.Decision{Application: uuid.New(), By: "ana", At: noon,
		Outcome: verification.Outcome{Verdict: verification.Correctable, Errors: errors, Reason: "r"}}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.UpdateVerification(ctx, v); err != nil {
			return err
		}
		found, err := tx.VerificationsOf(ctx, c.platform.ID, business.ID)
		if len(found) != 1 || !reflect.DeepEqual(found[0], v) {
			t.Errorf("in the unit of work\n%+v, want\n%+v", found, v)
		}
		return err
	})

	if read, err := c.Verification(t.Context(), c.platform.ID, v.ID); err != nil || !reflect.DeepEqual(read, v) {
		t.Errorf("read\n%+v, %v, want\n%+v", read, err, v)
	}
	if _, err := c.Verification(t.Context(), c.otherPlatform.ID, v.ID); !fault.Is(err, fault.VerificationNotFound) {
		t.Errorf("of another platform: %v", err)
	}
}

func TestVerifications_Filter(t *testing.T) {
	t.Parallel()
	// Verifications are listed by customer and by status, newest first.
	c := newEnv(t)
	acme, other := c.newBusiness(t, "acme"), c.newBusiness(t, "other")
	create := func(owner customer.Customer, status verification.Status) verification.Verification {
		v := verification.New(ident.NewVerification(generator.New, noon), owner, noon)
		v.Status, v.Submitted = status, &verification.Application{ID: uuid.New(), SubmittedAt: noon}
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateVerification(ctx, v) })
		return v
	}
	rejected, open, review := create(acme, verification.Rejected), create(acme, verification.InProgress),
		create(other, verification.PendingManualReview)
	for name, test := range map[string]struct {
		filter ports.VerificationFilter
		want   []verification.Verification
	}{
		"all":             {ports.VerificationFilter{}, []verification.Verification{review, open, rejected}},
		"of a customer":   {ports.VerificationFilter{Customer: acme.ID}, []verification.Verification{open, rejected}},
		"of a status":     {ports.VerificationFilter{Status: verification.PendingManualReview}, []verification.Verification{review}},
		"of both":         {ports.VerificationFilter{Customer: acme.ID, Status: verification.Rejected}, []verification.Verification{rejected}},
		"of both, no one": {ports.VerificationFilter{Customer: other.ID, Status: verification.Rejected}, nil},
	} {
		test.filter.Limit = 10
		page, err := c.Verifications(t.Context(), c.platform.ID, test.filter)
		if err != nil || len(page.Items) != len(test.want) || page.Total != int64(len(test.want)) {
			t.Errorf("%s: %+v, %v", name, page, err)
			continue
		}
		for i, v := range page.Items {
			if v.ID != test.want[i].ID {
				t.Errorf("%s: item %d is %s, want %s", name, i, v.ID, test.want[i].ID)
			}
		}
	}

	second := verification.New(ident.NewVerification(generator.New, noon), acme, noon)
	second.Status = verification.ResolveErrors
	if err := c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateVerification(ctx, second) }); err == nil {
		t.Error("a customer has two open verifications")
	}
}
