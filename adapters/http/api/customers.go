package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	httpapi "causeway/adapters/http"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ports"
)

// Customers holds the use cases of the customer operations.
type Customers interface {
	Create(ctx context.Context, platformID ident.Platform, idempotent *ports.IdempotentRequest, r customer.Request) (customer.Customer, error)
	Get(ctx context.Context, platformID ident.Platform, id ident.Customer) (customer.Customer, error)
	List(ctx context.Context, platformID ident.Platform, f ports.CustomerFilter) (ports.Page[customer.Customer], error)
	Update(ctx context.Context, platformID ident.Platform, by platform.Author, call wallet.Call, id ident.Customer,
		change customer.Change) (customer.Customer, *wallet.SignedRequest, error)
	CheckUpdate(ctx context.Context, platformID ident.Platform, id ident.Customer, change customer.Change) error
	Delete(ctx context.Context, platformID ident.Platform, by platform.Author, id ident.Customer) (customer.Customer, error)
	EndUserTerms(ctx context.Context) (customer.EndUserTerms, error)
	SendContactCode(ctx context.Context, p ident.Platform, idempotent *ports.IdempotentRequest, id ident.Customer, ch customer.Channel) error
	ConfirmContact(ctx context.Context, p ident.Platform, idempotent *ports.IdempotentRequest, id ident.Customer, ch customer.Channel,
		code string) (customer.Customer, error)
}

// customerCreateRequest is a person or a business; fields of the other type are ignored.
type customerCreateRequest struct {
	PlatformCustomerID string             `json:"platformCustomerId,omitempty" maxLength:"255" doc:"Your id for the customer, unique among your active customers. Generated if omitted." example:"9f84e0c2a72c4fa"`
	CustomerType       string             `json:"customerType" enum:"INDIVIDUAL,BUSINESS" doc:"Type of customer: a person or a business." example:"INDIVIDUAL"`
	Region             httpapi.Country    `json:"region,omitempty" doc:"Country whose verification rules apply. It cannot be changed."`
	Currencies         []httpapi.Currency `json:"currencies,omitempty" doc:"Currencies that the customer uses. Defaults to the currency of the region." example:"[\"USD\"]"`
	Email              string             `json:"email,omitempty" format:"email" doc:"Email address." example:"ana@example.com"`
	PhoneNumber        string             `json:"phoneNumber,omitempty" pattern:"^\\+[1-9]\\d{1,14}$" doc:"Phone number with its country code (E.164)." example:"+447700900123"`
	UMAAddress         string             `json:"umaAddress,omitempty" doc:"UMA address of the customer under your umaDomain, unique among your active customers. Upper and lower case are the same. Generated if omitted." example:"$ana@uma.example.com"`
	Address            *address           `json:"address,omitempty" doc:"Residential or business address."`

	FullName          string          `json:"fullName,omitempty" doc:"INDIVIDUAL only: full name. In the sandbox its last three characters decide, unless the platform is regulated: 001 is PENDING, 002 REJECTED, 003 PENDING until it is corrected, any other APPROVED." example:"Ana Silva"`
	BirthDate         string          `json:"birthDate,omitempty" format:"date" doc:"INDIVIDUAL only: date of birth." example:"1990-01-31"`
	Nationality       httpapi.Country `json:"nationality,omitempty" doc:"INDIVIDUAL only: nationality."`
	IDType            idType          `json:"idType,omitempty" doc:"INDIVIDUAL only: type of identifier."`
	Identifier        string          `json:"identifier,omitempty" maxLength:"64" doc:"INDIVIDUAL only: the identifier, with or without dashes. Responses mask it." example:"123-45-6789"`
	CountryOfIssuance httpapi.Country `json:"countryOfIssuance,omitempty" doc:"INDIVIDUAL only: country that issued the identifier. Required for NON_US_TAX_ID."`
	KYCStatus         string          `json:"kycStatus,omitempty" readOnly:"true" doc:"INDIVIDUAL only: set by the service; ignored in requests."`
	Diligence

	BusinessInfo *businessInfo `json:"businessInfo,omitempty" doc:"BUSINESS only: required, with at least legalName."`

	Consent   *termsConsent `json:"endUserTermsConsent,omitempty" doc:"How the customer has accepted the terms of GET /customers/end-user-terms."`
	KYBStatus string        `json:"kybStatus,omitempty" readOnly:"true" doc:"BUSINESS only: set by the service; ignored in requests."`
}

