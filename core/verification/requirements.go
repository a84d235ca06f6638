package verification

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"causeway/core/customer"
	"causeway/core/document"
)

// profile is what the requirements for a customer depend on.
type profile struct {
	customerType customer.Type
	// country is where a business is registered, or the region of an individual (ISO 3166-1 alpha-2).
	country string
	// entityType is the legal form of a business; OTHER if it is not known yet, so that nothing is
	// asked for later that could be asked for now.
	entityType string
}

func profileOf(c customer.Customer) profile {
	p := profile{customerType: c.Type, country: c.Region}
	if b := c.Business; b != nil {
		p.entityType = "OTHER"
		if b.EntityType != "" {
			p.entityType = b.EntityType
		}
		if b.Country != "" {
			p.country = b.Country
		}
	}
	return p
}

// scope says to which customers a requirement applies. Empty fields apply to all.
type scope struct {
	customerType customer.Type
	countries    []string
	entityTypes  []string
	// notEntityTypes are exceptions.
	notEntityTypes []string
}

func (s scope) includes(p profile) bool {
	return s.customerType == p.customerType &&
		(len(s.countries) == 0 || slices.Contains(s.countries, p.country)) &&
		(len(s.entityTypes) == 0 || slices.Contains(s.entityTypes, p.entityType)) &&
		!slices.Contains(s.notEntityTypes, p.entityType)
}

var (
	individuals = scope{customerType: customer.Individual}
	businesses  = scope{customerType: customer.Business}
)

// A company is every business with a legal personality of its own, or with partners.
var companies = scope{customerType: customer.Business, notEntityTypes: []string{"SOLE_PROPRIETORSHIP"}}

// requiredFields are the fields that must be given. Which fields are checked is in fieldsOf.
var requiredFields = []struct {
	scope
	path string
}{
	{individuals, "fullName"},
	{individuals, "birthDate"},
	{individuals, "nationality"},
	{individuals, "address"},
	{businesses, "businessInfo.country"},
	{businesses, "businessInfo.entityType"},
	{businesses, "businessInfo.taxId"},
	{companies, "businessInfo.registrationNumber"},
	{businesses, "address"},
}

// fieldRules are what given fields must be.
var fieldRules = []struct {
	scope
	path   string
	valid  func(value string) bool
	reason string
}{
	{individuals, "fullName", func(name string) bool { return strings.Contains(name, " ") }, "Give the full name: first and last name."},
	{scope{customerType: customer.Business, countries: []string{"US"}, notEntityTypes: []string{"SOLE_PROPRIETORSHIP"}},
		"businessInfo.taxId", customer.IsEIN, "The tax id of a business in the US is its EIN: nine digits, such as 12-3456789."},
	{scope{customerType: customer.Business, countries: []string{"US"}, entityTypes: []string{"SOLE_PROPRIETORSHIP"}},
		"businessInfo.taxId", func(id string) bool { return customer.IsEIN(id) || customer.IsSSN(id) },
		"The tax id of a sole proprietor in the US is an EIN or an SSN of nine digits."},
}

// requiredDocuments are the documents of which the customer must have one.
var requiredDocuments = []struct {
	scope
	category document.Category
	missing  customer.CheckErrorType
	// maxAge is how many months ago it may have been uploaded; 0 for any time.
	maxAge int
	reason string
}{
	{individuals, document.Identity, customer.MissingIdentityDocument, 0, "Upload a passport, or both sides of a driver's license or " +
		"national id card."},
	{companies, document.LegalPresence, customer.MissingLegalPresenceDocument, 0, "Upload a document that shows that the business is " +
		"registered."},
	{companies, document.ControlStructure, customer.MissingControlStructureDocument, 0,
		"Upload a document that shows who controls the business."},
	{scope{customerType: customer.Business, notEntityTypes: []string{"SOLE_PROPRIETORSHIP", "NON_PROFIT", "PRIVATE_FOUNDATION",
		"CHARITY"}}, // which nobody owns
		document.OwnershipStructure, customer.MissingOwnershipStructureDocument, 0, "Upload a document that shows who owns the business."},
	{businesses, document.ProofOfAddress, customer.MissingProofOfAddressDocument, 3,
		"Upload a proof of the address of the business that is at most 3 months old."},
}

// minOwnership is the percentage from which an owner's identity is proved with documents, as that of a
// person who controls the business is (FATF recommendation 24; 31 CFR 1010.230).
const minOwnership = 25

// Missing returns what a customer, its beneficial owners and their documents still lack to be
// submitted; nil if nothing. Superseded documents do not count.
func Missing(c customer.Customer, owners []customer.BeneficialOwner, documents []document.Document, now time.Time) []customer.CheckError {
	missing := missingFields(c)
	of := func(h document.Holder) []document.Document {
		return slices.DeleteFunc(slices.Clone(documents), func(d document.Document) bool { return d.Holder != h || !d.SupersededBy.IsZero() })
	}
	held := of(document.Holder{Customer: c.ID})
	for _, need := range requiredDocuments {
		if need.includes(profileOf(c)) {
			missing = append(missing, missingDocument(c.ID.String(), need.missing, document.TypesOf(need.category), held, need.maxAge,
				need.reason, now)...)
		}
	}
	if c.Type != customer.Business {
		return missing
	}
	missing = append(missing, missingOwners(c, owners)...)
	for _, o := range owners {
		missing = append(missing, missingOfOwner(o, of(document.Holder{Owner: o.ID}), now)...)
	}
	return missing
}

