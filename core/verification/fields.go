package verification

import (
	"cmp"
	"strings"

	"causeway/core/customer"
	"causeway/core/party"
)

// field is a field of a customer that a verification checks.
type field struct {
	// path is the path of the field in a request.
	path  string
	value func(customer.Customer) string
	// identifies: the field is one of customer.Identity, so a decision is about its value.
	identifies bool
}

var address = field{"address", func(c customer.Customer) string {
	a := cmp.Or(c.Address, &party.Address{})
	return strings.Join([]string{a.Line1, a.Line2, a.City, a.State, a.PostalCode, a.Country}, "\n")
}, false}

var individualFields = []field{
	{"fullName", func(c customer.Customer) string { return c.FullName }, true},
	{"birthDate", func(c customer.Customer) string { return c.BirthDate }, true},
	{"nationality", func(c customer.Customer) string { return c.Nationality }, true},
	{"idType", func(c customer.Customer) string { return c.IDType }, true},
	{"identifier", func(c customer.Customer) string { return c.Identifier }, true},
	{"countryOfIssuance", func(c customer.Customer) string { return c.CountryOfIssuance }, true},
	address,
}

var businessFields = []field{
	businessField("legalName", func(b customer.BusinessInfo) string { return b.LegalName }),
	businessField("country", func(b customer.BusinessInfo) string { return b.Country }),
	businessField("entityType", func(b customer.BusinessInfo) string { return b.EntityType }),
	businessField("registrationNumber", func(b customer.BusinessInfo) string { return b.RegistrationNumber }),
	businessField("incorporatedOn", func(b customer.BusinessInfo) string { return b.IncorporatedOn }),
	businessField("taxId", func(b customer.BusinessInfo) string { return b.TaxID }),
	address,
}

func businessField(name string, value func(customer.BusinessInfo) string) field {
	return field{"businessInfo." + name, func(c customer.Customer) string {
		if c.Business == nil {
			return ""
		}
		return value(*c.Business)
	}, true}
}

func fieldsOf(c customer.Customer) []field {
	if c.Type == customer.Business {
		return businessFields
	}
	return individualFields
}

// changedFields returns an error for each identifying field that was changed after it was submitted.
func changedFields(submitted, present customer.Customer) []customer.CheckError {
	var changed []customer.CheckError
	for _, f := range fieldsOf(present) {
		if f.identifies && f.value(submitted) != f.value(present) {
			changed = append(changed, customer.CheckError{Resource: present.ID.String(), Type: customer.InvalidField, Field: f.path,
				Reason: "The field was changed after it was submitted. Submit the customer again to verify the new value."})
		}
	}
	return changed
}
