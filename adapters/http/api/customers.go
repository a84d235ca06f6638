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
	"causeway/ports"
)

// Customers are the use cases behind the customer operations.
type Customers interface {
	Create(ctx context.Context, who platform.Principal, claim *ports.IdempotentRequest, r customer.Request) (customer.Customer, error)
	Get(ctx context.Context, who platform.Principal, id ident.Customer) (customer.Customer, error)
	List(ctx context.Context, who platform.Principal, f ports.CustomerFilter) (ports.Page[customer.Customer], error)
}

// customerCreateRequest is either type of customer: fields of the other type are ignored.
type customerCreateRequest struct {
	PlatformCustomerID string             `json:"platformCustomerId,omitempty" maxLength:"255" doc:"Your own id of the customer, unique among your active customers. One is made if you give none." example:"9f84e0c2a72c4fa"`
	CustomerType       string             `json:"customerType" enum:"INDIVIDUAL,BUSINESS" doc:"A person or a business." example:"INDIVIDUAL"`
	Region             httpapi.Country    `json:"region,omitempty" doc:"The country whose rules of verification apply. It never changes."`
	Currencies         []httpapi.Currency `json:"currencies,omitempty" doc:"The currencies the customer uses; by default the one of the region." example:"[\"USD\"]"`
	Email              string             `json:"email,omitempty" format:"email" doc:"How to reach the customer." example:"ana@example.com"`
	UMAAddress         string             `json:"umaAddress,omitempty" doc:"The customer's UMA address, unique among your active customers. One is made under your umaDomain if you give none." example:"$ana@uma.example.com"`
	Address            *address           `json:"address,omitempty" doc:"Where the person lives or the business sits."`

	FullName    string          `json:"fullName,omitempty" doc:"INDIVIDUAL: the person's name." example:"Ana Silva"`
	BirthDate   string          `json:"birthDate,omitempty" format:"date" doc:"INDIVIDUAL: the date of birth." example:"1990-01-31"`
	Nationality httpapi.Country `json:"nationality,omitempty" doc:"INDIVIDUAL: the country the person is a citizen of."`
	KYCStatus   string          `json:"kycStatus,omitempty" readOnly:"true" doc:"INDIVIDUAL: the service decides it; what a request says is ignored."`

	BusinessInfo *businessInfo `json:"businessInfo,omitempty" doc:"BUSINESS: needed, with at least legalName."`
	KYBStatus    string        `json:"kybStatus,omitempty" readOnly:"true" doc:"BUSINESS: the service decides it; what a request says is ignored."`
}

// address is a postal address, in requests and answers.
type address struct {
	Line1      string          `json:"line1" maxLength:"255" doc:"Street and number." example:"123 Main Street"`
	Line2      string          `json:"line2,omitempty" maxLength:"255" doc:"What else it takes to find it." example:"Apt 4B"`
	City       string          `json:"city" maxLength:"255" doc:"City or town." example:"San Francisco"`
	State      string          `json:"state" maxLength:"255" doc:"State, province or region." example:"CA"`
	PostalCode string          `json:"postalCode" maxLength:"32" doc:"Postal code." example:"94105"`
	Country    httpapi.Country `json:"country" doc:"Country." example:"US"`
}

