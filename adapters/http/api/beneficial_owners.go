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
	"causeway/core/party"
	"causeway/core/platform"
	"causeway/ports"
)

// BeneficialOwners holds the use cases of the operations on beneficial owners.
type BeneficialOwners interface {
	CreateOwner(ctx context.Context, principal platform.Principal, idempotent *ports.IdempotentRequest, business ident.Customer,
		r customer.OwnerRequest) (customer.BeneficialOwner, error)
	UpdateOwner(ctx context.Context, principal platform.Principal, id ident.BeneficialOwner,
		u customer.OwnerUpdate) (customer.BeneficialOwner, error)
	Owner(ctx context.Context, p ident.Platform, id ident.BeneficialOwner) (customer.BeneficialOwner, error)
	Owners(ctx context.Context, p ident.Platform, f ports.BeneficialOwnerFilter) (ports.Page[customer.BeneficialOwner], error)
}

// The enums of a beneficial owner; core defines their values.
type (
	ownerRole string
	idType    string
)

// Schema returns the enum of values.
func (ownerRole) Schema(huma.Registry) *huma.Schema { return enumSchema(customer.OwnerRoles) }
func (idType) Schema(huma.Registry) *huma.Schema    { return enumSchema(customer.IDTypes) }

type ownerPersonalInfo struct {
	FirstName         string          `json:"firstName" maxLength:"255" doc:"First name." example:"Ana"`
	MiddleName        string          `json:"middleName,omitempty" maxLength:"255" doc:"Middle name."`
	LastName          string          `json:"lastName" maxLength:"255" doc:"Last name. In the sandbox its last three characters decide the check: 001 stays PENDING, 002 is REJECTED, any other is APPROVED." example:"Silva"`
	BirthDate         string          `json:"birthDate" format:"date" doc:"Date of birth." example:"1980-01-31"`
	Nationality       httpapi.Country `json:"nationality" doc:"Nationality."`
	Email             string          `json:"email,omitempty" format:"email" doc:"Email address." example:"ana@example.com"`
	PhoneNumber       string          `json:"phoneNumber,omitempty" pattern:"^\\+[1-9]\\d{1,14}$" doc:"Phone number with its country code (E.164)." example:"+14155550123"`
	Address           address         `json:"address" doc:"Residential address."`
	IDType            idType          `json:"idType" doc:"Type of identifier."`
	Identifier        string          `json:"identifier" maxLength:"64" doc:"Identifier: nine digits for SSN, ITIN and EIN, with or without dashes. Responses show the last four characters only." example:"123-45-6789"`
	CountryOfIssuance httpapi.Country `json:"countryOfIssuance,omitempty" doc:"Country that issued the identifier. Required for NON_US_TAX_ID."`
}

func (p ownerPersonalInfo) person() customer.PersonalInfo {
	return customer.PersonalInfo{
		FirstName: p.FirstName, MiddleName: p.MiddleName, LastName: p.LastName, BirthDate: p.BirthDate, Nationality: string(p.Nationality),
		Email: p.Email, PhoneNumber: p.PhoneNumber, Address: *p.Address.party(), IDType: string(p.IDType), Identifier: p.Identifier,
		CountryOfIssuance: string(p.CountryOfIssuance),
	}
}

func renderOwnerPerson(p customer.PersonalInfo) ownerPersonalInfo {
	return ownerPersonalInfo{
		FirstName: p.FirstName, MiddleName: p.MiddleName, LastName: p.LastName, BirthDate: p.BirthDate,
		Nationality: httpapi.Country(p.Nationality),
		Email:       p.Email, PhoneNumber: p.PhoneNumber, Address: *renderAddress(&p.Address), IDType: idType(p.IDType),
		Identifier:        p.MaskedIdentifier(),
		CountryOfIssuance: httpapi.Country(p.CountryOfIssuance),
	}
}

// The placeholders are used where core validates a request without its business.
var (
	placeholderOwner    = ident.NewBeneficialOwner(func(time.Time) uuid.UUID { return uuid.Max }, time.Time{})
	placeholderBusiness = customer.Customer{ID: ident.NewCustomer(func(time.Time) uuid.UUID { return uuid.Max }, time.Time{}),
		Type: customer.Business}
)

// beneficialOwnerCreateRequest is the body of a new owner.
type beneficialOwnerCreateRequest struct {
	CustomerID          httpapi.ID[ident.Customer] `json:"customerId" doc:"Id of the business."`
	Roles               []ownerRole                `json:"roles" minItems:"1" doc:"Roles of the person in the business. One owner of each business must be the CONTROL_PERSON."`
	OwnershipPercentage int                        `json:"ownershipPercentage" minimum:"0" maximum:"100" doc:"Share of the business, in percent. The owners of a business have at most 100 together." example:"60"`
	PersonalInfo        ownerPersonalInfo          `json:"personalInfo" doc:"The person."`
}

