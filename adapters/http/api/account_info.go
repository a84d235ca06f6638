package api

import (
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/party"
)

// renderAccountInfo renders the registered account details and the rails that reach it.
func renderAccountInfo(a account.External) map[string]any {
	info := map[string]any{"accountType": string(a.Type), "paymentRails": corridor.PublicNames(a.Rails)}
	for name, value := range a.Fields {
		info[name] = value
	}
	if a.Beneficiary != nil {
		info["beneficiary"] = renderBeneficiary(*a.Beneficiary)
	}
	return info
}

func renderBeneficiary(b account.Beneficiary) map[string]any {
	info := map[string]any{"beneficiaryType": string(b.Type)}
	for name, value := range map[string]string{
		"fullName": b.FullName, "legalName": b.LegalName, "birthDate": b.BirthDate, "nationality": b.Nationality, "email": b.Email,
		"phoneNumber": b.PhoneNumber, "countryOfResidence": b.CountryOfResidence, "registrationNumber": b.RegistrationNumber,
		"taxId": b.TaxID, "documentType": b.DocumentType, "documentNumber": b.DocumentNumber,
	} {
		if value != "" {
			info[name] = value
		}
	}
	if b.Address != nil {
		info["address"] = renderAddress(b.Address)
	}
	return info
}

// accountInfoInput is the union of account details in requests.
type accountInfoInput struct{}

// Union returns a branch for every account type.
func (accountInfoInput) Union() httpapi.UnionSpec {
	return accountUnion("AccountCreateInfo", "Account details; the fields depend on `accountType`.", "Create", nil)
}

// accountInfoOutput is the union of account details in responses.
type accountInfoOutput struct{}

// Union returns a branch for every account type, with its rails.
func (accountInfoOutput) Union() httpapi.UnionSpec {
	return accountUnion("AccountInfo", "Registered account details, with the payment rails that reach the account.", "", []httpapi.Field{{
		Name: "paymentRails", Required: true, Schema: stringListSchema(),
		Description: "Payment rails that reach the account: of a wallet, its network. The service chooses one for each payment.",
	}})
}

func accountUnion(name, description, infix string, more []httpapi.Field) httpapi.UnionSpec {
	spec := httpapi.UnionSpec{Name: name, Description: description, Discriminator: "accountType"}
	for _, t := range account.Catalogue() {
		name := schemaName(t.Type) + infix + "Info"
		branch := httpapi.Branch{Name: name, Description: t.Description, Values: []string{string(t.Type)}}
		for _, alias := range t.Aliases {
			branch.Values = append(branch.Values, string(alias))
		}
		for _, f := range t.Fields {
			branch.Fields = append(branch.Fields, httpapi.Field{
				Name: f.Name, Description: f.Description, Required: f.Required, Pattern: f.Pattern, Enum: f.Enum,
				MinLength: f.MinLength, MaxLength: f.MaxLength, Example: f.Example,
			})
		}
		if t.Individual != nil {
			branch.Fields = append(branch.Fields, beneficiaryField(t))
		}
		branch.Fields = append(branch.Fields, more...)
		spec.Branches = append(spec.Branches, branch)
	}
	return spec
}

// beneficiaryField returns the beneficiary of an account type: a person or a business.
// Most account types require the same details as a US account and share its schema.
func beneficiaryField(t account.TypeSpec) httpapi.Field {
	usual, _ := account.Spec(account.USAccount)
	person := append([]httpapi.Field{{Name: "fullName", Required: true, Description: "Full name.", Example: "Ana Silva"}},
		beneficiaryDetails(*t.Individual)...)
	business := append([]httpapi.Field{{Name: "legalName", Required: true, Description: "Registered legal name.",
		Example: "Acme Corporation"}}, beneficiaryDetails(*t.Business)...)
	description := "Owner of the account."
	if t.IsWallet() {
		description = "Owner of the wallet. Required of a THIRD_PARTY where the travel rule applies."
	}
	return httpapi.Field{
		Name: "beneficiary", Required: !t.IsWallet(), Description: description,
		Union: &httpapi.UnionSpec{
			Discriminator: "beneficiaryType",
			Branches: []httpapi.Branch{
				{Name: beneficiaryName(t, "IndividualBeneficiary", *t.Individual, *usual.Individual), Description: "Individual beneficiary.",
					Values: []string{string(account.Individual)}, Fields: person},
				{Name: beneficiaryName(t, "BusinessBeneficiary", *t.Business, *usual.Business), Description: "Business beneficiary.",
					Values: []string{string(account.Business)}, Fields: business},
			},
		},
	}
}

