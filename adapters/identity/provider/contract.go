package provider

import (
	"encoding/hex"
	"time"

	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/party"
	"causeway/core/verification"
)

// Application is the JSON of a submission. Empty fields are left out; dates are YYYY-MM-DD, countries
// ISO 3166-1 alpha-2.
type Application struct {
	ID          string `json:"id"`
	PlatformID  string `json:"platformId"`
	SubjectID   string `json:"subjectId"`
	CallbackURL string `json:"callbackUrl"`
	SubmittedAt string `json:"submittedAt"`
	// Owner is the person to check, of the business Customer; nil to check the customer.
	Owner     *Owner     `json:"owner,omitempty"`
	Customer  Customer   `json:"customer"`
	Documents []Document `json:"documents"`
}

// Customer is a person or a business.
type Customer struct {
	ID          string    `json:"id"`
	Type        string    `json:"type"`
	Region      string    `json:"region,omitempty"`
	Email       string    `json:"email,omitempty"`
	FullName    string    `json:"fullName,omitempty"`
	BirthDate   string    `json:"birthDate,omitempty"`
	Nationality string    `json:"nationality,omitempty"`
	Diligence   Diligence `json:"diligence,omitzero"`
	Address     *Address  `json:"address,omitempty"`
	Business    *Business `json:"businessInfo,omitempty"`
	Owners      []Owner   `json:"owners,omitempty"`
}

// Business is the data of a business.
type Business struct {
	LegalName                        string   `json:"legalName"`
	DoingBusinessAs                  string   `json:"doingBusinessAs,omitempty"`
	Country                          string   `json:"country,omitempty"`
	RegistrationNumber               string   `json:"registrationNumber,omitempty"`
	IncorporatedOn                   string   `json:"incorporatedOn,omitempty"`
	EntityType                       string   `json:"entityType,omitempty"`
	TaxID                            string   `json:"taxId,omitempty"`
	CountriesOfOperation             []string `json:"countriesOfOperation,omitempty"`
	BusinessType                     string   `json:"businessType,omitempty"`
	PurposeOfAccount                 string   `json:"purposeOfAccount,omitempty"`
	SourceOfFunds                    string   `json:"sourceOfFunds,omitempty"`
	ExpectedMonthlyTransactionCount  string   `json:"expectedMonthlyTransactionCount,omitempty"`
	ExpectedMonthlyTransactionVolume string   `json:"expectedMonthlyTransactionVolume,omitempty"`
	ExpectedRecipientJurisdictions   []string `json:"expectedRecipientJurisdictions,omitempty"`
	SourceOfFundsCategories          []string `json:"sourceOfFundsCategories,omitempty"`
	SourceOfFundsOtherDescription    string   `json:"sourceOfFundsOtherDescription,omitempty"`
	PurposeOfAccountOtherDescription string   `json:"purposeOfAccountOtherDescription,omitempty"`
	ExpectedCounterpartyCountries    []string `json:"expectedCounterpartyCountries,omitempty"`
	NAICSCode                        string   `json:"naicsCode,omitempty"`
	PrimaryContactFirstName          string   `json:"primaryContactFirstName,omitempty"`
	PrimaryContactLastName           string   `json:"primaryContactLastName,omitempty"`
}

// Diligence is what a person says about its money.
type Diligence struct {
	SourceOfFundsCategories          []string `json:"sourceOfFundsCategories,omitempty"`
	SourceOfFundsOtherDescription    string   `json:"sourceOfFundsOtherDescription,omitempty"`
	SourceOfWealthCategories         []string `json:"sourceOfWealthCategories,omitempty"`
	SourceOfWealthOtherDescription   string   `json:"sourceOfWealthOtherDescription,omitempty"`
	PurposeOfAccount                 string   `json:"purposeOfAccount,omitempty"`
	PurposeOfAccountOtherDescription string   `json:"purposeOfAccountOtherDescription,omitempty"`
	ExpectedMonthlyTransactionCount  string   `json:"expectedMonthlyTransactionCount,omitempty"`
	ExpectedMonthlyTransactionVolume string   `json:"expectedMonthlyTransactionVolume,omitempty"`
	AnnualIncomeRange                string   `json:"annualIncomeRange,omitempty"`
	NetWorthRange                    string   `json:"netWorthRange,omitempty"`
	PEPStatus                        string   `json:"pepStatus,omitempty"`
}

// Owner is a beneficial owner of a business.
type Owner struct {
	ID                  string   `json:"id"`
	Roles               []string `json:"roles"`
	OwnershipPercentage int      `json:"ownershipPercentage"`
	Person              Person   `json:"personalInfo"`
}

// Person identifies a person.
type Person struct {
	FirstName         string  `json:"firstName"`
	MiddleName        string  `json:"middleName,omitempty"`
	LastName          string  `json:"lastName"`
	BirthDate         string  `json:"birthDate"`
	Nationality       string  `json:"nationality"`
	Email             string  `json:"email,omitempty"`
	PhoneNumber       string  `json:"phoneNumber,omitempty"`
	Address           Address `json:"address"`
	IDType            string  `json:"idType"`
	Identifier        string  `json:"identifier"`
	CountryOfIssuance string  `json:"countryOfIssuance,omitempty"`
}

