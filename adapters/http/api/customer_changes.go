package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/party"
	"causeway/core/platform"
	"causeway/core/wallet"
)

// customerUpdateRequest changes the fields that are sent; null removes a value. Fields of the other
// type are ignored.
type customerUpdateRequest struct {
	CustomerType       string                               `json:"customerType" enum:"INDIVIDUAL,BUSINESS" doc:"Type of the customer, which cannot change." example:"INDIVIDUAL"`
	PlatformCustomerID httpapi.Optional[string]             `json:"platformCustomerId,omitempty" doc:"Your id for the customer. It cannot change: another value is refused." example:"9f84e0c2a72c4fa"`
	Region             httpapi.Optional[httpapi.Country]    `json:"region,omitempty" doc:"Country whose verification rules apply. It cannot change: another value is refused."`
	Currencies         httpapi.Optional[[]httpapi.Currency] `json:"currencies,omitempty" doc:"All currencies that the customer uses. The list replaces the previous one; without any, it is the currency of the region. Accounts in currencies that are not listed remain, with their balance." example:"[\"USD\"]"`
	Email              httpapi.Optional[string]             `json:"email,omitempty" format:"email" doc:"Email address." example:"ana@example.com"`
	PhoneNumber        httpapi.Optional[string]             `json:"phoneNumber,omitempty" pattern:"^\\+[1-9]\\d{1,14}$" doc:"Phone number with its country code (E.164)." example:"+447700900123"`
	UMAAddress         httpapi.Optional[string]             `json:"umaAddress,omitempty" doc:"UMA address of the customer under your umaDomain, unique among your active customers. It cannot be removed." example:"$ana@uma.example.com"`
	Address            httpapi.Optional[address]            `json:"address,omitempty" doc:"Residential or business address. It replaces the previous one as a whole."`

	FullName          httpapi.Optional[string]          `json:"fullName,omitempty" doc:"INDIVIDUAL only: full name." example:"Ana Silva"`
	BirthDate         httpapi.Optional[string]          `json:"birthDate,omitempty" format:"date" doc:"INDIVIDUAL only: date of birth." example:"1990-01-31"`
	Nationality       httpapi.Optional[httpapi.Country] `json:"nationality,omitempty" doc:"INDIVIDUAL only: nationality."`
	IDType            httpapi.Optional[idType]          `json:"idType,omitempty" doc:"INDIVIDUAL only: type of identifier."`
	Identifier        httpapi.Optional[string]          `json:"identifier,omitempty" maxLength:"64" doc:"INDIVIDUAL only: identifier. The value that responses show leaves it unchanged." example:"123-45-6789"`
	CountryOfIssuance httpapi.Optional[httpapi.Country] `json:"countryOfIssuance,omitempty" doc:"INDIVIDUAL only: country that issued the identifier."`
	KYCStatus         string                            `json:"kycStatus,omitempty" readOnly:"true" doc:"INDIVIDUAL only: set by the service; ignored in requests."`
	DiligenceUpdate

	BusinessInfo httpapi.Optional[businessInfoUpdate] `json:"businessInfo,omitempty" doc:"BUSINESS only: the fields to change."`

	Consent   httpapi.Optional[termsConsent] `json:"endUserTermsConsent,omitempty" doc:"How the customer has accepted the terms of GET /customers/end-user-terms. It replaces an earlier consent."`
	KYBStatus string                         `json:"kybStatus,omitempty" readOnly:"true" doc:"BUSINESS only: set by the service; ignored in requests."`
}

