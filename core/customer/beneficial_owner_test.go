package customer_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/party"
)

var acme = customer.Customer{ID: customerID, Platform: platformID, Type: customer.Business, Status: customer.Pending,
	Business: &customer.BusinessInfo{LegalName: "Acme"}}

func ownerID() ident.BeneficialOwner {
	return ident.NewBeneficialOwner(func(time.Time) uuid.UUID { return generatedID }, now)
}

// ownerRequest returns a valid request.
func ownerRequest() customer.OwnerRequest {
	return customer.OwnerRequest{
		Roles: []string{"UBO", "CONTROL_PERSON"}, OwnershipPercentage: 60,
		Person: customer.PersonalInfo{
			FirstName: "Ana", LastName: "Ng", BirthDate: "1990-02-28", Nationality: "US", Email: "ana@example.com", PhoneNumber: "+14155550123",
			Address: party.Address{Line1: "1 Main St", City: "Austin", State: "TX", PostalCode: "78701", Country: "US"},
			IDType:  "SSN", Identifier: "123-45-6789", CountryOfIssuance: "US",
		},
	}
}

func newOwner(t *testing.T, edit func(*customer.OwnerRequest), others ...customer.BeneficialOwner) (customer.BeneficialOwner, error) {
	t.Helper()
	r := ownerRequest()
	edit(&r)
	return customer.NewBeneficialOwner(r, acme, others, ownerID(), now)
}

func TestNewBeneficialOwner_ChecksEveryField(t *testing.T) {
	// Each invalid field is named by its path, and a valid owner is pending.
	t.Parallel()
	for field, edit := range map[string]func(*customer.OwnerRequest){
		"":                                func(*customer.OwnerRequest) {},
		"roles":                           func(r *customer.OwnerRequest) { r.Roles = nil },
		"roles[1]":                        func(r *customer.OwnerRequest) { r.Roles = []string{"UBO", "BOSS"} },
		"ownershipPercentage":             func(r *customer.OwnerRequest) { r.OwnershipPercentage = 101 },
		"personalInfo.firstName":          func(r *customer.OwnerRequest) { r.Person.FirstName = "" },
		"personalInfo.middleName":         func(r *customer.OwnerRequest) { r.Person.MiddleName = " B" },
		"personalInfo.lastName":           func(r *customer.OwnerRequest) { r.Person.LastName = "<Ng>" },
		"personalInfo.birthDate":          func(r *customer.OwnerRequest) { r.Person.BirthDate = "2030-01-01" },
		"personalInfo.nationality":        func(r *customer.OwnerRequest) { r.Person.Nationality = "USA" },
		"personalInfo.email":              func(r *customer.OwnerRequest) { r.Person.Email = "ana" },
		"personalInfo.phoneNumber":        func(r *customer.OwnerRequest) { r.Person.PhoneNumber = "4155550123" },
		"personalInfo.address.state":      func(r *customer.OwnerRequest) { r.Person.Address.State = "" },
		"personalInfo.idType":             func(r *customer.OwnerRequest) { r.Person.IDType = "PASSPORT" },
		"personalInfo.identifier":         func(r *customer.OwnerRequest) { r.Person.Identifier = "12-45-6789" },
		"personalInfo.countryOfIssuance":  func(r *customer.OwnerRequest) { r.Person.CountryOfIssuance = "DE" },
		"personalInfo.countryOfIssuance ": func(r *customer.OwnerRequest) { r.Person.IDType, r.Person.CountryOfIssuance = "NON_US_TAX_ID", "" },
	} {
		owner, err := newOwner(t, edit)
		if field == "" {
			if err != nil || owner.Status != customer.Pending || owner.Customer != customerID ||
				!slices.Equal(owner.Roles, []customer.OwnerRole{"CONTROL_PERSON", "UBO"}) {
				t.Errorf("valid: %+v, %v", owner, err)
			}
			continue
		}
		f, ok := fault.As(err)
		if !ok || f.Code != fault.InvalidInput || len(f.Fields) != 1 || f.Fields[0].Field != strings.TrimSpace(field) {
			t.Errorf("%s: %+v", field, err)
		}
	}
}

