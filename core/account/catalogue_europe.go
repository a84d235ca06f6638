package account

import "causeway/core/corridor"

// anyIBAN is the most general pattern of an IBAN.
const anyIBAN = `^[A-Z]{2}[0-9]{2}[A-Za-z0-9]{11,30}$`

var europe = []TypeSpec{
	{
		Type: "DKK_ACCOUNT", Description: "A Danish account in kroner.",
		Currencies: currencies("DKK"), Country: "DK",
		Fields:      []FieldSpec{required(iban(`^DK[0-9]{16}$`, "DK5000400440116243")), swiftCode()},
		Identifiers: []string{"iban"}, Individual: anyIndividual, Business: anyBusiness,
		rails: []railOption{{corridor.SEPA, ""}, {corridor.SEPAInstant, ""}},
	},
	{
		Type: "EUR_ACCOUNT", Description: "A euro account in a SEPA country, which is given by its IBAN.",
		Currencies: currencies("EUR"), CountryFrom: "iban",
		Fields:      []FieldSpec{required(iban(anyIBAN, "DE89370400440532013000")), swiftCode()},
		Identifiers: []string{"iban"},
		Individual:  beneficiarySpec(individualFields, "countryOfResidence"), Business: anyBusiness,
		rails: []railOption{{corridor.SEPA, ""}, {corridor.SEPAInstant, ""}}, rule: euroCountryRule,
	},
	{
		Type: "GBP_ACCOUNT", Description: "A British bank account.",
		Currencies: currencies("GBP"), Country: "GB",
		Fields: []FieldSpec{
			{Name: "sortCode", Description: "The sort code: 6 digits, without dashes.", Example: "200000", Required: true, Pattern: `^[0-9]{6}$`,
				InFingerprint: true},
			required(withPattern(accountNumber(), `^[0-9]{8}$`, "55779911")),
		},
		Identifiers: []string{"accountNumber"},
		Individual:  beneficiarySpec(individualFields, "address"), Business: anyBusiness,
		rails: []railOption{{corridor.FasterPayments, ""}, {corridor.BankTransfer, ""}},
	},
}
