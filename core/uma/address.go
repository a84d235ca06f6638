// Package uma is the addresses of people, as in "$ana@bank.example": who they are at
// which provider. It looks nobody up.
package uma

import (
	"regexp"
	"strings"
)

// Pattern is the form of an address: $, a name of at most 63 characters, @ and a host.
const Pattern = `^\$[a-z0-9\-_.+]{1,63}@([a-z0-9]([a-z0-9\-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9\-]{0,61}[a-z0-9])?(:[0-9]{1,5})?$`

// Rule says the form in words.
const Rule = "must have the form $name@host, the name being of letters, digits and - _ . +"

// MaxLength is the longest an address can be, in characters.
const MaxLength = 320

var addressRegexp = regexp.MustCompile(Pattern)

// Parse is the address in small letters, in which all are kept and compared; false
// for a text that is none.
func Parse(text string) (string, bool) {
	address := strings.ToLower(text)
	return address, len(address) <= MaxLength && addressRegexp.MatchString(address)
}

// Split is the name, with its $, and the host of an address that Parse gave.
func Split(address string) (name, host string) {
	name, host, _ = strings.Cut(address, "@")
	return name, host
}
