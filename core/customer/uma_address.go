package customer

import (
	"regexp"
	"strconv"
	"strings"
)

// UMAAddressPattern is the form of an address: $, a name of at most 63 characters, @ and a host.
const UMAAddressPattern = `^\$[a-z0-9\-_.+]{1,63}@([a-z0-9]([a-z0-9\-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9\-]{0,61}[a-z0-9])?(:[0-9]{1,5})?$`

// UMAAddressRule says the form in words.
const UMAAddressRule = "must have the form $name@host, with letters, digits and - _ . + in the name"

// MaxUMAAddressLength is the longest an address can be, in characters.
const MaxUMAAddressLength = 320

var addressRegexp = regexp.MustCompile(UMAAddressPattern)

// ParseUMAAddress is the address in the one form in which all are kept and compared: in small letters, without the port of HTTPS; false
// for a text that is none. Hosts in other scripts have their ASCII form (xn--).
func ParseUMAAddress(text string) (string, bool) {
	if strings.ContainsFunc(text, func(r rune) bool { return r > '~' }) { // some become an ASCII letter in lower case
		return "", false
	}
	address := strings.ToLower(text)
	if len(address) > MaxUMAAddressLength || !addressRegexp.MatchString(address) {
		return address, false
	}
	host, port, named := strings.Cut(address, ":")
	if !named {
		return address, true
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 {
		return address, false
	}
	if number == httpsPort {
		return host, true
	}
	return host + ":" + strconv.FormatUint(number, 10), true
}

const httpsPort = 443

// ParseUMADomain is the domain of a provider in the form that it has in addresses; false for a text that is none.
func ParseUMADomain(text string) (string, bool) {
	address, ok := ParseUMAAddress("$a@" + text)
	_, domain := SplitUMAAddress(address)
	return domain, ok
}

// SplitUMAAddress is the name, with its $, and the host of an address that Parse gave.
func SplitUMAAddress(address string) (name, host string) {
	name, host, _ = strings.Cut(address, "@")
	return name, host
}