// address is a postal address, in requests and responses.
type address struct {
	Line1      string          `json:"line1" maxLength:"255" doc:"Street and number." example:"123 Main Street"`
	Line2      string          `json:"line2,omitempty" maxLength:"255" doc:"Apartment, suite, unit or building." example:"Apt 4B"`
	City       string          `json:"city" maxLength:"255" doc:"City." example:"San Francisco"`
	State      string          `json:"state,omitempty" maxLength:"255" doc:"State, province or region. Required where postal addresses have one: AU, BR, CA, CN, IN, JP, KR, MX, US." example:"CA"`
	PostalCode string          `json:"postalCode" maxLength:"32" doc:"Postal code." example:"94105"`
	Country    httpapi.Country `json:"country" doc:"Country code." example:"US"`
}

// businessInfo describes a business, in requests and responses.
type businessInfo struct {
	LegalName                        string            `json:"legalName" doc:"Registered legal name." example:"Acme Corporation"`
	DoingBusinessAs                  string            `json:"doingBusinessAs,omitempty" doc:"Trading name." example:"Acme"`
	Country                          httpapi.Country   `json:"country,omitempty" doc:"Country of registration."`
	RegistrationNumber               string            `json:"registrationNumber,omitempty" maxLength:"64" doc:"Company registration number. In the sandbox its last three digits decide the verification: 001 stays PENDING, 002 is REJECTED, any other is APPROVED." example:"5523041"`
	IncorporatedOn                   string            `json:"incorporatedOn,omitempty" format:"date" doc:"Date of incorporation." example:"2018-03-14"`
	EntityType                       entityType        `json:"entityType,omitempty" doc:"Legal form."`
	TaxID                            string            `json:"taxId,omitempty" maxLength:"64" doc:"Tax identification number." example:"47-1234567"`
	CountriesOfOperation             []httpapi.Country `json:"countriesOfOperation,omitempty" doc:"Countries of operation."`
	BusinessType                     businessType      `json:"businessType,omitempty" doc:"Line of business."`
	PurposeOfAccount                 purposeOfAccount  `json:"purposeOfAccount,omitempty" doc:"Purpose of the account."`
	SourceOfFunds                    string            `json:"sourceOfFunds,omitempty" maxLength:"1000" doc:"Source of funds." example:"Sales of software"`
	ExpectedMonthlyTransactionCount  monthlyCount      `json:"expectedMonthlyTransactionCount,omitempty" doc:"Expected number of payments per month."`
	ExpectedMonthlyTransactionVolume monthlyVolume     `json:"expectedMonthlyTransactionVolume,omitempty" doc:"Expected payment volume per month, in US dollars."`
	ExpectedRecipientJurisdictions   []httpapi.Country `json:"expectedRecipientJurisdictions,omitempty" doc:"Countries it expects to send payments to."`
	SourceOfFundsCategories          []businessFunds   `json:"sourceOfFundsCategories,omitempty" doc:"Where its funds come from."`
	SourceOfFundsOtherDescription    string            `json:"sourceOfFundsOtherDescription,omitempty" maxLength:"500" doc:"Source of funds that no category names." example:"Sale of a patent"`
	PurposeOfAccountOtherDescription string            `json:"purposeOfAccountOtherDescription,omitempty" maxLength:"500" doc:"Purpose of the account, if it is OTHER." example:"Deposits of tenants"`
	ExpectedCounterpartyCountries    []httpapi.Country `json:"expectedCounterpartyCountries,omitempty" doc:"Countries of those it expects to pay or be paid by."`
	NAICSCode                        string            `json:"naicsCode,omitempty" pattern:"^\\d{2,6}$" doc:"Industry in the North American Industry Classification System." example:"5112"`
	PrimaryContactFirstName          string            `json:"primaryContactFirstName,omitempty" maxLength:"250" doc:"First name of the person to contact." example:"Ana"`
	PrimaryContactLastName           string            `json:"primaryContactLastName,omitempty" maxLength:"250" doc:"Last name of the person to contact." example:"Silva"`
}