// missingFields returns an error for each field that is missing or not valid.
func missingFields(c customer.Customer) []customer.CheckError {
	var found []customer.CheckError
	values := map[string]string{}
	for _, f := range fieldsOf(c) {
		values[f.path] = f.value(c)
	}
	add := func(kind customer.CheckErrorType, path, reason string) {
		found = append(found, customer.CheckError{Resource: c.ID.String(), Type: kind, Field: path, Reason: reason})
	}
	for _, need := range requiredFields {
		if need.includes(profileOf(c)) && strings.TrimSpace(values[need.path]) == "" {
			add(customer.MissingField, need.path, "The field is required. Set it with PATCH /customers/{customerId}.")
		}
	}
	for _, rule := range fieldRules {
		if value := values[rule.path]; rule.includes(profileOf(c)) && value != "" && !rule.valid(value) {
			add(customer.InvalidField, rule.path, rule.reason)
		}
	}
	return found
}

// missingOwners returns an error if nobody is named who controls the business.
func missingOwners(c customer.Customer, owners []customer.BeneficialOwner) []customer.CheckError {
	var reason string
	switch {
	case len(owners) == 0:
		reason = "Add every person who owns 25 percent or more, and one person with the role CONTROL_PERSON."
	case !slices.ContainsFunc(owners, func(o customer.BeneficialOwner) bool { return slices.Contains(o.Roles, customer.ControlPerson) }):
		reason = "One of the beneficial owners must have the role CONTROL_PERSON."
	default:
		return nil
	}
	return []customer.CheckError{{Resource: c.ID.String(), Type: customer.MissingBeneficialOwner, Reason: reason}}
}

// missingOfOwner returns what the check of an owner found and is not corrected, and the documents that
// the owner lacks. The number of a US person identifies without a document.
func missingOfOwner(o customer.BeneficialOwner, held []document.Document, now time.Time) []customer.CheckError {
	if len(o.Check.Errors) > 0 && o.Status == customer.Pending && !slices.ContainsFunc(held, isNew) {
		return o.Check.Errors
	}
	mustProve := o.OwnershipPercentage >= minOwnership || slices.Contains(o.Roles, customer.ControlPerson)
	if !mustProve || o.Person.Nationality == "US" || o.Person.IDType == customer.SSN {
		return nil
	}
	const first = "Upload the passport of an owner from outside the US."
	const second = "Upload a second identity document of an owner from outside the US: both sides of a driver's license or national id card."
	missing := missingDocument(o.ID.String(), customer.MissingIdentityDocument, []document.Type{document.Passport}, held, 0, first, now)
	return append(missing, missingDocument(o.ID.String(), customer.MissingIdentityDocument,
		[]document.Type{document.NationalID, document.DriversLicense}, held, 0, second, now)...)
}

func isNew(d document.Document) bool { return d.SubmittedAt.IsZero() }

// missingDocument returns an error unless the holder has a complete document of one of the types: with
// the documents that are incomplete or too old if there are any, else one that says what is missing.
func missingDocument(holder string, missing customer.CheckErrorType, accepted []document.Type, held []document.Document, maxAge int,
	reason string, now time.Time) []customer.CheckError {
	names := make([]string, len(accepted))
	for i, t := range accepted {
		names[i] = string(t)
	}
	var unusable []customer.CheckError
	for _, d := range held {
		if !slices.Contains(accepted, d.Type) {
			continue
		}
		problem := customer.CheckError{Resource: d.ID.String(), AcceptedDocuments: names}
		switch {
		case maxAge > 0 && d.UpdatedAt.Before(now.AddDate(0, -maxAge, 0)):
			problem.Type, problem.Reason = customer.ExpiredDocument, fmt.Sprintf("The document was uploaded more than %d months ago. Upload a new "+
				"one.", maxAge)
		case d.Type.HasTwoSides() && !hasOtherSide(d, held):
			problem.Type, problem.Reason = customer.IncompleteDocument, "Upload the other side of the document too."
		default:
			return nil
		}
		unusable = append(unusable, problem)
	}
	if len(unusable) > 0 {
		return unusable
	}
	return []customer.CheckError{{Resource: holder, Type: missing, AcceptedDocuments: names, Reason: reason}}
}

// hasOtherSide reports whether the other side of a document was uploaded too.
func hasOtherSide(d document.Document, held []document.Document) bool {
	return slices.ContainsFunc(held, func(other document.Document) bool {
		return other.Type == d.Type && other.Country == d.Country && other.Side != d.Side
	})
}
