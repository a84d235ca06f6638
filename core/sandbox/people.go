package sandbox

import (
	"slices"
	"strings"

	"causeway/core/customer"
	"causeway/core/money"
	"causeway/core/transaction"
)

// The scenarios of payments to people, beside Succeeds.
const (
	// PendingLong: it takes LongPaymentTime.
	PendingLong Scenario = "PENDING_LONG"
	// ComplianceFails: the receiving provider refuses it.
	ComplianceFails Scenario = "COMPLIANCE_FAILS"
)

// Person is a customer of the simulated provider.
type Person struct {
	Currency money.Currency
	Scenario Scenario
}

var people = map[string]Person{
	"$success.usd":         {"USD", Succeeds},
	"$success.eur":         {"EUR", Succeeds},
	"$success.mxn":         {"MXN", Succeeds},
	"$pending.long.usd":    {"USD", PendingLong},
	"$fail.compliance.usd": {"USD", ComplianceFails},
}

// FindPerson returns the person with an address in lower case, or false. domain is the domain
// of the simulated provider.
func FindPerson(address, domain string) (Person, bool) {
	name, host := customer.SplitUMAAddress(address)
	if host != domain {
		return Person{}, false
	}
	person, ok := people[name]
	return person, ok
}

// PersonScenario returns the scenario of payments to an address at the simulated provider.
func PersonScenario(address string) Scenario {
	name, _ := customer.SplitUMAAddress(address)
	return people[name].Scenario
}

// PeopleCurrencies returns the currencies of all people, sorted.
func PeopleCurrencies() []money.Currency {
	var all []money.Currency
	for _, p := range people {
		all = append(all, p.Currency)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// RequestedFields returns the facts that simulated providers request of a counterparty.
func RequestedFields() []transaction.InfoField {
	return []transaction.InfoField{{Name: "FULL_NAME", Mandatory: true}, {Name: "BIRTH_DATE"}}
}

// facts are the same for all people in the sandbox.
var facts = map[string]string{
	"BIRTH_DATE": "1990-01-15", "NATIONALITY": "US", "PHONE_NUMBER": "+12125550100", "POSTAL_ADDRESS": "1 Main Street, New York, NY 10001, US",
	"TAX_ID": "123456789", "REGISTRATION_NUMBER": "1234567", "USER_TYPE": "INDIVIDUAL", "COUNTRY_OF_RESIDENCE": "US",
	"FI_LEGAL_ENTITY_NAME": "Sandbox Provider", "FI_ADDRESS": "1 Main Street, New York, NY 10001, US", "PURPOSE_OF_PAYMENT": "OTHER",
	"ULTIMATE_INSTITUTION_COUNTRY": "US", "IDENTIFIER": "A1234567", "BUSINESS_TYPE": "OTHER", "COMPANY_LEGAL_NAME": "Sandbox Company",
	"ID_TYPE": "PASSPORT", "ID_NUMBER": "X1234567",
}

// Facts returns those of the wanted facts that a simulated provider has, with a name derived
// from the address.
func Facts(address string, wanted []string) map[string]string {
	disclosed := map[string]string{}
	for _, name := range wanted {
		switch name {
		case "FULL_NAME":
			disclosed[name] = displayName(address)
		case "ACCOUNT_IDENTIFIER":
			disclosed[name] = address
		case "EMAIL":
			disclosed[name] = strings.TrimPrefix(address, "$")
		default:
			if fact, ok := facts[name]; ok {
				disclosed[name] = fact
			}
		}
	}
	return disclosed
}

// displayName returns "Ana Silva" for "$ana.silva@bank.example".
func displayName(address string) string {
	name, _ := customer.SplitUMAAddress(strings.TrimPrefix(address, "$"))
	words := strings.FieldsFunc(name, func(c rune) bool { return strings.ContainsRune(".-_+", c) })
	for i, word := range words {
		words[i] = strings.ToUpper(word[:1]) + word[1:]
	}
	if len(words) == 0 {
		return "Sandbox Person"
	}
	return strings.Join(words, " ")
}
