package customer

import (
	"testing"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"

	"github.com/google/uuid"
)

func TestCustomer_IdentifierOfAnIndividual(t *testing.T) {
	t.Parallel()
	// None need be given. One that is has a type, and the form of its type; it is part of what a verification approves, and the value
	// that responses show changes nothing.
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	id := ident.NewCustomer(func(time.Time) uuid.UUID { return uuid.New() }, now)
	owner := platform.Platform{ID: ident.NewPlatform(func(time.Time) uuid.UUID { return uuid.New() }, now)}
	for name, c := range map[string]struct {
		kind, idType, identifier, country, want string
		fields                                  []string
	}{
		"none":                  {"INDIVIDUAL", "", "", "", "", nil},
		"SSN":                   {"INDIVIDUAL", "SSN", "123456789", "", "123-45-6789", nil},
		"of another country":    {"INDIVIDUAL", "NON_US_TAX_ID", "AB 12", "DE", "AB 12", nil},
		"without a type":        {"INDIVIDUAL", "", "123456789", "", "", []string{"idType"}},
		"without an identifier": {"INDIVIDUAL", "SSN", "", "", "", []string{"identifier"}},
		"without a country":     {"INDIVIDUAL", "NON_US_TAX_ID", "AB 12", "", "", []string{"countryOfIssuance"}},
		"no SSN":                {"INDIVIDUAL", "SSN", "000-00-0000", "", "", []string{"identifier"}},
		"of a business":         {"BUSINESS", "SSN", "x", "", "", nil},
	} {
		created, err := Create(Request{Type: c.kind, PlatformCustomerID: "1", IDType: c.idType, Identifier: c.identifier,
			CountryOfIssuance: c.country, Business: &BusinessInfo{LegalName: "Acme"}}, owner, id, uuid.Nil, now)
		f, failed := fault.As(err)
		if failed != (c.fields != nil) || !failed && created.Identifier != c.want {
			t.Errorf("%s: %q, %v", name, created.Identifier, err)
		} else if failed && f.Fields[0].Field != c.fields[0] {
			t.Errorf("%s: %+v", name, f.Fields)
		}
	}

	ana := Customer{ID: id, Type: Individual, Status: Approved, IDType: SSN, Identifier: "123-45-6789", CreatedAt: now, UpdatedAt: now}
	for name, c := range map[string]struct {
		change Change
		want   string
		status Status
	}{
		"as shown": {Change{Identifier: new("***-**-6789")}, "123-45-6789", Approved},
		"another":  {Change{Identifier: new("123-45-6780")}, "123-45-6780", Pending},
		"removed":  {Change{IDType: new(""), Identifier: new("")}, "", Pending},
	} {
		c.change.Type = "INDIVIDUAL"
		after, err := ana.Update(c.change, owner, now)
		if err != nil || after.Identifier != c.want || after.Status != c.status {
			t.Errorf("%s: %q, %s, %v", name, after.Identifier, after.Status, err)
		}
	}
	if _, err := ana.Update(Change{Type: "INDIVIDUAL", IDType: new(ITIN)}, owner, now); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("the type alone: %v", err)
	}
	if erased := ana.Erase(now); erased.Identifier != "" || erased.IDType != "" {
		t.Errorf("erased %+v", erased)
	}
}
