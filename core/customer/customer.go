package customer

import (
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
	"causeway/core/platform"
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
	UMAAddress string
	// Status is the KYC status of an individual and the KYB status of a business.
	Status Status

	// FullName, BirthDate (YYYY-MM-DD) and Nationality (ISO 3166-1 alpha-2) are for
	// individuals; they may be empty.
	FullName    string
	BirthDate   string
	Nationality string
	// Business is set for businesses only.
	Business *BusinessInfo
	// Address is nil if none was given.
	Address *party.Address

	CreatedAt time.Time
	UpdatedAt time.Time
	// DeletedAt is zero while the customer is active.
	DeletedAt time.Time
}

// Type is the type of a customer: person or business.
type Type string

// The types of customer.
const (
	Individual Type = "INDIVIDUAL"
	Business   Type = "BUSINESS"
)

// Status is the status of a customer's verification.
type Status string

// The statuses of verification.
const (
	Unverified Status = "UNVERIFIED"
	Pending    Status = "PENDING"
	Approved   Status = "APPROVED"
	Rejected   Status = "REJECTED"
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
}

// Deleted reports whether the customer is deleted.
func (c Customer) Deleted() bool { return !c.DeletedAt.IsZero() }

// Name returns the full name of a person or the legal name of a business; it may be empty.
func (c Customer) Name() string {
	if c.Business != nil {
		return c.Business.LegalName
	}
	return c.FullName
}

// Facts returns the customer's data by the names of counterparty fields, without empty ones.
func (c Customer) Facts() map[string]string {
	facts := map[string]string{
		"FULL_NAME": c.Name(), "BIRTH_DATE": c.BirthDate, "NATIONALITY": c.Nationality,
		"EMAIL": c.Email, "USER_TYPE": string(c.Type), "ACCOUNT_IDENTIFIER": c.UMAAddress,
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

// initialStatus returns the status of a new customer. A regulated platform has verified its
// customers itself. In the sandbox, individuals are approved at once.
func initialStatus(customerType Type, p platform.Platform) Status {
	switch {
	case p.Regulated:
		return Approved
	case p.Environment == platform.Sandbox && customerType == Individual:
		return Approved
	default:
		return Pending
	}
}

// CheckReady returns nil if money may be moved for the customer, else CUSTOMER_DELETED or
// USER_NOT_READY.
func (c Customer) CheckReady() error {
	if c.Deleted() {
		return fault.New(fault.CustomerDeleted, "The customer %s is deleted; no money can be moved for it.", c.ID)
	}
	if c.Status == Approved {
		return nil
	}
	message := "Send the customer through the link of POST /customers/{customerId}/kyc-link and wait for the approval."
	if c.Type == Business {
		message = "Submit the data of the business with POST /verifications, or send the customer through the link of POST /customers/{customerId}/kyc-link, and wait for the approval."
	}
	if c.Status == Rejected {
		message = "The verification was rejected; money cannot be moved for this customer."
	}
	return &fault.Error{
		Code:    fault.UserNotReady,
		Message: "The customer is not verified. " + message,
		Reason:  "Customer not verified",
		Details: map[string]any{"customerId": c.ID.String(), c.statusField(): string(c.Status)},
	}
}

// statusField returns the name of the status in the API.
func (c Customer) statusField() string {
	if c.Type == Business {
		return "kybStatus"
	}
	return "kycStatus"
}
