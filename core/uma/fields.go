package uma

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"causeway/core/plaintext"
	"causeway/core/platform"
	"causeway/core/transaction"
)

// The fields that each party always states, and that are no facts about a person.
const (
	FieldIdentifier = "identifier"
	FieldCompliance = "compliance"
)

// wireNames are the names of facts that the protocol names otherwise than in camel case.
var wireNames = map[string]string{"FULL_NAME": "name", "COUNTRY_OF_RESIDENCE": "countryCode", "ACCOUNT_IDENTIFIER": "accountNumber"}

var factNames = func() map[string]string {
	names := map[string]string{}
	for _, fact := range platform.CounterpartyFieldNames {
		names[WireName(fact)] = fact
	}
	return names
}()

// WireName returns the name of a fact in the protocol: "birthDate" for BIRTH_DATE.
func WireName(fact string) string {
	if name, special := wireNames[fact]; special {
		return name
	}
	if fact != strings.ToUpper(fact) {
		return fact // of another provider, in its own words
	}
	words := strings.Split(strings.ToLower(fact), "_")
	for i, word := range words[1:] {
		if word != "" {
			words[i+1] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}

// FactName returns the name of the fact for which the protocol has a name, or that name if it is not known.
func FactName(wire string) string {
	if fact, known := factNames[wire]; known {
		return fact
	}
	return wire
}

// MaxFields is how many facts another provider may want or state, and MaxFact the longest of them, in bytes.
const (
	MaxFields = 40
	MaxFact   = 500
)

// Facts returns what another provider states about a person, by the names of facts, without what is too long, too much or empty. What is
// stated by the name of the protocol counts more than by that of the fact.
func Facts(stated map[string]string) map[string]string {
	facts := map[string]string{}
	for _, wire := range slices.Sorted(maps.Keys(stated)) { // capital letters first
		value := visible(stated[wire])
		if wire == FieldIdentifier || wire == FieldCompliance || value == "" || len(value) > MaxFact || len(wire) > 64 ||
			len(facts) >= MaxFields {
			continue
		}
		facts[FactName(wire)] = value
	}
	return facts
}

// visible returns a text without letters that nobody sees, and that hide others or turn them round. Two that some scripts need stay.
func visible(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r) && r != 0:
			return ' '
		case r == 0, plaintext.IsInvisible(r) && r != zeroWidthJoiner && r != zeroWidthNonJoiner:
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "")))
}

const zeroWidthNonJoiner, zeroWidthJoiner = '\u200c', '\u200d'

// FactsToState returns those of the known facts that another provider wants, by the names of the protocol.
func FactsToState(known map[string]string, wanted []transaction.InfoField) map[string]string {
	stated := map[string]string{}
	for _, field := range wanted {
		if value := known[field.Name]; value != "" {
			stated[WireName(field.Name)] = value
		}
	}
	return stated
}

// MissingMandatory returns the names of the mandatory facts that are not known.
func MissingMandatory(known map[string]string, wanted []transaction.InfoField) []string {
	return transaction.Approval{Requested: wanted}.Missing(known)
}

// RequiredFields returns the facts about a counterparty that a platform requires in any of the
// currencies. A field that is mandatory in one is mandatory.
func RequiredFields(currencies []platform.Currency) []transaction.InfoField {
	var required []transaction.InfoField
	for _, currency := range currencies {
		for _, f := range currency.RequiredCounterpartyFields {
			field := transaction.InfoField(f)
			if i := slices.IndexFunc(required, func(r transaction.InfoField) bool { return r.Name == field.Name }); i >= 0 {
				required[i].Mandatory = required[i].Mandatory || field.Mandatory
			} else {
				required = append(required, field)
			}
		}
	}
	return required
}
