package verification

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/ident"
)

// person returns a complete individual.
func person() customer.Customer {
	c := business()
	c.Type, c.Business = customer.Individual, nil
	c.FullName, c.BirthDate, c.Nationality = "Ana Ng", "1990-02-28", "PH"
	return c
}

func newDocument(h document.Holder, kind document.Type, side document.Side) document.Document {
	return document.Document{ID: ident.NewDocument(newUUID, now), Holder: h, Details: document.Details{Type: kind, Side: side, Country: "US"},
		File: document.File{Blob: uuid.New()}, CreatedAt: now, UpdatedAt: now}
}

// completeBusiness returns a corporation of the US with its owner and its documents.
func completeBusiness() (customer.Customer, []customer.BeneficialOwner, []document.Document) {
	c := business()
	o := owner(c, customer.Approved)
	o.Person = customer.PersonalInfo{Nationality: "US", IDType: customer.SSN}
	h := document.Holder{Customer: c.ID}
	return c, []customer.BeneficialOwner{o}, []document.Document{
		newDocument(h, "ARTICLES_OF_INCORPORATION", ""), newDocument(h, "TRUST_AGREEMENT", ""), newDocument(h, "BANK_STATEMENT", ""),
	}
}

// describe returns the errors as "TYPE field" or "TYPE accepted documents".
func describe(found []customer.CheckError) string {
	var lines []string
	for _, e := range found {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s%s", e.Type, e.Field, strings.Join(e.AcceptedDocuments, "|"))))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

const (
	identityTypes  = "PASSPORT|DRIVERS_LICENSE|NATIONAL_ID"
	presenceTypes  = "CERTIFICATE_OF_INCORPORATION|ARTICLES_OF_INCORPORATION|ARTICLES_OF_ASSOCIATION|STATE_REGISTRY_EXCERPT"
	controlTypes   = "DIRECTOR_REGISTRY|TRUST_AGREEMENT|STATE_COMPANY_REGISTRY|PARTNERSHIP_CONTROL_AGREEMENT"
	ownershipTypes = "SHAREHOLDER_REGISTER|TRUST_AGREEMENT|PARTNERSHIP_AGREEMENT"
	addressTypes   = "UTILITY_BILL|RENT_OR_LEASE_AGREEMENT|ELECTRICITY_BILL|BANK_STATEMENT|TAX_RETURN|PROOF_OF_ADDRESS"
)

func TestMissing_ByEntityType(t *testing.T) {
	// A business without anything lacks what its legal form needs, all named at once.
	t.Parallel()
	presence, control := "MISSING_LEGAL_PRESENCE_DOCUMENT "+presenceTypes, "MISSING_CONTROL_STRUCTURE_DOCUMENT "+controlTypes
	ownership, address := "MISSING_OWNERSHIP_STRUCTURE_DOCUMENT "+ownershipTypes, "MISSING_PROOF_OF_ADDRESS_DOCUMENT "+addressTypes
	common := []string{"MISSING_BENEFICIAL_OWNER", "MISSING_FIELD address", "MISSING_FIELD businessInfo.country",
		"MISSING_FIELD businessInfo.taxId", address}
	company := append(slices.Clone(common), "MISSING_FIELD businessInfo.registrationNumber", presence, control)
	for entityType, want := range map[string][]string{
		"":                        append(slices.Clone(company), ownership, "MISSING_FIELD businessInfo.entityType"),
		"LLC":                     append(slices.Clone(company), ownership),
		"CORPORATION":             append(slices.Clone(company), ownership),
		"S_CORPORATION":           append(slices.Clone(company), ownership),
		"PARTNERSHIP":             append(slices.Clone(company), ownership),
		"OTHER":                   append(slices.Clone(company), ownership),
		"NON_PROFIT":              company,
		"PRIVATE_FOUNDATION":      company,
		"CHARITY":                 company,
		"TRUST":                   append(slices.Clone(company), ownership),
		"PUBLICLY_LISTED_COMPANY": append(slices.Clone(company), ownership),
		"SOLE_PROPRIETORSHIP":     common,
	} {
		c := business()
		c.Address, c.Business = nil, &customer.BusinessInfo{LegalName: "Acme", EntityType: entityType}
		slices.Sort(want)
		if got := describe(Missing(c, nil, nil, now)); got != strings.Join(want, "\n") {
			t.Errorf("%q lacks\n%s\nwant\n%s", entityType, got, strings.Join(want, "\n"))
		}
	}
}

func TestMissing_Individual(t *testing.T) {
	// An individual needs a full name, birth date, nationality, address, and an identity document with
	// all of its sides.
	t.Parallel()
	c := person()
	h := document.Holder{Customer: c.ID}
	if got, want := describe(Missing(customer.Customer{ID: c.ID, Type: customer.Individual}, nil, nil, now)),
		"MISSING_FIELD address\nMISSING_FIELD birthDate\nMISSING_FIELD fullName\nMISSING_FIELD nationality\nMISSING_IDENTITY_DOCUMENT "+
			identityTypes; got != want {
		t.Errorf("an empty individual lacks\n%s\nwant\n%s", got, want)
	}
	elsewhere := newDocument(h, document.NationalID, document.Back)
	elsewhere.Country = "DE"
	replaced := newDocument(h, document.Passport, "")
	replaced.SupersededBy = ident.NewDocument(newUUID, now)
	for name, test := range map[string]struct {
		documents []document.Document
		want      string
	}{
		"a passport": {[]document.Document{newDocument(h, document.Passport, "")}, ""},
		"both sides": {[]document.Document{newDocument(h, document.DriversLicense, document.Front),
			newDocument(h, document.DriversLicense, document.Back)}, ""},
		"one side": {[]document.Document{newDocument(h, document.NationalID, document.Front)},
			"INCOMPLETE_DOCUMENT " + identityTypes},
		"sides of two documents": {[]document.Document{newDocument(h, document.NationalID, document.Front),
			newDocument(h, document.DriversLicense, document.Back)}, "INCOMPLETE_DOCUMENT " + identityTypes + "\nINCOMPLETE_DOCUMENT " +
			identityTypes},
		"sides of two countries": {[]document.Document{newDocument(h, document.NationalID, document.Front), elsewhere},
			"INCOMPLETE_DOCUMENT " + identityTypes + "\nINCOMPLETE_DOCUMENT " + identityTypes},
		"another type":        {[]document.Document{newDocument(h, "SELFIE", "")}, "MISSING_IDENTITY_DOCUMENT " + identityTypes},
		"a replaced passport": {[]document.Document{replaced}, "MISSING_IDENTITY_DOCUMENT " + identityTypes},
		"of someone else": {[]document.Document{newDocument(document.Holder{Customer: business().ID}, document.Passport, "")},
			"MISSING_IDENTITY_DOCUMENT " + identityTypes},
		"one side and a passport": {[]document.Document{newDocument(h, document.NationalID, document.Front),
			newDocument(h, document.Passport, "")}, ""},
	} {
		if got := describe(Missing(c, nil, test.documents, now)); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	c.FullName = "Ana"
	if got := describe(Missing(c, nil, []document.Document{newDocument(h, document.Passport, "")}, now)); got != "INVALID_FIELD fullName" {
		t.Errorf("a first name only: %q", got)
	}
}

func TestMissing_TaxIDByCountry(t *testing.T) {
	// In the US a business has an EIN, and a sole proprietor may have an SSN; elsewhere any text will do.
	t.Parallel()
	for _, test := range []struct {
		country, entityType, taxID string
		valid                      bool
	}{
		{"US", "LLC", "12-3456789", true}, {"US", "LLC", "123456789", true}, {"US", "LLC", "123-45-6789", false}, {"US", "LLC", "DE123", false},
		{"US", "SOLE_PROPRIETORSHIP", "123-45-6789", true}, {"US", "SOLE_PROPRIETORSHIP", "1", false}, {"DE", "LLC", "DE123", true},
	} {
		c, owners, documents := completeBusiness()
		c.Business.Country, c.Business.EntityType, c.Business.TaxID = test.country, test.entityType, test.taxID
		if got := describe(Missing(c, owners, documents, now)); got == "" != test.valid || got != "" &&
			got != "INVALID_FIELD businessInfo.taxId" {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

func TestMissing_ProofOfAddressIsRecent(t *testing.T) {
	// A proof of address counts for three months; then the error names the document.
	t.Parallel()
	c, owners, documents := completeBusiness()
	old := &documents[2]
	old.UpdatedAt = now.AddDate(0, -3, 0)
	if got := Missing(c, owners, documents, now); len(got) > 0 {
		t.Errorf("after three months: %+v", got)
	}
	old.UpdatedAt = old.UpdatedAt.Add(-time.Second)
	if got := Missing(c, owners, documents, now); len(got) != 1 || got[0].Type != customer.ExpiredDocument ||
		got[0].Resource != old.ID.String() {
		t.Errorf("later: %+v", got)
	}
}

func TestMissing_Owners(t *testing.T) {
	// One owner controls the business. An owner from outside the US who controls it or has 25 percent
	// has a passport and a second document; what a check of an owner found must be corrected.
	t.Parallel()
	const second = "NATIONAL_ID|DRIVERS_LICENSE"
	lacksBoth := "MISSING_IDENTITY_DOCUMENT " + second + "\nMISSING_IDENTITY_DOCUMENT PASSPORT"
	for name, test := range map[string]struct {
		edit      func(*customer.BeneficialOwner)
		documents []document.Type
		want      string
	}{
		"from the US":             {func(*customer.BeneficialOwner) {}, nil, ""},
		"with an SSN":             {func(o *customer.BeneficialOwner) { o.Person.Nationality = "BR" }, nil, ""},
		"from outside":            {foreign, nil, lacksBoth},
		"with a passport":         {foreign, []document.Type{document.Passport}, "MISSING_IDENTITY_DOCUMENT " + second},
		"with both":               {foreign, []document.Type{document.Passport, document.NationalID}, ""},
		"with two passports":      {foreign, []document.Type{document.Passport, document.Passport}, "MISSING_IDENTITY_DOCUMENT " + second},
		"controls with 0 percent": {func(o *customer.BeneficialOwner) { foreign(o); o.OwnershipPercentage = 0 }, nil, lacksBoth},
		"nobody controls, 24": {func(o *customer.BeneficialOwner) {
			foreign(o)
			o.Roles, o.OwnershipPercentage = []customer.OwnerRole{customer.Director}, 24
		}, nil, "MISSING_BENEFICIAL_OWNER"},
		"nobody controls, 25": {func(o *customer.BeneficialOwner) { foreign(o); o.Roles = []customer.OwnerRole{customer.UltimateOwner} },
			nil, lacksBoth + "\nMISSING_BENEFICIAL_OWNER"},
		"a check found something": {func(o *customer.BeneficialOwner) { o.Status, o.Check.Errors = customer.Pending, someErrors }, nil,
			"INVALID_FIELD address"},
		"and there is a new document": {func(o *customer.BeneficialOwner) { o.Status, o.Check.Errors = customer.Pending, someErrors },
			[]document.Type{document.Passport}, ""},
	} {
		c, owners, documents := completeBusiness()
		test.edit(&owners[0])
		for _, kind := range test.documents {
			h := document.Holder{Owner: owners[0].ID}
			documents = append(documents, newDocument(h, kind, document.Front))
			if kind.HasTwoSides() {
				documents = append(documents, newDocument(h, kind, document.Back))
			}
		}
		lines := strings.Split(test.want, "\n")
		slices.Sort(lines)
		if got := describe(Missing(c, owners, documents, now)); got != strings.Join(lines, "\n") {
			t.Errorf("%s lacks\n%s\nwant\n%s", name, got, test.want)
		}
	}
}

func foreign(o *customer.BeneficialOwner) {
	o.Person.Nationality, o.Person.IDType = "BR", customer.NonUSTaxID
}

func TestMissing_EveryErrorIsComplete(t *testing.T) {
	// Whatever is missing, each error names a resource, a known type and a reason, and either a field or
	// documents where its type says so.
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c, owners, documents := completeBusiness()
		if rapid.Bool().Draw(rt, "individual") {
			c, owners = person(), nil
		}
		if c.Business != nil {
			c.Business.EntityType = rapid.SampledFrom(append(customer.EntityTypes, "")).Draw(rt, "entity type")
			c.Business.TaxID = rapid.SampledFrom([]string{"", "x", "12-3456789"}).Draw(rt, "tax id")
		}
		if rapid.Bool().Draw(rt, "no owners") {
			owners = nil
		}
		documents = documents[:rapid.IntRange(0, len(documents)).Draw(rt, "documents")]
		for _, e := range Missing(c, owners, documents, now) {
			aboutField := e.Type == customer.MissingField || e.Type == customer.InvalidField
			aboutDocument := strings.Contains(string(e.Type), "DOCUMENT")
			if e.Resource == "" || e.Reason == "" || !slices.Contains(customer.CheckErrorTypes, e.Type) ||
				(e.Field != "") != aboutField || (len(e.AcceptedDocuments) > 0) != aboutDocument {
				rt.Fatalf("%+v", e)
			}
		}
	})
}