// businessInfoUpdate changes the fields that are sent; null removes a value.
type businessInfoUpdate struct {
	LegalName                        httpapi.Optional[string]            `json:"legalName,omitempty" doc:"Registered legal name. It cannot be removed." example:"Acme Corporation"`
	DoingBusinessAs                  httpapi.Optional[string]            `json:"doingBusinessAs,omitempty" doc:"Trading name." example:"Acme"`
	Country                          httpapi.Optional[httpapi.Country]   `json:"country,omitempty" doc:"Country of registration."`
	RegistrationNumber               httpapi.Optional[string]            `json:"registrationNumber,omitempty" maxLength:"64" doc:"Company registration number." example:"5523041"`
	IncorporatedOn                   httpapi.Optional[string]            `json:"incorporatedOn,omitempty" format:"date" doc:"Date of incorporation." example:"2018-03-14"`
	EntityType                       httpapi.Optional[entityType]        `json:"entityType,omitempty" doc:"Legal form."`
	TaxID                            httpapi.Optional[string]            `json:"taxId,omitempty" maxLength:"64" doc:"Tax identification number." example:"47-1234567"`
	CountriesOfOperation             httpapi.Optional[[]httpapi.Country] `json:"countriesOfOperation,omitempty" doc:"Countries of operation. The list replaces the previous one."`
	BusinessType                     httpapi.Optional[businessType]      `json:"businessType,omitempty" doc:"Line of business."`
	PurposeOfAccount                 httpapi.Optional[purposeOfAccount]  `json:"purposeOfAccount,omitempty" doc:"Purpose of the account."`
	SourceOfFunds                    httpapi.Optional[string]            `json:"sourceOfFunds,omitempty" maxLength:"1000" doc:"Source of funds." example:"Sales of software"`
	ExpectedMonthlyTransactionCount  httpapi.Optional[monthlyCount]      `json:"expectedMonthlyTransactionCount,omitempty" doc:"Expected number of payments per month."`
	ExpectedMonthlyTransactionVolume httpapi.Optional[monthlyVolume]     `json:"expectedMonthlyTransactionVolume,omitempty" doc:"Expected payment volume per month, in US dollars."`
	ExpectedRecipientJurisdictions   httpapi.Optional[[]httpapi.Country] `json:"expectedRecipientJurisdictions,omitempty" doc:"Countries it expects to send payments to. The list replaces the previous one."`
	SourceOfFundsCategories          httpapi.Optional[[]businessFunds]   `json:"sourceOfFundsCategories,omitempty" doc:"Where its funds come from. The list replaces the previous one."`
	SourceOfFundsOtherDescription    httpapi.Optional[string]            `json:"sourceOfFundsOtherDescription,omitempty" maxLength:"500" doc:"Source of funds that no category names." example:"Sale of a patent"`
	PurposeOfAccountOtherDescription httpapi.Optional[string]            `json:"purposeOfAccountOtherDescription,omitempty" maxLength:"500" doc:"Purpose of the account, if it is OTHER." example:"Deposits of tenants"`
	ExpectedCounterpartyCountries    httpapi.Optional[[]httpapi.Country] `json:"expectedCounterpartyCountries,omitempty" doc:"Countries of those it expects to pay or be paid by. The list replaces the previous one."`
	NAICSCode                        httpapi.Optional[string]            `json:"naicsCode,omitempty" pattern:"^\\d{2,6}$" doc:"Industry in the North American Industry Classification System." example:"5112"`
	PrimaryContactFirstName          httpapi.Optional[string]            `json:"primaryContactFirstName,omitempty" maxLength:"250" doc:"First name of the person to contact." example:"Ana"`
	PrimaryContactLastName           httpapi.Optional[string]            `json:"primaryContactLastName,omitempty" maxLength:"250" doc:"Last name of the person to contact." example:"Silva"`
}

// DiligenceUpdate changes the fields that are sent; null removes a value.
type DiligenceUpdate struct {
	SourceOfFundsCategories          httpapi.Optional[[]personalFunds]  `json:"sourceOfFundsCategories,omitempty" doc:"INDIVIDUAL only: where the funds come from. The list replaces the previous one."`
	SourceOfFundsOtherDescription    httpapi.Optional[string]           `json:"sourceOfFundsOtherDescription,omitempty" maxLength:"500" doc:"INDIVIDUAL only: source of funds that no category names." example:"Prize money"`
	SourceOfWealthCategories         httpapi.Optional[[]sourceOfWealth] `json:"sourceOfWealthCategories,omitempty" doc:"INDIVIDUAL only: where the wealth comes from. The list replaces the previous one."`
	SourceOfWealthOtherDescription   httpapi.Optional[string]           `json:"sourceOfWealthOtherDescription,omitempty" maxLength:"500" doc:"INDIVIDUAL only: source of wealth that no category names." example:"Royalties"`
	PurposeOfAccount                 httpapi.Optional[purposeOfAccount] `json:"purposeOfAccount,omitempty" doc:"INDIVIDUAL only: purpose of the account."`
	PurposeOfAccountOtherDescription httpapi.Optional[string]           `json:"purposeOfAccountOtherDescription,omitempty" maxLength:"500" doc:"INDIVIDUAL only: purpose of the account, if it is OTHER." example:"Support of relatives"`
	ExpectedMonthlyTransactionCount  httpapi.Optional[monthlyCount]     `json:"expectedMonthlyTransactionCount,omitempty" doc:"INDIVIDUAL only: expected number of payments per month."`
	ExpectedMonthlyTransactionVolume httpapi.Optional[monthlyVolume]    `json:"expectedMonthlyTransactionVolume,omitempty" doc:"INDIVIDUAL only: expected payment volume per month, in US dollars."`
	AnnualIncomeRange                httpapi.Optional[annualIncome]     `json:"annualIncomeRange,omitempty" doc:"INDIVIDUAL only: income of a year, in US dollars."`
	NetWorthRange                    httpapi.Optional[netWorth]         `json:"netWorthRange,omitempty" doc:"INDIVIDUAL only: net worth, in US dollars."`
	PEPStatus                        httpapi.Optional[pepStatus]        `json:"pepStatus,omitempty" doc:"INDIVIDUAL only: whether the person is politically exposed."`
}