// Address is a postal address.
type Address struct {
	Line1      string `json:"line1"`
	Line2      string `json:"line2,omitempty"`
	City       string `json:"city"`
	State      string `json:"state,omitempty"`
	PostalCode string `json:"postalCode"`
	Country    string `json:"country"`
}

// Document describes a file, which is the part of the form that has the name ID.
type Document struct {
	ID               string `json:"id"`
	HolderID         string `json:"documentHolder"`
	Type             string `json:"documentType"`
	Side             string `json:"side,omitempty"`
	Country          string `json:"country"`
	Number           string `json:"documentNumber,omitempty"`
	IssuingAuthority string `json:"issuingAuthority,omitempty"`
	ContentType      string `json:"contentType"`
	Size             int64  `json:"size"` // bytes
	SHA256           string `json:"sha256"`
}

// State is the JSON of a response and of a decision: the state of an application at the provider.
type State struct {
	ID         string       `json:"id"`
	PlatformID string       `json:"platformId,omitempty"`
	SubjectID  string       `json:"subjectId,omitempty"`
	Status     string       `json:"status"`
	Errors     []CheckError `json:"errors,omitempty"`
	// Reason is for operators.
	Reason string `json:"reason,omitempty"`
	// Documents are those that were received, in the response to a submission.
	Documents []ReceivedDocument `json:"documents,omitempty"`
}

// CheckError is what is wrong with a customer, owner or document.
type CheckError struct {
	ResourceID        string   `json:"resourceId"`
	Type              string   `json:"type"`
	Field             string   `json:"field,omitempty"`
	AcceptedDocuments []string `json:"acceptedDocuments,omitempty"`
	Reason            string   `json:"reason"`
}

// ReceivedDocument is a file that the provider has received.
type ReceivedDocument struct {
	ID     string `json:"id"`
	SHA256 string `json:"sha256"`
}

// verdicts are the verdicts of statuses.
var verdicts = map[string]verification.Verdict{
	string(verification.InProgress):          verification.Waiting,
	string(verification.PendingManualReview): verification.InReview,
	string(verification.ResolveErrors):       verification.Correctable,
	string(verification.Approved):            verification.Accepted,
	string(verification.Rejected):            verification.Refused,
}

// outcome returns the outcome, whose verdict is empty if the status is not known.
func (s State) outcome() verification.Outcome {
	outcome := verification.Outcome{Verdict: verdicts[s.Status], Reason: s.Reason}
	for _, e := range s.Errors {
		outcome.Errors = append(outcome.Errors, customer.CheckError{Resource: e.ResourceID, Type: customer.CheckErrorType(e.Type), Field: e.Field,
			AcceptedDocuments: e.AcceptedDocuments, Reason: e.Reason})
	}
	return outcome
}

func newApplication(a verification.Application, documents []document.Document, callbackURL string) Application {
	c := a.Customer
	out := Application{ID: a.ID.String(), PlatformID: a.Platform.String(), SubjectID: a.Subject().String(), CallbackURL: callbackURL,
		SubmittedAt: a.SubmittedAt.UTC().Format(time.RFC3339), Documents: []Document{},
		Customer: Customer{ID: c.ID.String(), Type: string(c.Type), Region: c.Region, Email: c.Email, FullName: c.FullName,
			BirthDate: c.BirthDate, Nationality: c.Nationality, Diligence: Diligence(c.Diligence)}}
	if c.Address != nil {
		address := newAddress(*c.Address)
		out.Customer.Address = &address
	}
	if b := c.Business; b != nil {
		info := Business(*b)
		out.Customer.Business = &info
	}
	for _, o := range a.Owners {
		out.Customer.Owners = append(out.Customer.Owners, newOwner(o))
	}
	if a.Owner != nil {
		owner := newOwner(*a.Owner)
		out.Owner = &owner
	}
	for _, d := range documents {
		out.Documents = append(out.Documents, Document{ID: d.ID.String(), HolderID: d.Holder.String(), Type: string(d.Type), Side: string(d.Side),
			Country: d.Country,
			Number:  d.Number, IssuingAuthority: d.IssuingAuthority, ContentType: string(d.File.ContentType), Size: d.File.Size,
			SHA256: hex.EncodeToString(d.File.SHA256[:])})
	}
	return out
}

func newOwner(o customer.BeneficialOwner) Owner {
	roles := make([]string, len(o.Roles))
	for i, role := range o.Roles {
		roles[i] = string(role)
	}
	p := o.Person
	return Owner{ID: o.ID.String(), Roles: roles, OwnershipPercentage: o.OwnershipPercentage, Person: Person{
		FirstName: p.FirstName, MiddleName: p.MiddleName, LastName: p.LastName, BirthDate: p.BirthDate, Nationality: p.Nationality,
		Email:       p.Email,
		PhoneNumber: p.PhoneNumber, Address: newAddress(p.Address), IDType: p.IDType, Identifier: p.Identifier,
		CountryOfIssuance: p.CountryOfIssuance}}
}

func newAddress(a party.Address) Address { return Address(a) }
