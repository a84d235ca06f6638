package account

import (
	"slices"

	"causeway/core/fault"
	"causeway/core/party"
)

// minBirthYear is the earliest accepted year of birth.
const minBirthYear = 1900

// documentTypes are the types of identity documents in Colombia.
var documentTypes = []string{"CC", "CE", "TI", "NIT", "PP"}

// beneficiary parses and checks the beneficiary; it returns nil if there is none.
func (v *validation) beneficiary(spec TypeSpec) *Beneficiary {
	const path = "accountInfo.beneficiary"
	object, ok := v.request.Info["beneficiary"].(map[string]any)
	if !ok {
		v.Add(path, "is required, as an object with a beneficiaryType")
		return nil
	}
	b := Beneficiary{Type: BeneficiaryType(v.text(object, path, "beneficiaryType", party.Required))}
	var fields *BeneficiarySpec
	switch b.Type {
	case Individual:
		fields = spec.Individual
		b.FullName = v.text(object, path, "fullName", party.Required)
		v.PersonName(path+".fullName", b.FullName, party.Optional)
	case Business:
		fields = spec.Business
		b.LegalName = v.text(object, path, "legalName", party.Required)
		v.BusinessName(path+".legalName", b.LegalName, party.Optional)
	case "":
		return nil
	default:
		v.OneOf(path+".beneficiaryType", string(b.Type), party.Required, []string{string(Individual), string(Business)})
		return nil
	}
	b.Address = v.address(object, path, fields)
	for _, name := range slices.Concat(fields.Required, fields.Optional) {
		if name != "address" {
			v.beneficiaryField(&b, object, path, name, party.Need(slices.Contains(fields.Required, name)))
		}
	}
	return &b
}

// beneficiaryField parses and checks one field of the beneficiary.
func (v *validation) beneficiaryField(b *Beneficiary, object map[string]any, path, name string, need party.Need) {
	// The country of residence may be given by the address only.
	inAddress := name == "countryOfResidence" && b.Address != nil && b.Address.Country != ""
	if inAddress && object[name] == nil {
		b.CountryOfResidence = b.Address.Country
		return
	}
	value := v.text(object, path, name, need)
	path += "." + name
	switch name {
	case "birthDate":
		b.BirthDate = value
		v.PastDate(path, value, party.Optional, minBirthYear, v.request.Now)
	case "nationality":
		b.Nationality = value
		v.Country(path, value, party.Optional)
	case "email":
		b.Email = value
		v.Email(path, value, party.Optional)
	case "phoneNumber":
		b.PhoneNumber = value
		v.Phone(path, value, party.Optional)
	case "countryOfResidence":
		b.CountryOfResidence = value
		v.Country(path, value, party.Optional)
	case "registrationNumber":
		b.RegistrationNumber = value
		v.Text(path, value, party.Optional, 64)
	case "taxId":
		b.TaxID = value
		v.Text(path, value, party.Optional, 64)
	case "documentType":
		b.DocumentType = value
		v.OneOf(path, value, party.Optional, documentTypes)
	case "documentNumber":
		b.DocumentNumber = value
		v.Text(path, value, party.Optional, 64)
	}
}

// address parses and checks the beneficiary's address; it returns nil if there is none.
func (v *validation) address(object map[string]any, path string, spec *BeneficiarySpec) *party.Address {
	path += ".address"
	required := slices.Contains(spec.Required, "address")
	fields, ok := object["address"].(map[string]any)
	switch {
	case object["address"] == nil && !required:
		return nil
	case object["address"] == nil:
		v.Add(path, "is required")
		return nil
	case !ok:
		v.AddRule(path, "must be an object", "type", "object")
		return nil
	}
	before := len(v.Fields)
	text := func(name string) string { return v.text(fields, path, name, party.Optional) }
	a := party.Address{
		Line1: text("line1"), Line2: text("line2"), City: text("city"),
		State: text("state"), PostalCode: text("postalCode"), Country: text("country"),
	}
	// A part that is not a string has an error already, and is not also missing.
	reported := v.Fields[before:]
	for _, problem := range a.Check(path) {
		if !slices.ContainsFunc(reported, func(r fault.Field) bool { return r.Field == problem.Field }) {
			v.Fields = append(v.Fields, problem)
		}
	}
	return &a
}