// Diligence is what a person says for enhanced due diligence, in requests and responses.
type Diligence struct {
	SourceOfFundsCategories          []personalFunds  `json:"sourceOfFundsCategories,omitempty" doc:"INDIVIDUAL only: where the funds come from."`
	SourceOfFundsOtherDescription    string           `json:"sourceOfFundsOtherDescription,omitempty" maxLength:"500" doc:"INDIVIDUAL only: source of funds that no category names." example:"Prize money"`
	SourceOfWealthCategories         []sourceOfWealth `json:"sourceOfWealthCategories,omitempty" doc:"INDIVIDUAL only: where the wealth comes from."`
	SourceOfWealthOtherDescription   string           `json:"sourceOfWealthOtherDescription,omitempty" maxLength:"500" doc:"INDIVIDUAL only: source of wealth that no category names." example:"Royalties"`
	PurposeOfAccount                 purposeOfAccount `json:"purposeOfAccount,omitempty" doc:"INDIVIDUAL only: purpose of the account."`
	PurposeOfAccountOtherDescription string           `json:"purposeOfAccountOtherDescription,omitempty" maxLength:"500" doc:"INDIVIDUAL only: purpose of the account, if it is OTHER." example:"Support of relatives"`
	ExpectedMonthlyTransactionCount  monthlyCount     `json:"expectedMonthlyTransactionCount,omitempty" doc:"INDIVIDUAL only: expected number of payments per month."`
	ExpectedMonthlyTransactionVolume monthlyVolume    `json:"expectedMonthlyTransactionVolume,omitempty" doc:"INDIVIDUAL only: expected payment volume per month, in US dollars."`
	AnnualIncomeRange                annualIncome     `json:"annualIncomeRange,omitempty" doc:"INDIVIDUAL only: income of a year, in US dollars."`
	NetWorthRange                    netWorth         `json:"netWorthRange,omitempty" doc:"INDIVIDUAL only: net worth, in US dollars."`
	PEPStatus                        pepStatus        `json:"pepStatus,omitempty" doc:"INDIVIDUAL only: whether the person is politically exposed, in its country, abroad or in an international organisation (HIO), or close to one who is."`
}

func (d Diligence) core() customer.Diligence {
	return customer.Diligence{
		SourceOfFundsCategories: toStrings(d.SourceOfFundsCategories), SourceOfFundsOtherDescription: d.SourceOfFundsOtherDescription,
		SourceOfWealthCategories: toStrings(d.SourceOfWealthCategories), SourceOfWealthOtherDescription: d.SourceOfWealthOtherDescription,
		PurposeOfAccount: string(d.PurposeOfAccount), PurposeOfAccountOtherDescription: d.PurposeOfAccountOtherDescription,
		ExpectedMonthlyTransactionCount:  string(d.ExpectedMonthlyTransactionCount),
		ExpectedMonthlyTransactionVolume: string(d.ExpectedMonthlyTransactionVolume),
		AnnualIncomeRange:                string(d.AnnualIncomeRange), NetWorthRange: string(d.NetWorthRange), PEPStatus: string(d.PEPStatus),
	}
}

func renderDiligence(d customer.Diligence) Diligence {
	return Diligence{
		SourceOfFundsCategories:          fromStrings[personalFunds](d.SourceOfFundsCategories),
		SourceOfFundsOtherDescription:    d.SourceOfFundsOtherDescription,
		SourceOfWealthCategories:         fromStrings[sourceOfWealth](d.SourceOfWealthCategories),
		SourceOfWealthOtherDescription:   d.SourceOfWealthOtherDescription,
		PurposeOfAccount:                 purposeOfAccount(d.PurposeOfAccount),
		PurposeOfAccountOtherDescription: d.PurposeOfAccountOtherDescription,
		ExpectedMonthlyTransactionCount:  monthlyCount(d.ExpectedMonthlyTransactionCount),
		ExpectedMonthlyTransactionVolume: monthlyVolume(d.ExpectedMonthlyTransactionVolume),
		AnnualIncomeRange:                annualIncome(d.AnnualIncomeRange), NetWorthRange: netWorth(d.NetWorthRange),
		PEPStatus: pepStatus(d.PEPStatus),
	}
}