// businessInfo is what is known of a business, in requests and answers.
type businessInfo struct {
	LegalName                        string            `json:"legalName" doc:"The name it is registered under." example:"Acme Corporation"`
	DoingBusinessAs                  string            `json:"doingBusinessAs,omitempty" doc:"The name it trades under." example:"Acme"`
	Country                          httpapi.Country   `json:"country,omitempty" doc:"Where it is registered."`
	RegistrationNumber               string            `json:"registrationNumber,omitempty" maxLength:"64" doc:"Its number in that register. In the sandbox its last three digits decide the verification: 001 stays PENDING, 002 is REJECTED, everything else APPROVED." example:"5523041"`
	IncorporatedOn                   string            `json:"incorporatedOn,omitempty" format:"date" doc:"When it was founded." example:"2018-03-14"`
	EntityType                       entityType        `json:"entityType,omitempty" doc:"Its legal form."`
	TaxID                            string            `json:"taxId,omitempty" maxLength:"64" doc:"Its tax number." example:"47-1234567"`
	CountriesOfOperation             []httpapi.Country `json:"countriesOfOperation,omitempty" doc:"Where it does business."`
	BusinessType                     businessType      `json:"businessType,omitempty" doc:"Its line of business."`
	PurposeOfAccount                 purposeOfAccount  `json:"purposeOfAccount,omitempty" doc:"What it uses the service for."`
	SourceOfFunds                    string            `json:"sourceOfFunds,omitempty" maxLength:"1000" doc:"Where its money comes from." example:"Sales of software"`
	ExpectedMonthlyTransactionCount  monthlyCount      `json:"expectedMonthlyTransactionCount,omitempty" doc:"How many payments a month it expects."`
	ExpectedMonthlyTransactionVolume monthlyVolume     `json:"expectedMonthlyTransactionVolume,omitempty" doc:"How much it expects to move in a month, in US dollars."`
	ExpectedRecipientJurisdictions   []httpapi.Country `json:"expectedRecipientJurisdictions,omitempty" doc:"Where it expects to pay to."`
}

// The texts that a business chooses from tables of core.
type (
	entityType       string
	businessType     string
	purposeOfAccount string
	monthlyCount     string
	monthlyVolume    string
)

// Schema and its siblings list the values.
func (entityType) Schema(huma.Registry) *huma.Schema   { return enumSchema(customer.EntityTypes) }
func (businessType) Schema(huma.Registry) *huma.Schema { return enumSchema(customer.BusinessTypes) }
func (purposeOfAccount) Schema(huma.Registry) *huma.Schema {
	return enumSchema(customer.PurposesOfAccount)
}
func (monthlyCount) Schema(huma.Registry) *huma.Schema  { return enumSchema(customer.MonthlyCounts) }
func (monthlyVolume) Schema(huma.Registry) *huma.Schema { return enumSchema(customer.MonthlyVolumes) }

// placeholderPlatform stands for any platform where only the request itself is judged.
var placeholderPlatform = platform.Platform{ID: ident.NewPlatform(func(time.Time) uuid.UUID { return uuid.Max }, time.Time{}), UMADomain: "example.com"}

// Resolve asks core what else is wrong.
func (r customerCreateRequest) Resolve(huma.Context) []error {
	anybody := ident.NewCustomer(func(time.Time) uuid.UUID { return uuid.Max }, time.Time{})
	_, err := customer.Create(r.request(), placeholderPlatform, anybody, uuid.Max, time.Now())
	return httpapi.FieldErrors(err)
}

func (r customerCreateRequest) request() customer.Request {
	request := customer.Request{
		PlatformCustomerID: r.PlatformCustomerID, Type: r.CustomerType, Region: string(r.Region), Currencies: toStrings(r.Currencies),
		Email: r.Email, UMAAddress: r.UMAAddress, FullName: r.FullName, BirthDate: r.BirthDate, Nationality: string(r.Nationality),
		Address: r.Address.party(),
	}
	if b := r.BusinessInfo; b != nil {
		request.Business = &customer.BusinessInfo{
			LegalName: b.LegalName, DoingBusinessAs: b.DoingBusinessAs, Country: string(b.Country), RegistrationNumber: b.RegistrationNumber,
			IncorporatedOn: b.IncorporatedOn, EntityType: string(b.EntityType), TaxID: b.TaxID, CountriesOfOperation: toStrings(b.CountriesOfOperation),
			BusinessType: string(b.BusinessType), PurposeOfAccount: string(b.PurposeOfAccount), SourceOfFunds: b.SourceOfFunds,
			ExpectedMonthlyTransactionCount:  string(b.ExpectedMonthlyTransactionCount),
			ExpectedMonthlyTransactionVolume: string(b.ExpectedMonthlyTransactionVolume),
			ExpectedRecipientJurisdictions:   toStrings(b.ExpectedRecipientJurisdictions),
		}
	}
	return request
}