func TestNewBeneficialOwner_Identifiers(t *testing.T) {
	// An identifier must have the form of its type; dashes may be left out and are stored.
	t.Parallel()
	for _, c := range []struct{ idType, text, want string }{
		{"SSN", "123456789", "123-45-6789"}, {"SSN", "123-456789", "123-45-6789"}, {"SSN", "000-45-6789", ""}, {"SSN", "666-45-6789", ""},
		{"SSN", "912-70-1234", ""}, {"SSN", "123-00-6789", ""}, {"SSN", "123-45-0000", ""}, {"SSN", "123 45 6789", ""}, {"SSN", "", ""},
		{"SSN", "1234567890", ""},
		{"ITIN", "912701234", "912-70-1234"}, {"ITIN", "812-70-1234", ""}, {"ITIN", "912-93-1234", ""}, {"ITIN", "912-49-1234", ""},
		{"ITIN", "999-99-1234", "999-99-1234"},
		{"EIN", "123456789", "12-3456789"}, {"EIN", "00-3456789", ""}, {"EIN", "123-45-6789", ""},
		{"NON_US_TAX_ID", "DE 12/345.678", "DE 12/345.678"}, {"NON_US_TAX_ID", strings.Repeat("1", 65), ""}, {"NON_US_TAX_ID", "a\nb", ""},
	} {
		owner, err := newOwner(t, func(r *customer.OwnerRequest) {
			r.Person.IDType, r.Person.Identifier, r.Person.CountryOfIssuance = c.idType, c.text, ""
			if c.idType == "NON_US_TAX_ID" {
				r.Person.CountryOfIssuance = "DE"
			}
		})
		if (err == nil) != (c.want != "") || err == nil && owner.Person.Identifier != c.want {
			t.Errorf("%s %q: %q, %v; want %q", c.idType, c.text, owner.Person.Identifier, err, c.want)
		}
	}
}

func TestMaskedIdentifier(t *testing.T) {
	// At most four characters are shown, never more than half, and dashes stay.
	t.Parallel()
	for identifier, want := range map[string]string{
		"123-45-6789": "***-**-6789", "12-3456789": "**-***6789", "ABÇD": "**ÇD", "X": "*", "": "",
	} {
		if got := (customer.PersonalInfo{Identifier: identifier}).MaskedIdentifier(); got != want {
			t.Errorf("%q is shown as %q, want %q", identifier, got, want)
		}
	}
}

func TestBeneficialOwner_OwnershipIsAtMost100Percent(t *testing.T) {
	// Owners that are added and updated in any order never have more than 100 percent together, and
	// a change is refused only if they would.
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var owners []customer.BeneficialOwner
		for change := range rapid.IntRange(1, 12).Draw(rt, "changes") {
			percentage := rapid.IntRange(0, 100).Draw(rt, "percentage")
			i := rapid.IntRange(0, len(owners)).Draw(rt, "owner")
			others, sum := slices.Delete(slices.Clone(owners), i, min(i+1, len(owners))), percentage
			for _, o := range others {
				sum += o.OwnershipPercentage
			}
			var changed customer.BeneficialOwner
			var err error
			if i == len(owners) {
				changed, err = newOwner(t, func(r *customer.OwnerRequest) {
					r.OwnershipPercentage, r.Person.Identifier = percentage, fmt.Sprintf("123-45-67%02d", change)
				}, others...)
			} else {
				changed, _, err = owners[i].Apply(customer.OwnerUpdate{OwnershipPercentage: &percentage}, acme, others, now)
			}
			if (err == nil) != (sum <= 100) {
				rt.Fatalf("%d of %d percent: %v", percentage, sum, err)
			}
			if err == nil {
				owners = append(others, changed)
			}
		}
	})
}

