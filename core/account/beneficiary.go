package account

import (
	"slices"

	"causeway/core/fault"
	"causeway/core/party"
)

// minBirthYear is the first year of birth taken for true.
const minBirthYear = 1900

// documentTypes are the identity documents of Colombia.
var documentTypes = []string{"CC", "CE", "TI", "NIT", "PP"}

// beneficiary reads and checks who owns the account; nil when nobody is named.
func (v *validation) beneficiary(spec TypeSpec) *Beneficiary {
	const path = "accountInfo.beneficiary"
	object, ok := v.request.Info["beneficiary"].(map[string]any)
	if !ok {
		v.Add(path, "is required, as an object with a beneficiaryType")
		return nil
	}
	b := Beneficiary{Type: BeneficiaryType(v.text(object, path, "beneficiaryType", party.Required))}
	var asked *BeneficiarySpec
	switch b.Type {
	case Individual:
		asked = spec.Individual
		b.FullName = v.text(object, path, "fullName", party.Required)
		v.PersonName(path+".fullName", b.FullName, party.Optional)
	case Business:
		asked = spec.Business
		b.LegalName = v.text(object, path, "legalName", party.Required)
		v.BusinessName(path+".legalName", b.LegalName, party.Optional)
	case "":
		return nil
	default:
		v.OneOf(path+".beneficiaryType", string(b.Type), party.Required, []string{string(Individual), string(Business)})
		return nil
	}
	b.Address = v.address(object, path, asked)
	for _, name := range slices.Concat(asked.Required, asked.Optional) {
		if name != "address" {
			v.beneficiaryField(&b, object, path, name, party.Need(slices.Contains(asked.Required, name)))
		}
	}
	return &b
}

// beneficiaryField reads and checks one text about the beneficiary.
func (v *validation) beneficiaryField(b *Beneficiary, object map[string]any, path, name string, need party.Need) {
	// Where somebody lives is in the address too, and need not be said twice.
	lives := name == "countryOfResidence" && b.Address != nil && b.Address.Country != ""
	if lives && object[name] == nil {
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

// address reads and checks the beneficiary's address; nil when there is none.
func (v *validation) address(object map[string]any, path string, asked *BeneficiarySpec) *party.Address {
	path += ".address"
	needed := slices.Contains(asked.Required, "address")
	fields, ok := object["address"].(map[string]any)
	switch {
	case object["address"] == nil && !needed:
		return nil
	case object["address"] == nil:
		v.Add(path, "is required")
		return nil
	case !ok:
		v.AddRule(path, "must be an object", "type", "object")
		return nil
	}
	before := len(v.Fields)
	part := func(name string) string { return v.text(fields, path, name, party.Optional) }
	a := party.Address{
		Line1: part("line1"), Line2: part("line2"), City: part("city"),
		State: part("state"), PostalCode: part("postalCode"), Country: part("country"),
	}
	// What was no text is noted already, and is not missing as well.
	noted := v.Fields[before:]
	for _, problem := range a.Check(path) {
		if !slices.ContainsFunc(noted, func(n fault.Field) bool { return n.Field == problem.Field }) {
			v.Fields = append(v.Fields, problem)
		}
	}
	return &a
}