func (d DiligenceUpdate) change() customer.DiligenceChange {
	return customer.DiligenceChange{
		SourceOfFundsCategories:          httpapi.MapOptional(d.SourceOfFundsCategories, toStrings),
		SourceOfFundsOtherDescription:    changed(d.SourceOfFundsOtherDescription),
		SourceOfWealthCategories:         httpapi.MapOptional(d.SourceOfWealthCategories, toStrings),
		SourceOfWealthOtherDescription:   changed(d.SourceOfWealthOtherDescription),
		PurposeOfAccount:                 changed(d.PurposeOfAccount),
		PurposeOfAccountOtherDescription: changed(d.PurposeOfAccountOtherDescription),
		ExpectedMonthlyTransactionCount:  changed(d.ExpectedMonthlyTransactionCount),
		ExpectedMonthlyTransactionVolume: changed(d.ExpectedMonthlyTransactionVolume),
		AnnualIncomeRange:                changed(d.AnnualIncomeRange), NetWorthRange: changed(d.NetWorthRange), PEPStatus: changed(d.PEPStatus),
	}
}

// Resolve reports what core finds invalid, whichever customer it is.
func (r customerUpdateRequest) Resolve(huma.Context) []error {
	return httpapi.FieldErrors(r.change().Check(time.Now()))
}

type customerUpdateInput struct {
	CustomerID httpapi.ID[ident.Customer] `path:"customerId" doc:"Id of the customer."`
	Body       customerUpdateRequest
}

// Resolve keeps the input: what else is invalid depends on the customer.
func (in *customerUpdateInput) Resolve(ctx huma.Context) []error {
	httpapi.KeepInput(ctx, in)
	return nil
}

func (r customerUpdateRequest) change() customer.Change {
	return customer.Change{
		Type: r.CustomerType, PlatformCustomerID: changed(r.PlatformCustomerID), Region: changed(r.Region),
		Currencies: httpapi.MapOptional(r.Currencies, toStrings), Email: changed(r.Email),
		PhoneNumber: changed(r.PhoneNumber), UMAAddress: changed(r.UMAAddress),
		FullName: changed(r.FullName), BirthDate: changed(r.BirthDate), Nationality: changed(r.Nationality),
		IDType: changed(r.IDType), Identifier: changed(r.Identifier), CountryOfIssuance: changed(r.CountryOfIssuance),
		Address:   httpapi.MapOptional(r.Address, func(a address) *party.Address { return a.party() }),
		Business:  httpapi.MapOptional(r.BusinessInfo, businessInfoUpdate.change),
		Diligence: r.DiligenceUpdate.change(),
		Consent:   httpapi.MapOptional(r.Consent, func(c termsConsent) *customer.Consent { return c.consent() }),
	}
}

