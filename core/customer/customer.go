package customer

import (
	"time"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
)

// Customer is a customer of a platform.
type Customer struct {
	ID       ident.Customer
	Platform ident.Platform
	// PlatformCustomerID is the platform's own id of the customer, unique among its active
	// customers.
	PlatformCustomerID string
	Type               Type
	// Region (ISO 3166-1 alpha-2) decides the rules of verification and never changes.
	Region     string
	Currencies []money.Currency
	Email      string
	// PhoneNumber is in the form of E.164.
	PhoneNumber string
	UMAAddress  string
	// Status is the KYC status of an individual and the KYB status of a business.
	Status Status

	// FullName, BirthDate (YYYY-MM-DD) and Nationality (ISO 3166-1 alpha-2) are for
	// individuals; they may be empty.
	FullName    string
	BirthDate   string
	Nationality string
	// IDType, Identifier and CountryOfIssuance are of individuals, as those of a PersonalInfo; all are empty if none was given.
	IDType            string
	Identifier        string
	CountryOfIssuance string
	// Diligence is of individuals.
	Diligence Diligence
	// Business is set for businesses only.
	Business *BusinessInfo
	// Owners are the beneficial owners of a business, oldest first, where the customer is shown to the
	// platform; nil elsewhere.
	Owners []BeneficialOwner
	// Address is nil if none was given.
	Address *party.Address

	Contacts Contacts
	// NeedsSCA: the region requires strong customer authentication, for which contacts are verified. It is set where the customer is shown
	// to the platform.
	NeedsSCA bool

	// Consent is the latest one to the terms for end users; nil if the platform has stated none.
	Consent *Consent

	CreatedAt time.Time
	UpdatedAt time.Time
	// IdentityChangedAt is when the Identity last changed; zero if it did not since the creation.
	IdentityChangedAt time.Time
	// HeldAt is when an entry of a sanctions list, or a person, stopped the payments of the customer, who was approved;
	// zero if none does. A held customer is PENDING.
	HeldAt time.Time
	// OnHoldSince is when a person has put the customer on hold; zero if nobody has.
	OnHoldSince time.Time
	// DeletedAt is zero while the customer is active.
	DeletedAt time.Time
	// ErasedAt is when the personal data of a deleted customer was erased; zero if it was not.
	ErasedAt time.Time
}

// Type is the type of a customer: person or business.
type Type string

// The types of customer.
const (
	Individual Type = "INDIVIDUAL"
	Business   Type = "BUSINESS"
)

// BusinessInfo is the data of a business. All but LegalName may be empty. Countries are ISO
// 3166-1 alpha-2, IncorporatedOn is YYYY-MM-DD.
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
	SourceOfFundsCategories          []string
	SourceOfFundsOtherDescription    string
	PurposeOfAccountOtherDescription string
	// ExpectedCounterpartyCountries are where its payers and beneficiaries are.
	ExpectedCounterpartyCountries []string
	// NAICSCode is its industry in the North American Industry Classification System: 2 to 6 digits.
	NAICSCode               string
	PrimaryContactFirstName string
	PrimaryContactLastName  string
}

// Deleted reports whether the customer is deleted.
func (c Customer) Deleted() bool { return !c.DeletedAt.IsZero() }

// Owning returns the customer if it has an id, or nil.
func (c *Customer) Owning(id ident.Customer) *Customer {
	if c == nil || id.IsZero() || c.ID != id {
		return nil
	}
	return c
}

// Name returns the full name of a person or the legal name of a business; it may be empty.
func (c Customer) Name() string {
	if c.Business != nil {
		return c.Business.LegalName
	}
	return c.FullName
}

// Facts returns the customer's data by the names of counterparty fields, without empty ones. The number of a document is not among them:
// the platform states it, if it approves that.
func (c Customer) Facts() map[string]string {
	facts := map[string]string{
		"FULL_NAME": c.Name(), "BIRTH_DATE": c.BirthDate, "NATIONALITY": c.Nationality,
		"EMAIL": c.Email, "PHONE_NUMBER": c.PhoneNumber, "USER_TYPE": string(c.Type), "ACCOUNT_IDENTIFIER": c.UMAAddress,
	}
	if a := c.Address; a != nil {
		facts["COUNTRY_OF_RESIDENCE"] = a.Country
	}
	if b := c.Business; b != nil {
		facts["COMPANY_LEGAL_NAME"], facts["REGISTRATION_NUMBER"] = b.LegalName, b.RegistrationNumber
		facts["TAX_ID"], facts["BUSINESS_TYPE"] = b.TaxID, b.BusinessType
	}
	for name, fact := range facts {
		if fact == "" {
			delete(facts, name)
		}
	}
	return facts
}