// Enum fields of a business; core defines their values.
type (
	entityType       string
	businessType     string
	purposeOfAccount string
	monthlyCount     string
	monthlyVolume    string
	businessFunds    string
	personalFunds    string
	sourceOfWealth   string
	annualIncome     string
	netWorth         string
	pepStatus        string
)

// Schema returns the enum of values.
func (entityType) Schema(huma.Registry) *huma.Schema   { return enumSchema(customer.EntityTypes) }
func (businessType) Schema(huma.Registry) *huma.Schema { return enumSchema(customer.BusinessTypes) }
func (purposeOfAccount) Schema(huma.Registry) *huma.Schema {
	return enumSchema(customer.PurposesOfAccount)
}
func (monthlyCount) Schema(huma.Registry) *huma.Schema   { return enumSchema(customer.MonthlyCounts) }
func (monthlyVolume) Schema(huma.Registry) *huma.Schema  { return enumSchema(customer.MonthlyVolumes) }
func (businessFunds) Schema(huma.Registry) *huma.Schema  { return enumSchema(customer.BusinessFunds) }
func (personalFunds) Schema(huma.Registry) *huma.Schema  { return enumSchema(customer.PersonalFunds) }
func (sourceOfWealth) Schema(huma.Registry) *huma.Schema { return enumSchema(customer.SourcesOfWealth) }
func (annualIncome) Schema(huma.Registry) *huma.Schema   { return enumSchema(customer.AnnualIncomes) }
func (netWorth) Schema(huma.Registry) *huma.Schema       { return enumSchema(customer.NetWorths) }
func (pepStatus) Schema(huma.Registry) *huma.Schema      { return enumSchema(customer.PEPStatuses) }

// placeholderPlatform is used where core validates a request without its platform. Every UMA address
// is valid on it.
var placeholderPlatform = platform.Platform{ID: ident.NewPlatform(func(time.Time) uuid.UUID { return uuid.Max }, time.Time{})}

// Resolve reports what core finds invalid.
func (r customerCreateRequest) Resolve(huma.Context) []error {
	placeholder := ident.NewCustomer(func(time.Time) uuid.UUID { return uuid.Max }, time.Time{})
	_, err := customer.Create(r.request(), placeholderPlatform, placeholder, uuid.Max, time.Now())
	return httpapi.FieldErrors(err)
}

func (r customerCreateRequest) request() customer.Request {
	request := customer.Request{
		PlatformCustomerID: r.PlatformCustomerID, Type: r.CustomerType, Region: string(r.Region), Currencies: toStrings(r.Currencies),
		Email: r.Email, PhoneNumber: r.PhoneNumber, UMAAddress: r.UMAAddress, FullName: r.FullName, BirthDate: r.BirthDate,
		IDType: string(r.IDType), Identifier: r.Identifier, CountryOfIssuance: string(r.CountryOfIssuance),
		Nationality: string(r.Nationality), Diligence: r.Diligence.core(), Address: r.Address.party(), Consent: r.Consent.consent(),
	}
	if b := r.BusinessInfo; b != nil {
		request.Business = &customer.BusinessInfo{
			LegalName: b.LegalName, DoingBusinessAs: b.DoingBusinessAs, Country: string(b.Country), RegistrationNumber: b.RegistrationNumber,
			IncorporatedOn: b.IncorporatedOn, EntityType: string(b.EntityType), TaxID: b.TaxID,
			CountriesOfOperation: toStrings(b.CountriesOfOperation),
			BusinessType:         string(b.BusinessType), PurposeOfAccount: string(b.PurposeOfAccount), SourceOfFunds: b.SourceOfFunds,
			ExpectedMonthlyTransactionCount:  string(b.ExpectedMonthlyTransactionCount),
			ExpectedMonthlyTransactionVolume: string(b.ExpectedMonthlyTransactionVolume),
			ExpectedRecipientJurisdictions:   toStrings(b.ExpectedRecipientJurisdictions),
			SourceOfFundsCategories:          toStrings(b.SourceOfFundsCategories),
			SourceOfFundsOtherDescription:    b.SourceOfFundsOtherDescription,
			PurposeOfAccountOtherDescription: b.PurposeOfAccountOtherDescription,
			ExpectedCounterpartyCountries:    toStrings(b.ExpectedCounterpartyCountries), NAICSCode: b.NAICSCode,
			PrimaryContactFirstName: b.PrimaryContactFirstName, PrimaryContactLastName: b.PrimaryContactLastName,
		}
	}
	return request
}

