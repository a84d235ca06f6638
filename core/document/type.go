package document

import "slices"

// Type is a type of document.
type Type string

// The types that have rules of their own.
const (
	Passport       Type = "PASSPORT"
	DriversLicense Type = "DRIVERS_LICENSE"
	NationalID     Type = "NATIONAL_ID"
)

// Category is what documents prove. A type can be in several.
type Category int

// The categories.
const (
	Identity Category = iota
	LegalPresence
	ControlStructure
	OwnershipStructure
	ProofOfAddress
)

// byCategory has the types of each category.
var byCategory = map[Category][]Type{
	Identity:           {Passport, DriversLicense, NationalID},
	LegalPresence:      {"CERTIFICATE_OF_INCORPORATION", "ARTICLES_OF_INCORPORATION", "ARTICLES_OF_ASSOCIATION", "STATE_REGISTRY_EXCERPT"},
	ControlStructure:   {"DIRECTOR_REGISTRY", "TRUST_AGREEMENT", "STATE_COMPANY_REGISTRY", "PARTNERSHIP_CONTROL_AGREEMENT"},
	OwnershipStructure: {"SHAREHOLDER_REGISTER", "TRUST_AGREEMENT", "PARTNERSHIP_AGREEMENT"},
	ProofOfAddress:     {"UTILITY_BILL", "RENT_OR_LEASE_AGREEMENT", "ELECTRICITY_BILL", "BANK_STATEMENT", "TAX_RETURN", "PROOF_OF_ADDRESS"},
}

// types are all types, in the order of the interface.
var types = []Type{
	Passport, DriversLicense, NationalID, "PROOF_OF_ADDRESS", "BANK_STATEMENT", "TAX_RETURN", "CERTIFICATE_OF_INCORPORATION",
	"ARTICLES_OF_INCORPORATION", "ARTICLES_OF_ASSOCIATION", "STATE_REGISTRY_EXCERPT", "GOOD_STANDING_CERTIFICATE", "INFORMATION_STATEMENT",
	"INCUMBENCY_CERTIFICATE", "BUSINESS_LICENSE", "SHAREHOLDER_REGISTER", "POWER_OF_ATTORNEY", "UTILITY_BILL", "ELECTRICITY_BILL",
	"RENT_OR_LEASE_AGREEMENT", "DIRECTOR_REGISTRY", "TRUST_AGREEMENT", "STATE_COMPANY_REGISTRY", "PARTNERSHIP_CONTROL_AGREEMENT",
	"PARTNERSHIP_AGREEMENT", "SELFIE", "OTHER",
}

// Types returns all types of documents.
func Types() []Type { return slices.Clone(types) }

// TypesOf returns the types of documents of a category.
func TypesOf(c Category) []Type { return slices.Clone(byCategory[c]) }

// IsKnown reports whether t is one of the types.
func (t Type) IsKnown() bool { return slices.Contains(types, t) }

// In reports whether documents of the type prove what the category needs.
func (t Type) In(c Category) bool { return slices.Contains(byCategory[c], t) }

// HasTwoSides reports whether the sides of such a document are uploaded one by one.
func (t Type) HasTwoSides() bool { return t == DriversLicense || t == NationalID }

// Side is a side of a document with two sides.
type Side string

// The sides.
const (
	Front Side = "FRONT"
	Back  Side = "BACK"
)
