package customer

import (
	"time"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
)

// Customer is one customer of one platform.
type Customer struct {
	ID       ident.Customer
	Platform ident.Platform
	// PlatformCustomerID is the platform's own name for the customer, unique among
	// its active ones.
	PlatformCustomerID string
	Type               Type
	// Region is ISO 3166-1 alpha-2, decides the rules of verification and never changes.
	Region     string
	Currencies []money.Currency
	Email      string
	UMAAddress string
	// Status is the KYC status of an individual and the KYB status of a business.
	Status Status

	// FullName, BirthDate (YYYY-MM-DD) and Nationality (ISO 3166-1 alpha-2) are an
	// individual's; empty where not given.
	FullName    string
	BirthDate   string
	Nationality string
	// Business is set for businesses alone.
	Business *BusinessInfo
	// Address is nil where none was given.
	Address *party.Address

	CreatedAt time.Time
	UpdatedAt time.Time
	// DeletedAt is zero while the customer is active.
	DeletedAt time.Time
}

// Type says whether the customer is a person or a business.
type Type string

// The types of customer.
const (
	Individual Type = "INDIVIDUAL"
	Business   Type = "BUSINESS"
)

// Status is how far the verification of a customer has come.
type Status string

// The statuses of verification.
const (
	Unverified Status = "UNVERIFIED"
	Pending    Status = "PENDING"
	Approved   Status = "APPROVED"
	Rejected   Status = "REJECTED"
)

// BusinessInfo is what is known of a business. All but LegalName may be empty.
// Countries are ISO 3166-1 alpha-2, IncorporatedOn is YYYY-MM-DD.
type BusinessInfo struct {
	LegalName                        string
	DoingBusinessAs                  string
	Country                          string
	RegistrationNumber               string
	IncorporatedOn                   string
	EntityType                       string
	TaxID                            string
	CountriesOfOperation             []string
	BusinessType                     string
	PurposeOfAccount                 string
	SourceOfFunds                    string
	ExpectedMonthlyTransactionCount  string
	ExpectedMonthlyTransactionVolume string
	ExpectedRecipientJurisdictions   []string
}

// Deleted reports whether the platform removed the customer.
func (c Customer) Deleted() bool { return !c.DeletedAt.IsZero() }

// Name returns the person's full name or the business's legal name; it may be empty.
func (c Customer) Name() string {
	if c.Business != nil {
		return c.Business.LegalName
	}
	return c.FullName
}