func (r beneficialOwnerCreateRequest) request() customer.OwnerRequest {
	return customer.OwnerRequest{Roles: toStrings(r.Roles), OwnershipPercentage: r.OwnershipPercentage, Person: r.PersonalInfo.person()}
}

// Resolve reports what core finds invalid without the other owners.
func (r beneficialOwnerCreateRequest) Resolve(huma.Context) []error {
	_, err := customer.NewBeneficialOwner(r.request(), placeholderBusiness, nil, placeholderOwner, time.Now())
	return httpapi.FieldErrors(err)
}

// beneficialOwnerUpdateRequest changes the fields that are sent.
type beneficialOwnerUpdateRequest struct {
	Roles               httpapi.Optional[[]ownerRole]             `json:"roles,omitempty" minItems:"1" doc:"Roles of the person in the business. The list replaces the previous one."`
	OwnershipPercentage httpapi.Optional[int]                     `json:"ownershipPercentage,omitempty" minimum:"0" maximum:"100" doc:"Share of the business, in percent. It cannot be removed." example:"60"`
	PersonalInfo        httpapi.Optional[ownerPersonalInfoUpdate] `json:"personalInfo,omitempty" doc:"The fields of the person to change."`
}

// ownerPersonalInfoUpdate changes the fields that are sent; null removes an optional value.
type ownerPersonalInfoUpdate struct {
	FirstName         httpapi.Optional[string]          `json:"firstName,omitempty" maxLength:"255" doc:"First name." example:"Ana"`
	MiddleName        httpapi.Optional[string]          `json:"middleName,omitempty" maxLength:"255" doc:"Middle name."`
	LastName          httpapi.Optional[string]          `json:"lastName,omitempty" maxLength:"255" doc:"Last name." example:"Silva"`
	BirthDate         httpapi.Optional[string]          `json:"birthDate,omitempty" format:"date" doc:"Date of birth." example:"1980-01-31"`
	Nationality       httpapi.Optional[httpapi.Country] `json:"nationality,omitempty" doc:"Nationality."`
	Email             httpapi.Optional[string]          `json:"email,omitempty" format:"email" doc:"Email address." example:"ana@example.com"`
	PhoneNumber       httpapi.Optional[string]          `json:"phoneNumber,omitempty" pattern:"^\\+[1-9]\\d{1,14}$" doc:"Phone number with its country code (E.164)." example:"+14155550123"`
	Address           httpapi.Optional[address]         `json:"address,omitempty" doc:"Residential address. It replaces the previous one as a whole."`
	IDType            httpapi.Optional[idType]          `json:"idType,omitempty" doc:"Type of identifier."`
	Identifier        httpapi.Optional[string]          `json:"identifier,omitempty" maxLength:"64" doc:"Identifier. The value that responses show leaves it unchanged." example:"123-45-6789"`
	CountryOfIssuance httpapi.Optional[httpapi.Country] `json:"countryOfIssuance,omitempty" doc:"Country that issued the identifier."`
}

// Resolve reports what is removed and cannot be.
func (r beneficialOwnerUpdateRequest) Resolve(huma.Context) []error {
	var bad party.Problems
	if r.OwnershipPercentage.Sent && r.OwnershipPercentage.Value == nil {
		bad.Add("ownershipPercentage", "cannot be removed; send another percentage or leave it out")
	}
	if r.PersonalInfo.Sent && r.PersonalInfo.Value == nil {
		bad.Add("personalInfo", "cannot be removed; send the fields to change")
	}
	return httpapi.FieldErrors(bad.Err())
}

func (r beneficialOwnerUpdateRequest) update() customer.OwnerUpdate {
	update := customer.OwnerUpdate{
		Roles:               httpapi.MapOptional(r.Roles, toStrings),
		OwnershipPercentage: httpapi.MapOptional(r.OwnershipPercentage, func(n int) int { return n }),
	}
	if p := r.PersonalInfo.Value; p != nil {
		update.Person = customer.PersonUpdate{
			FirstName: changed(p.FirstName), MiddleName: changed(p.MiddleName), LastName: changed(p.LastName), BirthDate: changed(p.BirthDate),
			Nationality: changed(p.Nationality), Email: changed(p.Email), PhoneNumber: changed(p.PhoneNumber),
			Address: httpapi.MapOptional(p.Address, func(a address) party.Address { return *a.party() }),
			IDType:  changed(p.IDType), Identifier: changed(p.Identifier), CountryOfIssuance: changed(p.CountryOfIssuance),
		}
	}
	return update
}