// beneficiaryName returns the shared schema name if the details are those of a US
// account, that of wallets, and otherwise a name of its own.
func beneficiaryName(t account.TypeSpec, name string, spec, usual account.BeneficiarySpec) string {
	if slices.Equal(usual.Required, spec.Required) && slices.Equal(usual.Optional, spec.Optional) {
		return name
	}
	if t.IsWallet() {
		return "Wallet" + name
	}
	return schemaName(t.Type) + name
}

// beneficiaryDetails returns the required and optional fields of a beneficiary.
func beneficiaryDetails(spec account.BeneficiarySpec) []httpapi.Field {
	var fields []httpapi.Field
	for _, name := range slices.Concat(spec.Required, spec.Optional) {
		field := beneficiaryDetailFields[name]
		field.Name, field.Required = name, slices.Contains(spec.Required, name)
		fields = append(fields, field)
	}
	return fields
}

// beneficiaryDetailFields describes each detail of a beneficiary.
var beneficiaryDetailFields = map[string]httpapi.Field{
	"birthDate":   {Description: "Date of birth.", Format: "date", Example: "1990-01-31"},
	"nationality": {Description: "Nationality: ISO 3166-1 alpha-2 country code.", Pattern: "^[A-Z]{2}$", Example: "US"},
	"email":       {Description: "Email address.", Format: "email", Example: "ana@example.com"},
	"phoneNumber": {Description: "Phone number in E.164 format.", Pattern: `^\+[1-9]\d{1,14}$`, Example: "+14155550123"},
	"countryOfResidence": {Description: "Country of residence or registered office: ISO 3166-1 alpha-2 code. Defaults to the country of the " +
		"address.", Pattern: "^[A-Z]{2}$", Example: "US"},
	"registrationNumber": {Description: "Company or personal registration number.", MaxLength: 64, Example: "5523041"},
	"taxId":              {Description: "Tax identification number.", MaxLength: 64, Example: "47-1234567"},
	"documentType":       {Description: "Type of identity document.", Enum: []string{"CC", "CE", "TI", "NIT", "PP"}, Example: "CC"},
	"documentNumber":     {Description: "Number of the identity document.", MaxLength: 64, Example: "1018404213"},
	"address": {Description: "Postal address.", Fields: []httpapi.Field{
		{Name: "line1", Required: true, MaxLength: 255, Description: "Street and number.", Example: "123 Main Street"},
		{Name: "line2", MaxLength: 255, Description: "Apartment, suite, unit or building.", Example: "Apt 4B"},
		{Name: "city", Required: true, MaxLength: 255, Description: "City.", Example: "San Francisco"},
		{Name: "state", MaxLength: 255, Description: "State, province or region. Required where postal addresses have one: " +
			strings.Join(party.CountriesWithStates(), ", ") + ".", Example: "CA"},
		{Name: "postalCode", Required: true, MaxLength: 32, Description: "Postal code.", Example: "94105"},
		{Name: "country", Required: true, Pattern: "^[A-Z]{2}$", Description: "ISO 3166-1 alpha-2 country code.", Example: "US"},
	}},
}

var _ huma.SchemaProvider = accountInfoRequest{}
