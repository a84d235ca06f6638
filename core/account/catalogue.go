package account

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"causeway/core/corridor"
	"causeway/core/money"
)

// catalogue holds every type of external account, sorted by name. The files catalogue_*.go
// list them by region.
var catalogue = func() []TypeSpec {
	all := slices.Concat(americas, europe, asia, africa, worldwide, wallets)
	compiled := map[string]*regexp.Regexp{"": nil} // many fields have the same pattern
	for _, spec := range all {
		for i, field := range spec.Fields {
			if _, ok := compiled[field.Pattern]; !ok {
				compiled[field.Pattern] = regexp.MustCompile(field.Pattern)
			}
			spec.Fields[i].compiled = compiled[field.Pattern]
		}
	}
	slices.SortFunc(all, func(a, b TypeSpec) int { return cmp.Compare(a.Type, b.Type) })
	return all
}()

var byName = func() map[Type]TypeSpec {
	index := make(map[Type]TypeSpec, len(catalogue)+2)
	for _, spec := range catalogue {
		for _, name := range append([]Type{spec.Type}, spec.Aliases...) {
			index[name] = spec
		}
	}
	return index
}()

func currencies(codes ...money.Currency) []money.Currency { return codes }

// The fields that every beneficiary may have beside the name. The spec of a type names those
// that it requires.
var (
	individualFields = []string{"birthDate", "nationality", "email", "phoneNumber", "countryOfResidence", "address"}
	businessFields   = []string{"registrationNumber", "taxId", "email", "phoneNumber", "countryOfResidence", "address"}
)

// beneficiarySpec returns a spec with these required fields; all others are optional.
func beneficiarySpec(all []string, required ...string) *BeneficiarySpec {
	spec := &BeneficiarySpec{Required: required}
	for _, name := range all {
		if !slices.Contains(required, name) {
			spec.Optional = append(spec.Optional, name)
		}
	}
	return spec
}

var (
	anyIndividual = beneficiarySpec(individualFields)
	anyBusiness   = beneficiarySpec(businessFields)
)

// The following functions return fields that many types share. Each call returns a new value
// that the caller may change.

func accountNumber() FieldSpec {
	return FieldSpec{Name: "accountNumber", Description: "The account number at the bank.", Example: "1234567890",
		MinLength: 1, MaxLength: 34, Pattern: `^[A-Za-z0-9][A-Za-z0-9 \-/]*$`, InFingerprint: true, Masked: true}
}

// withPattern returns the field with a fixed pattern.
func withPattern(field FieldSpec, pattern, example string) FieldSpec {
	field.Pattern, field.Example, field.MinLength, field.MaxLength = pattern, example, 0, 0
	return field
}

func bankName() FieldSpec {
	return FieldSpec{Name: "bankName", Description: "The bank or wallet operator, as named by GET /discoveries.",
		Example:   "First National Bank",
		MinLength: 1, MaxLength: 255}
}

// listedBank returns the field for a bank that must be one of GET /discoveries.
func listedBank(country string) FieldSpec {
	field := inFingerprint(required(bankName()))
	field.Description = "The bank: bankName or displayName of an institution of GET /discoveries, exactly."
	field.Example = corridor.InstitutionsIn(country)[0].Name
	field.check = func(name string) string {
		institutions := corridor.InstitutionsIn(country)
		if slices.ContainsFunc(institutions, func(i corridor.Institution) bool { return name == i.Code || name == i.Name }) {
			return ""
		}
		message := "is no institution of GET /discoveries?country=" + country
		lower := strings.ToLower(strings.TrimSpace(name))
		for _, i := range institutions {
			if known := strings.ToLower(i.Name); len(lower) > 2 && (strings.Contains(known, lower) || strings.Contains(lower, known)) {
				return message + "; did you mean " + i.Name + "?"
			}
		}
		return message + "; send the bankName or displayName of one"
	}
	return field
}

func swiftCode() FieldSpec {
	return FieldSpec{Name: "swiftCode", Description: "The bank's BIC: 8 or 11 characters.", Example: "DEUTDEFF",
		Pattern: `^[A-Z]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$`, check: checkBIC}
}

func bankAccountType() FieldSpec {
	return FieldSpec{Name: "bankAccountType", Description: "The type of the bank account: checking or savings.", Example: "CHECKING",
		Enum: []string{"CHECKING", "SAVINGS"}}
}

func iban(pattern, example string) FieldSpec {
	return FieldSpec{Name: "iban", Description: "The IBAN. Spaces are removed.", Example: example,
		Pattern: pattern, InFingerprint: true, Masked: true, check: checkIBAN, explain: wrongIBANLength,
		normalize: func(text string) string { return strings.ReplaceAll(text, " ", "") }}
}

func phoneNumber(pattern, example string) FieldSpec {
	return FieldSpec{Name: "phoneNumber", Description: "The phone number of the mobile money account, with country code.", Example: example,
		Pattern: pattern, InFingerprint: true, Masked: true}
}

// anyPhone is the most general pattern of a phone number.
const anyPhone = `^\+[0-9]{6,14}$`

// provider returns the field for the mobile money operator; if only some operators are
// connected, they are its enum.
func provider(operators ...string) FieldSpec {
	field := FieldSpec{Name: "provider", Description: "The mobile money operator.", Example: "MTN", Enum: operators, InFingerprint: true}
	if len(operators) == 0 {
		field.MinLength, field.MaxLength = 1, 255
	} else {
		field.Example = operators[0]
	}
	return field
}

func required(field FieldSpec) FieldSpec {
	field.Required = true
	return field
}

// inFingerprint marks a field as part of the account's identity: account numbers are unique
// within a bank, and some banks are identified by name only.
func inFingerprint(field FieldSpec) FieldSpec {
	field.InFingerprint = true
	return field
}