type customerBody struct {
	ID                 httpapi.ID[ident.Customer] `json:"id" doc:"The customer."`
	PlatformCustomerID string                     `json:"platformCustomerId" doc:"Your own id of the customer." example:"9f84e0c2a72c4fa"`
	CustomerType       string                     `json:"customerType" enum:"INDIVIDUAL,BUSINESS" doc:"A person or a business."`
	Region             httpapi.Country            `json:"region,omitempty" doc:"The country whose rules of verification apply."`
	Currencies         []httpapi.Currency         `json:"currencies,omitempty" doc:"The currencies the customer uses."`
	Email              string                     `json:"email,omitempty" format:"email" doc:"How to reach the customer."`
	UMAAddress         string                     `json:"umaAddress" doc:"The customer's UMA address." example:"$ana@uma.example.com"`
	KYCStatus          string                     `json:"kycStatus,omitempty" enum:"UNVERIFIED,PENDING,APPROVED,REJECTED" doc:"INDIVIDUAL: how far the verification has come. Money moves when it is APPROVED."`
	KYBStatus          string                     `json:"kybStatus,omitempty" enum:"UNVERIFIED,PENDING,APPROVED,REJECTED" doc:"BUSINESS: how far the verification has come. Money moves when it is APPROVED."`
	FullName           string                     `json:"fullName,omitempty" doc:"INDIVIDUAL: the person's name." example:"Ana Silva"`
	BirthDate          string                     `json:"birthDate,omitempty" format:"date" doc:"INDIVIDUAL: the date of birth." example:"1990-01-31"`
	Nationality        httpapi.Country            `json:"nationality,omitempty" doc:"INDIVIDUAL: the country the person is a citizen of."`
	Address            *address                   `json:"address,omitempty" doc:"Where the person lives or the business sits."`
	BusinessInfo       *businessInfo              `json:"businessInfo,omitempty" doc:"BUSINESS: what is known of it."`
	CreatedAt          httpapi.Time               `json:"createdAt" doc:"When the customer was made."`
	UpdatedAt          httpapi.Time               `json:"updatedAt" doc:"When it last changed."`
	IsDeleted          bool                       `json:"isDeleted" doc:"Whether it was deleted."`
}

func renderCustomer(c customer.Customer) customerBody {
	body := customerBody{
		ID: httpapi.NewID(c.ID), PlatformCustomerID: c.PlatformCustomerID, CustomerType: string(c.Type), Region: httpapi.Country(c.Region),
		Email: c.Email, UMAAddress: c.UMAAddress, FullName: c.FullName, BirthDate: c.BirthDate, Nationality: httpapi.Country(c.Nationality),
		Address: renderAddress(c.Address), CreatedAt: httpapi.NewTime(c.CreatedAt), UpdatedAt: httpapi.NewTime(c.UpdatedAt), IsDeleted: c.Deleted(),
	}
	for _, currency := range c.Currencies {
		body.Currencies = append(body.Currencies, httpapi.Currency(currency))
	}
	if c.Type == customer.Business {
		body.KYBStatus = string(c.Status)
	} else {
		body.KYCStatus = string(c.Status)
	}
	if b := c.Business; b != nil {
		body.BusinessInfo = &businessInfo{
			LegalName: b.LegalName, DoingBusinessAs: b.DoingBusinessAs, Country: httpapi.Country(b.Country), RegistrationNumber: b.RegistrationNumber,
			IncorporatedOn: b.IncorporatedOn, EntityType: entityType(b.EntityType), TaxID: b.TaxID, CountriesOfOperation: toCountries(b.CountriesOfOperation),
			BusinessType: businessType(b.BusinessType), PurposeOfAccount: purposeOfAccount(b.PurposeOfAccount), SourceOfFunds: b.SourceOfFunds,
			ExpectedMonthlyTransactionCount:  monthlyCount(b.ExpectedMonthlyTransactionCount),
			ExpectedMonthlyTransactionVolume: monthlyVolume(b.ExpectedMonthlyTransactionVolume),
			ExpectedRecipientJurisdictions:   toCountries(b.ExpectedRecipientJurisdictions),
		}
	}
	return body
}

