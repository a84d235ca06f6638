package customer

import (
	"regexp"
	"strings"
)

// UMAAddressPattern is the form of an address: $, a name of at most 63 characters, @ and a host.
const UMAAddressPattern = `^\$[a-z0-9\-_.+]{1,63}@([a-z0-9]([a-z0-9\-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9\-]{0,61}[a-z0-9])?(:[0-9]{1,5})?$`

// UMAAddressRule says the form in words.
const UMAAddressRule = "must have the form $name@host, with letters, digits and - _ . + in the name"

// MaxUMAAddressLength is the longest an address can be, in characters.
const MaxUMAAddressLength = 320

var addressRegexp = regexp.MustCompile(UMAAddressPattern)

// ParseUMAAddress is the address in small letters, in which all are kept and compared; false
// for a text that is none.
func ParseUMAAddress(text string) (string, bool) {
	address := strings.ToLower(text)
	return address, len(address) <= MaxUMAAddressLength && addressRegexp.MatchString(address)
}

// SplitUMAAddress is the name, with its $, and the host of an address that Parse gave.
func SplitUMAAddress(address string) (name, host string) {
	name, host, _ = strings.Cut(address, "@")
	return name, host
}
