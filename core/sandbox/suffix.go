package sandbox

import "strings"

// suffix returns the last three digits of an identifier, or nothing when it does not end
// in three digits. Of an identifier with a domain part (name@domain) it is the end
// of the name.
func suffix(identifier string) string {
	name, _, _ := strings.Cut(identifier, "@")
	return lastDigits(name)
}

func lastDigits(text string) string {
	if len(text) < 3 {
		return ""
	}
	last := text[len(text)-3:]
	for _, c := range []byte(last) {
		if c < '0' || c > '9' {
			return ""
		}
	}
	return last
}

// IsTestValue reports whether an account identifier ends in digits that make something
// happen. Such a value is chosen for its end, so its check digits mean nothing.
func IsTestValue(identifier string) bool {
	end := suffix(identifier)
	_, beneficiary := beneficiaryOutcomes[end]
	return beneficiary || quoteScenarios[end] != Succeeds || transferScenarios[end] != Succeeds || end == unknownAccountSuffix
}