type listCustomersParams struct {
	httpapi.Paging
	PlatformCustomerID string           `query:"platformCustomerId" doc:"With this id of yours."`
	CustomerType       string           `query:"customerType" enum:"INDIVIDUAL,BUSINESS" doc:"Of this type."`
	CreatedAfter       httpapi.Time     `query:"createdAfter" doc:"Made at this moment or later."`
	CreatedBefore      httpapi.Time     `query:"createdBefore" doc:"Made at this moment or earlier."`
	UpdatedAfter       httpapi.Time     `query:"updatedAfter" doc:"Changed at this moment or later."`
	UpdatedBefore      httpapi.Time     `query:"updatedBefore" doc:"Changed at this moment or earlier."`
	Region             httpapi.Country  `query:"region" doc:"Of this region."`
	Currency           httpapi.Currency `query:"currency" doc:"Who uses this currency."`
	UMAAddress         string           `query:"umaAddress" doc:"With this UMA address."`
	IsIncludingDeleted bool             `query:"isIncludingDeleted" default:"false" doc:"Whether to list deleted customers too."`
}

func registerCustomers(a *httpapi.API, customers Customers) {
	type create struct{ Body customerCreateRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "createCustomer", Path: "/customers", Tag: tagCustomers, Summary: "Create a customer", Permission: platform.Manage, Status: 201,
		Description: "Only `customerType` is always needed, and `businessInfo.legalName` for a business; more becomes necessary with the currencies that are used. " +
			"The customer gets an internal account for each of your currencies. Customers of a regulated platform are APPROVED at once; in the sandbox, people are too.",
		Errors: []fault.Code{fault.Conflict, fault.UMAAddressExists},
	}, func(ctx context.Context, call httpapi.Call, in *create) (customer.Customer, error) {
		return customers.Create(ctx, call.Principal, call.IdempotentRequest, in.Body.request())
	}, renderCustomer)

	httpapi.Get(a, httpapi.Operation{
		ID: "listCustomers", Path: "/customers", Tag: tagCustomers, Summary: "List customers", Permission: platform.View,
		Description: "The newest first. Filters add up; moments are inclusive.",
	}, func(ctx context.Context, call httpapi.Call, in *listCustomersParams) (ports.Page[customer.Customer], error) {
		after, err := httpapi.CursorID[ident.Customer](in.Cursor)
		if err != nil {
			return ports.Page[customer.Customer]{}, err
		}
		return customers.List(ctx, call.Principal, ports.CustomerFilter{
			Paging: ports.Paging{Limit: in.Limit, After: after.UUID()}, PlatformCustomerID: in.PlatformCustomerID,
			Type: customer.Type(in.CustomerType), Region: string(in.Region), Currency: money.Currency(in.Currency),
			UMAAddress: in.UMAAddress, IncludeDeleted: in.IsIncludingDeleted,
			Created: inclusiveInterval(in.CreatedAfter, in.CreatedBefore),
			Updated: inclusiveInterval(in.UpdatedAfter, in.UpdatedBefore),
		})
	}, func(p ports.Page[customer.Customer]) httpapi.Page[customerBody] {
		return renderPage(p, renderCustomer, func(c customer.Customer) string { return c.ID.String() })
	})

	type one struct {
		CustomerID httpapi.ID[ident.Customer] `path:"customerId" doc:"The customer."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getCustomerById", Path: "/customers/{customerId}", Tag: tagCustomers, Summary: "Get a customer", Permission: platform.View,
		Description: "One customer, also a deleted one.", Errors: []fault.Code{fault.UserNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *one) (customer.Customer, error) {
		return customers.Get(ctx, call.Principal, in.CustomerID.Value)
	}, renderCustomer)
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
	return &address{Line1: a.Line1, Line2: a.Line2, City: a.City, State: a.State, PostalCode: a.PostalCode, Country: httpapi.Country(a.Country)}
}

func toStrings[T ~string](values []T) []string {
	var list []string
	for _, value := range values {
		list = append(list, string(value))
	}
	return list
}

func toCountries(codes []string) []httpapi.Country {
	var list []httpapi.Country
	for _, code := range codes {
		list = append(list, httpapi.Country(code))
	}
	return list
}
