package customer

import (
	"slices"

	"causeway/core/fault"
	"causeway/core/money"
)

// requiredOfAll is what a customer must have before it uses any currency but those of requiredFields: a
// payment across borders names its payer (FATF recommendation 16; in the European Union article 4 of
// Regulation 2023/1113), and accounts are opened in its name. The account or customer number, which is the
// other requirement, is always known.
var requiredOfAll = []string{"FULL_NAME"}

// requiredFields are the exceptions. Payments into India and China are reported to the exchange control with
// what identifies a person.
var requiredFields = map[money.Currency][]string{
	"INR": {"FULL_NAME", "BIRTH_DATE", "NATIONALITY"},
	"CNY": {"FULL_NAME", "BIRTH_DATE", "NATIONALITY"},
}

// requiredOfIndividuals are fields that only individuals have.
var requiredOfIndividuals = []string{"BIRTH_DATE", "NATIONALITY"}

// RequiredFields returns the names of the fields, as in Facts, that a customer must have before it uses a
// currency.
func RequiredFields(currency money.Currency) []string {
	if fields, listed := requiredFields[currency]; listed {
		return slices.Clone(fields)
	}
	return slices.Clone(requiredOfAll)
}

// CheckRequiredFields returns MISSING_MANDATORY_USER_INFO, with every missing field, if the customer lacks
// a field that one of the currencies requires.
func (c Customer) CheckRequiredFields(currencies ...money.Currency) error {
	var missing []fault.Field
	var names []string
	facts := c.Facts()
	for _, currency := range currencies {
		for _, name := range RequiredFields(currency) {
			if facts[name] != "" || slices.Contains(names, name) || c.Type == Business && slices.Contains(requiredOfIndividuals, name) {
				continue
			}
			names = append(names, name)
			missing = append(missing, fault.Field{Field: c.fieldPath(name), Message: "is required of a customer who uses " + string(currency)})
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return &fault.Error{
		Code: fault.MissingMandatoryUserInfo, Fields: missing,
		Message: "The customer " + c.ID.String() + " lacks information that the currencies require. Add it with PATCH /customers/{customerId}.",
		Details: map[string]any{"customerId": c.ID.String(), "missingFields": names},
	}
}

// CheckName returns MISSING_MANDATORY_USER_INFO for a customer without a name, in which no account can be opened.
func (c Customer) CheckName() error {
	if c.Name() != "" {
		return nil
	}
	return &fault.Error{
		Code: fault.MissingMandatoryUserInfo, Fields: []fault.Field{{Field: c.fieldPath("FULL_NAME"), Message: "is required of a customer who " +
			"has an account"}},
		Message: "The customer " + c.ID.String() + " has no name. Add it with PATCH /customers/{customerId}.",
		Details: map[string]any{"customerId": c.ID.String(), "missingFields": []string{"FULL_NAME"}},
	}
}

// fieldPath returns the field of a customer in the API that has a fact.
func (c Customer) fieldPath(name string) string {
	switch {
	case name == "BIRTH_DATE":
		return "birthDate"
	case name == "NATIONALITY":
		return "nationality"
	case c.Type == Business:
		return "businessInfo.legalName"
	default:
		return "fullName"
	}
}