func (b businessInfoUpdate) change() *customer.BusinessChange {
	return &customer.BusinessChange{
		LegalName: changed(b.LegalName), DoingBusinessAs: changed(b.DoingBusinessAs), Country: changed(b.Country),
		RegistrationNumber: changed(b.RegistrationNumber),
		IncorporatedOn:     changed(b.IncorporatedOn), EntityType: changed(b.EntityType), TaxID: changed(b.TaxID),
		CountriesOfOperation: httpapi.MapOptional(b.CountriesOfOperation, toStrings), BusinessType: changed(b.BusinessType),
		PurposeOfAccount: changed(b.PurposeOfAccount),
		SourceOfFunds:    changed(b.SourceOfFunds), ExpectedMonthlyTransactionCount: changed(b.ExpectedMonthlyTransactionCount),
		ExpectedMonthlyTransactionVolume: changed(b.ExpectedMonthlyTransactionVolume),
		ExpectedRecipientJurisdictions:   httpapi.MapOptional(b.ExpectedRecipientJurisdictions, toStrings),
		SourceOfFundsCategories:          httpapi.MapOptional(b.SourceOfFundsCategories, toStrings),
		SourceOfFundsOtherDescription:    changed(b.SourceOfFundsOtherDescription),
		PurposeOfAccountOtherDescription: changed(b.PurposeOfAccountOtherDescription),
		ExpectedCounterpartyCountries:    httpapi.MapOptional(b.ExpectedCounterpartyCountries, toStrings), NAICSCode: changed(b.NAICSCode),
		PrimaryContactFirstName: changed(b.PrimaryContactFirstName), PrimaryContactLastName: changed(b.PrimaryContactLastName),
	}
}

// changed is MapOptional for text.
func changed[T ~string](o httpapi.Optional[T]) *string {
	return httpapi.MapOptional(o, func(text T) string { return string(text) })
}

func registerCustomerChanges(a *httpapi.API, service Customers) {
	httpapi.Patch(a, httpapi.Operation{
		ID: "updateCustomerById", Path: "/customers/{customerId}", Tag: tagCustomers, Summary: "Update a customer", Permission: platform.Manage,
		SignedRetry: true,
		Description: "Changes only the fields that are sent; `businessInfo` is merged field by field. `null` removes an optional value.\n\n" +
			"An APPROVED customer was approved with its identity: the name, birth date and nationality of a person; the legal name, country, " +
			"registration number, incorporation date, " +
			"legal form and tax id of a business. A change of it starts a new verification: the status becomes that of a new customer, which is " +
			"PENDING unless your platform is " +
			"regulated or the customer is an individual in the sandbox.\n\n" +
			"A new `email` of a customer whose embedded wallet has an EMAIL_OTP credential has to be signed by a session of the wallet, once any " +
			"credential of it was verified: 202, then 200. " +
			"Codes are sent to the new address from then on, and the one that was sent is not valid any more. Other changes need no signature, " +
			"and ignore both headers.\n\n" +
			"A new `email` or `phoneNumber` is not verified: see `contactVerification`.",
		Errors: []fault.Code{fault.UserNotFound, fault.CustomerDeleted, fault.UMAAddressExists, fault.EmailOTPEmailAlreadyExists,
			fault.EmailOTPCredentialSetChanged, fault.EndUserTermsVersionNotFound},
		CheckInvalid: func(ctx context.Context, call httpapi.Call, input any) error {
			in := input.(*customerUpdateInput)
			return service.CheckUpdate(ctx, call.Principal.Platform, in.CustomerID.Value, in.Body.change())
		},
	}, httpapi.Signed(func(ctx context.Context, call httpapi.Call, in *customerUpdateInput) (customer.Customer, *wallet.SignedRequest, error) {
		return service.Update(ctx, call.Principal.Platform, call.Author(), call.Signed, in.CustomerID.Value, in.Body.change())
	}), renderCustomer)

	httpapi.Delete(a, httpapi.Operation{
		ID: "deleteCustomerById", Path: "/customers/{customerId}", Tag: tagCustomers, Summary: "Delete a customer", Permission: platform.Manage,
		Description: "Returns the deleted customer. Its transactions remain, and GET still returns it, with `isDeleted`. No money can be moved " +
			"for it any more: its open quotes cannot be executed and " +
			"payments for them are refunded, payments to its UMA address are refused, and its external accounts and agents are deleted. Its " +
			"`platformCustomerId` and `umaAddress` are available again.\n\n" +
			"A customer with a balance, or with a payment that is not settled, cannot be deleted: 409. Pay the balance out first.",
		Errors: []fault.Code{fault.UserNotFound, fault.CustomerDeleted, fault.Conflict},
	}, func(ctx context.Context, call httpapi.Call, in *customerParams) (customer.Customer, error) {
		return service.Delete(ctx, call.Principal.Platform, call.Author(), in.CustomerID.Value)
	}, renderCustomer)
}