func TestNewBeneficialOwner_SamePersonOnce(t *testing.T) {
	// A person with the name, the birth date and the identifier of an owner is refused with the id of that
	// owner, whatever else is said of them; one who differs in any of the three is another person.
	t.Parallel()
	first, err := newOwner(t, func(*customer.OwnerRequest) {})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		edit func(*customer.OwnerRequest)
		want bool
	}{
		"the same request": {func(*customer.OwnerRequest) {}, false},
		"other details": {func(r *customer.OwnerRequest) {
			r.Roles, r.Person.Email, r.Person.Address.City = []string{"DIRECTOR"}, "", "Dallas"
		}, false},
		"without dashes":     {func(r *customer.OwnerRequest) { r.Person.Identifier = "123456789" }, false},
		"another name":       {func(r *customer.OwnerRequest) { r.Person.MiddleName = "Maria" }, true},
		"another birth date": {func(r *customer.OwnerRequest) { r.Person.BirthDate = "1990-02-27" }, true},
		"another identifier": {func(r *customer.OwnerRequest) { r.Person.Identifier = "123-45-6780" }, true},
	} {
		_, err := newOwner(t, func(r *customer.OwnerRequest) {
			r.OwnershipPercentage = 40
			c.edit(r)
		}, first)
		f, _ := fault.As(err)
		if c.want && err != nil || !c.want && (f == nil || f.Code != fault.Conflict || f.Details["beneficialOwnerId"] != first.ID.String()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBeneficialOwner_Limits(t *testing.T) {
	// Only an active business has owners, and not more than the maximum.
	t.Parallel()
	person, gone := acme, acme
	person.Type, gone.DeletedAt = customer.Individual, now
	r := ownerRequest()
	r.OwnershipPercentage = 0
	for name, c := range map[string]struct {
		business customer.Customer
		others   int
		want     fault.Code
	}{
		"an individual": {person, 0, fault.InvalidInput}, "a deleted business": {gone, 0, fault.CustomerDeleted},
		"one too many": {acme, customer.MaxBeneficialOwners, fault.Conflict}, "the last one": {acme, customer.MaxBeneficialOwners - 1, ""},
	} {
		_, err := customer.NewBeneficialOwner(r, c.business, make([]customer.BeneficialOwner, c.others), ownerID(), now)
		if c.want == "" && err != nil || c.want != "" && !fault.Is(err, c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestBeneficialOwner_ApplyChecksIdentityAgain(t *testing.T) {
	// What identifies the person is checked again when it changes; nothing else changes the status.
	t.Parallel()
	owner, err := newOwner(t, func(*customer.OwnerRequest) {})
	if err != nil {
		t.Fatal(err)
	}
	owner.Status, owner.Check.Errors = customer.Rejected, []customer.CheckError{{Type: customer.ApplicantRejected}}
	later := now.Add(time.Hour)
	text := func(s string) *string { return &s }
	for name, c := range map[string]struct {
		update customer.OwnerUpdate
		check  bool
	}{
		"nothing":           {customer.OwnerUpdate{}, false},
		"the roles":         {customer.OwnerUpdate{Roles: &[]string{"DIRECTOR"}}, false},
		"contact data":      {customer.OwnerUpdate{Person: customer.PersonUpdate{Email: text(""), PhoneNumber: text("+491701234567")}}, false},
		"the masked number": {customer.OwnerUpdate{Person: customer.PersonUpdate{Identifier: text("***-**-6789")}}, false},
		"the same number":   {customer.OwnerUpdate{Person: customer.PersonUpdate{Identifier: text("123456789")}}, false},
		"the name":          {customer.OwnerUpdate{Person: customer.PersonUpdate{LastName: text("Silva")}}, true},
		"the address": {customer.OwnerUpdate{Person: customer.PersonUpdate{Address: &party.Address{Line1: "2 Main St", City: "Austin",
			State: "TX", PostalCode: "78701", Country: "US"}}}, true},
	} {
		changed, check, err := owner.Apply(c.update, acme, nil, later)
		if err != nil || check != c.check || !changed.UpdatedAt.Equal(later) || changed.Person.Identifier != owner.Person.Identifier {
			t.Errorf("%s: %+v, check %v, %v", name, changed, check, err)
		}
		if want := map[bool]customer.Status{true: customer.Pending, false: customer.Rejected}[c.check]; changed.Status != want ||
			(len(changed.Check.Errors) == 0) != c.check {
			t.Errorf("%s: %s %v, want %s", name, changed.Status, changed.Check.Errors, want)
		}
	}

	unchanged, _, err := owner.Apply(customer.OwnerUpdate{Person: customer.PersonUpdate{LastName: text(""), Identifier: text("1")}},
		acme, nil, later)
	if f, ok := fault.As(err); !ok || len(f.Fields) != 2 || !reflect.DeepEqual(unchanged, owner) {
		t.Errorf("invalid: %+v, %+v", unchanged, err)
	}
}