type customerBody struct {
	ID                 httpapi.ID[ident.Customer] `json:"id" doc:"Id of the customer."`
	PlatformCustomerID string                     `json:"platformCustomerId" doc:"Your id for the customer." example:"9f84e0c2a72c4fa"`
	CustomerType       string                     `json:"customerType" enum:"INDIVIDUAL,BUSINESS" doc:"Type of customer: a person or a business."`
	Region             httpapi.Country            `json:"region,omitempty" doc:"Country whose verification rules apply."`
	Currencies         []httpapi.Currency         `json:"currencies,omitempty" doc:"Currencies that the customer uses."`
	Email              string                     `json:"email,omitempty" format:"email" doc:"Email address."`
	PhoneNumber        string                     `json:"phoneNumber,omitempty" doc:"Phone number with its country code (E.164)." example:"+447700900123"`
	Contacts           *contactVerification       `json:"contactVerification,omitempty" readOnly:"true" doc:"Whether the customer has verified its contacts. Omitted unless its region requires it: the European Economic Area and the United Kingdom, unless the operator of the service has set others."`
	UMAAddress         string                     `json:"umaAddress" doc:"UMA address of the customer." example:"$ana@uma.example.com"`
	KYCStatus          string                     `json:"kycStatus,omitempty" enum:"UNVERIFIED,PENDING,APPROVED,REJECTED,HOLD" doc:"INDIVIDUAL only: verification status. Only APPROVED customers can send and receive. HOLD: was APPROVED, and resembles an entry of a sanctions list, which the operator of the service reviews."`
	KYBStatus          string                     `json:"kybStatus,omitempty" enum:"UNVERIFIED,PENDING,APPROVED,REJECTED,HOLD" doc:"BUSINESS only: verification status. Only APPROVED customers can send and receive. HOLD: was APPROVED, and it or an owner resembles an entry of a sanctions list, which the operator of the service reviews."`
	FullName           string                     `json:"fullName,omitempty" doc:"INDIVIDUAL only: full name." example:"Ana Silva"`
	BirthDate          string                     `json:"birthDate,omitempty" format:"date" doc:"INDIVIDUAL only: date of birth." example:"1990-01-31"`
	Nationality        httpapi.Country            `json:"nationality,omitempty" doc:"INDIVIDUAL only: nationality."`
	IDType             idType                     `json:"idType,omitempty" doc:"INDIVIDUAL only: type of identifier."`
	Identifier         string                     `json:"identifier,omitempty" doc:"INDIVIDUAL only: the identifier, with an asterisk for all but its last characters." example:"***-**-6789"`
	CountryOfIssuance  httpapi.Country            `json:"countryOfIssuance,omitempty" doc:"INDIVIDUAL only: country that issued the identifier."`
	Diligence
	Address          *address              `json:"address,omitempty" doc:"Residential or business address."`
	BusinessInfo     *businessInfo         `json:"businessInfo,omitempty" doc:"BUSINESS only: information about the business."`
	BeneficialOwners []beneficialOwnerBody `json:"beneficialOwners,omitempty" doc:"BUSINESS only: the persons who own or control it. Omitted if there are none."`
	Consent          *termsConsent         `json:"endUserTermsConsent,omitempty" doc:"How the customer has accepted the terms for end users, by the latest consent."`
	CreatedAt        httpapi.Time          `json:"createdAt" doc:"Time the customer was created."`
	UpdatedAt        httpapi.Time          `json:"updatedAt" doc:"Time of the last change."`
	IsDeleted        bool                  `json:"isDeleted" doc:"Whether the customer was deleted."`
}