type beneficialOwnerBody struct {
	ID                  httpapi.ID[ident.BeneficialOwner] `json:"id" doc:"Id of the beneficial owner."`
	CustomerID          httpapi.ID[ident.Customer]        `json:"customerId" doc:"Id of the business."`
	Roles               []ownerRole                       `json:"roles" doc:"Roles of the person in the business."`
	OwnershipPercentage int                               `json:"ownershipPercentage" minimum:"0" maximum:"100" doc:"Share of the business, in percent." example:"60"`
	PersonalInfo        ownerPersonalInfo                 `json:"personalInfo" doc:"The person."`
	KYCStatus           string                            `json:"kycStatus" enum:"UNVERIFIED,PENDING,APPROVED,REJECTED" doc:"Status of the check of the person. A business is approved only when all of its owners are."`
	CreatedAt           httpapi.Time                      `json:"createdAt" doc:"Time the beneficial owner was created."`
	UpdatedAt           httpapi.Time                      `json:"updatedAt" doc:"Time of the last change."`
}

func renderBeneficialOwner(o customer.BeneficialOwner) beneficialOwnerBody {
	body := beneficialOwnerBody{
		ID: httpapi.NewID(o.ID), CustomerID: httpapi.NewID(o.Customer), OwnershipPercentage: o.OwnershipPercentage,
		PersonalInfo: renderOwnerPerson(o.Person),
		KYCStatus:    string(o.Status), CreatedAt: httpapi.NewTime(o.CreatedAt), UpdatedAt: httpapi.NewTime(o.UpdatedAt),
	}
	for _, role := range o.Roles {
		body.Roles = append(body.Roles, ownerRole(role))
	}
	return body
}

type listBeneficialOwnersParams struct {
	httpapi.Paging
	CustomerID httpapi.ID[ident.Customer] `query:"customerId" required:"true" doc:"Id of the business."`
}

func registerBeneficialOwners(a *httpapi.API, service BeneficialOwners) {
	type createInput struct{ Body beneficialOwnerCreateRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "createBeneficialOwner", Path: "/beneficial-owners", Tag: tagVerification, Summary: "Add a beneficial owner",
		Permission: platform.Manage, Status: 201,
		Description: "Adds a person who owns or controls a business, and begins the check of the person (KYC). Add everyone who owns 25 " +
			"percent or more, and one person with the role CONTROL_PERSON. A person who is an owner of the business already (same name, birth " +
			"date and identifier) is refused with 409: update that owner.",
		Errors: []fault.Code{fault.UserNotFound, fault.CustomerDeleted, fault.Conflict},
	}, func(ctx context.Context, call httpapi.Call, in *createInput) (customer.BeneficialOwner, error) {
		return service.CreateOwner(ctx, call.Principal, call.IdempotentRequest, in.Body.CustomerID.Value, in.Body.request())
	}, renderBeneficialOwner)

	httpapi.GetPage(a, httpapi.Operation{
		ID: "listBeneficialOwners", Path: "/beneficial-owners", Tag: tagVerification, Summary: "List beneficial owners",
		Permission:  platform.View,
		Description: "Returns the beneficial owners of a business, newest first.", Errors: []fault.Code{fault.UserNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *listBeneficialOwnersParams, page ports.Paging) (
		ports.Page[customer.BeneficialOwner], error) {
		return service.Owners(ctx, call.Principal.Platform, ports.BeneficialOwnerFilter{
			Paging: page, Customer: in.CustomerID.Value,
		})
	}, renderBeneficialOwner, func(o customer.BeneficialOwner) ident.BeneficialOwner { return o.ID })

	type ownerParams struct {
		ID httpapi.ID[ident.BeneficialOwner] `path:"beneficialOwnerId" doc:"Id of the beneficial owner."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getBeneficialOwner", Path: "/beneficial-owners/{beneficialOwnerId}", Tag: tagVerification, Summary: "Get a beneficial owner",
		Permission:  platform.View,
		Description: "Returns a beneficial owner.", Errors: []fault.Code{fault.BeneficialOwnerNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *ownerParams) (customer.BeneficialOwner, error) {
		return service.Owner(ctx, call.Principal.Platform, in.ID.Value)
	}, renderBeneficialOwner)

	type updateInput struct {
		ID   httpapi.ID[ident.BeneficialOwner] `path:"beneficialOwnerId" doc:"Id of the beneficial owner."`
		Body beneficialOwnerUpdateRequest
	}
	httpapi.Patch(a, httpapi.Operation{
		ID: "updateBeneficialOwner", Path: "/beneficial-owners/{beneficialOwnerId}", Tag: tagVerification, Summary: "Update a beneficial owner",
		Permission: platform.Manage,
		Description: "Changes the fields that are sent. A change of the name, the birth date, the nationality, the address or the identifier " +
			"begins a new check of the person.",
		Errors: []fault.Code{fault.BeneficialOwnerNotFound, fault.CustomerDeleted},
	}, func(ctx context.Context, call httpapi.Call, in *updateInput) (customer.BeneficialOwner, error) {
		return service.UpdateOwner(ctx, call.Principal, in.ID.Value, in.Body.update())
	}, renderBeneficialOwner)
}