func renderCustomer(c customer.Customer) customerBody {
	body := customerBody{
		ID: httpapi.NewID(c.ID), PlatformCustomerID: c.PlatformCustomerID, CustomerType: string(c.Type), Region: httpapi.Country(c.Region),
		Email: c.Email, PhoneNumber: c.PhoneNumber, Contacts: renderContacts(c), UMAAddress: c.UMAAddress,
		FullName: c.FullName, BirthDate: c.BirthDate, Nationality: httpapi.Country(c.Nationality),
		IDType: idType(c.IDType), Identifier: c.MaskedIdentifier(), CountryOfIssuance: httpapi.Country(c.CountryOfIssuance),
		Address: renderAddress(c.Address), CreatedAt: httpapi.NewTime(c.CreatedAt), UpdatedAt: httpapi.NewTime(c.UpdatedAt),
		IsDeleted: c.Deleted(), Diligence: renderDiligence(c.Diligence),
	}
	if given := c.Consent; given != nil {
		body.Consent = &termsConsent{TermsVersion: given.Version, AcceptanceMethod: acceptanceMethod(given.Method),
			IPAddress: given.IPAddress, AcceptedAt: httpapi.NewTime(given.AcceptedAt)}
	}
	for _, o := range c.Owners {
		body.BeneficialOwners = append(body.BeneficialOwners, renderBeneficialOwner(o))
	}
	for _, currency := range c.Currencies {
		body.Currencies = append(body.Currencies, httpapi.Currency(currency))
	}
	if c.Type == customer.Business {
		body.KYBStatus = string(c.ShownStatus())
	} else {
		body.KYCStatus = string(c.ShownStatus())
	}
	if b := c.Business; b != nil {
		body.BusinessInfo = &businessInfo{
			LegalName: b.LegalName, DoingBusinessAs: b.DoingBusinessAs, Country: httpapi.Country(b.Country),
			RegistrationNumber: b.RegistrationNumber,
			IncorporatedOn:     b.IncorporatedOn, EntityType: entityType(b.EntityType), TaxID: b.TaxID,
			CountriesOfOperation: fromStrings[httpapi.Country](b.CountriesOfOperation),
			BusinessType:         businessType(b.BusinessType), PurposeOfAccount: purposeOfAccount(b.PurposeOfAccount),
			SourceOfFunds:                    b.SourceOfFunds,
			ExpectedMonthlyTransactionCount:  monthlyCount(b.ExpectedMonthlyTransactionCount),
			ExpectedMonthlyTransactionVolume: monthlyVolume(b.ExpectedMonthlyTransactionVolume),
			ExpectedRecipientJurisdictions:   fromStrings[httpapi.Country](b.ExpectedRecipientJurisdictions),
			SourceOfFundsCategories:          fromStrings[businessFunds](b.SourceOfFundsCategories),
			SourceOfFundsOtherDescription:    b.SourceOfFundsOtherDescription,
			PurposeOfAccountOtherDescription: b.PurposeOfAccountOtherDescription,
			ExpectedCounterpartyCountries:    fromStrings[httpapi.Country](b.ExpectedCounterpartyCountries), NAICSCode: b.NAICSCode,
			PrimaryContactFirstName: b.PrimaryContactFirstName, PrimaryContactLastName: b.PrimaryContactLastName,
		}
	}
	return body
}

type listCustomersParams struct {
	httpapi.Paging
	PlatformCustomerID string           `query:"platformCustomerId" doc:"Your id for the customer."`
	CustomerType       string           `query:"customerType" enum:"INDIVIDUAL,BUSINESS" doc:"Type of customer."`
	CreatedAfter       httpapi.Time     `query:"createdAfter" doc:"Created at or after this time."`
	CreatedBefore      httpapi.Time     `query:"createdBefore" doc:"Created at or before this time."`
	UpdatedAfter       httpapi.Time     `query:"updatedAfter" doc:"Updated at or after this time."`
	UpdatedBefore      httpapi.Time     `query:"updatedBefore" doc:"Updated at or before this time."`
	Region             httpapi.Country  `query:"region" doc:"Region of the customer."`
	Currency           httpapi.Currency `query:"currency" doc:"Currency that the customer uses."`
	UMAAddress         string           `query:"umaAddress" doc:"UMA address of the customer, in upper or lower case."`
	IsIncludingDeleted bool             `query:"isIncludingDeleted" default:"false" doc:"Whether to include deleted customers."`
}

func registerCustomers(a *httpapi.API, service Customers) {
	type createInput struct{ Body customerCreateRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "createCustomer", Path: "/customers", Tag: tagCustomers, Summary: "Create a customer", Permission: platform.Manage, Status: 201,
		Description: "Only `customerType` is required, and `businessInfo.legalName` for a business; some currencies require more. " +
			"The customer gets an internal account for each of your currencies. Customers of a regulated platform are APPROVED at once, and so " +
			"are individuals in the sandbox.",
		Errors: []fault.Code{fault.Conflict, fault.UMAAddressExists, fault.EndUserTermsVersionNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *createInput) (customer.Customer, error) {
		return service.Create(ctx, call.Principal.Platform, call.IdempotentRequest, in.Body.request())
	}, renderCustomer)

	httpapi.GetPage(a, httpapi.Operation{
		ID: "listCustomers", Path: "/customers", Tag: tagCustomers, Summary: "List customers", Permission: platform.View,
		Description: "Newest first. All filters must match; times are inclusive.",
	}, func(ctx context.Context, call httpapi.Call, in *listCustomersParams, page ports.Paging) (ports.Page[customer.Customer], error) {
		address, _ := customer.ParseUMAAddress(in.UMAAddress)
		return service.List(ctx, call.Principal.Platform, ports.CustomerFilter{
			Paging: page, PlatformCustomerID: in.PlatformCustomerID,
			Type: customer.Type(in.CustomerType), Region: string(in.Region), Currency: money.Currency(in.Currency),
			UMAAddress: address, IncludeDeleted: in.IsIncludingDeleted,
			Created: inclusiveInterval(in.CreatedAfter, in.CreatedBefore),
			Updated: inclusiveInterval(in.UpdatedAfter, in.UpdatedBefore),
		})
	}, renderCustomer, func(c customer.Customer) ident.Customer { return c.ID })

	httpapi.Get(a, httpapi.Operation{
		ID: "getCustomerById", Path: "/customers/{customerId}", Tag: tagCustomers, Summary: "Get a customer", Permission: platform.View,
		Description: "Returns a customer, including a deleted one.", Errors: []fault.Code{fault.UserNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *customerParams) (customer.Customer, error) {
		return service.Get(ctx, call.Principal.Platform, in.CustomerID.Value)
	}, renderCustomer)
	registerCustomerChanges(a, service)
	registerEndUserTerms(a, service)
	registerContacts(a, service)
}

// customerParams are the parameters of the operations on one customer.
type customerParams struct {
	CustomerID httpapi.ID[ident.Customer] `path:"customerId" doc:"Id of the customer."`
}

func (a *address) party() *party.Address {
	if a == nil {
		return nil
	}
	return &party.Address{Line1: a.Line1, Line2: a.Line2, City: a.City, State: a.State, PostalCode: a.PostalCode, Country: string(a.Country)}
}

func renderAddress(a *party.Address) *address {
	if a == nil {
		return nil
	}
	return &address{Line1: a.Line1, Line2: a.Line2, City: a.City, State: a.State, PostalCode: a.PostalCode,
		Country: httpapi.Country(a.Country)}
}

func toStrings[T ~string](values []T) []string {
	var list []string
	for _, value := range values {
		list = append(list, string(value))
	}
	return list
}

func fromStrings[T ~string](texts []string) []T {
	var list []T
	for _, text := range texts {
		list = append(list, T(text))
	}
	return list
}
