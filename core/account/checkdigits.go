package account

import (
	"fmt"
	"regexp"

	"github.com/btcsuite/btcd/btcutil/base58"
)

// Each check returns what is wrong with a value, as words that follow the name of the field,
// or the empty string. The value should match the field's pattern already; a check refuses
// any other value without a panic.

// checkIBAN checks the length, by country, and the check digits (ISO 7064, mod 97-10).
func checkIBAN(iban string) string {
	if len(iban) < 5 {
		return "is too short for an IBAN"
	}
	if _, known := ibanLengths[iban[:2]]; !known {
		return "must start with the code of a country that uses IBANs; " + printable(iban[:2]) + " is none"
	}
	switch problem := wrongIBANLength(iban); {
	case problem != "":
		return problem
	case iban[2:4] < "02" || iban[2:4] > "98":
		return wrongCheckDigits
	}
	rest, ok := ibanRemainder(iban[4:] + iban[:4])
	if !ok || rest != 1 {
		return wrongCheckDigits
	}
	return ""
}

// wrongIBANLength returns what is wrong with the length of an IBAN of a known country.
func wrongIBANLength(iban string) string {
	length := 0
	if len(iban) >= 2 {
		length = ibanLengths[iban[:2]]
	}
	switch {
	case length == 0 || len(iban) == length:
		return ""
	case len(iban) < length:
		return fmt.Sprintf("is too short: it has %d characters, and an IBAN of %s has %d", len(iban), iban[:2], length)
	}
	return fmt.Sprintf("is too long: it has %d characters, and an IBAN of %s has %d", len(iban), iban[:2], length)
}

const wrongCheckDigits = "has wrong check digits; compare it with the original"

// ibanRemainder returns the text as a number modulo 97; letters are 10 to 35.
func ibanRemainder(text string) (int, bool) {
	rest := 0
	for _, c := range []byte(text) {
		switch {
		case c >= '0' && c <= '9':
			rest = (rest*10 + int(c-'0')) % 97
		case c >= 'A' && c <= 'Z':
			rest = (rest*100 + int(c-'A') + 10) % 97
		case c >= 'a' && c <= 'z':
			rest = (rest*100 + int(c-'a') + 10) % 97
		default:
			return 0, false
		}
	}
	return rest, true
}

func printable(two string) string {
	for _, c := range []byte(two) {
		if c < '!' || c > '~' {
			return "this"
		}
	}
	return two
}

// checkCLABE checks that the last of 18 digits is the check digit that Banxico defines:
// weights 3, 7, 1 over the first 17.
func checkCLABE(clabe string) string {
	if len(clabe) != 18 || !allDigits(clabe) {
		return "must be the 18 digits of a CLABE"
	}
	weights := [3]int{3, 7, 1}
	sum := 0
	for i := range 17 {
		sum += int(clabe[i]-'0') * weights[i%3] % 10
	}
	if int(clabe[17]-'0') != (10-sum%10)%10 {
		return wrongCheckDigits
	}
	return ""
}

// checkABA checks that the Federal Reserve assigns the first two digits, and the checksum
// with weights 3, 7, 1 over all nine digits.
func checkABA(routing string) string {
	if len(routing) != 9 || !allDigits(routing) {
		return "must be the 9 digits of a routing number"
	}
	district := int(routing[0]-'0')*10 + int(routing[1]-'0')
	assigned := district <= 12 || (district >= 21 && district <= 32) || (district >= 61 && district <= 72) || district == 80
	weights := [3]int{3, 7, 1}
	sum := 0
	for i := range 9 {
		sum += int(routing[i]-'0') * weights[i%3]
	}
	if !assigned || sum == 0 || sum%10 != 0 {
		return wrongCheckDigits
	}
	return ""
}

// checkBrazilianTaxID checks a CPF (people, 11 digits) or a CNPJ (businesses, 14).
func checkBrazilianTaxID(id string) string {
	switch len(id) {
	case 11:
		return checkCPF(id)
	case 14:
		return checkCNPJ(id)
	default:
		return "must be a CPF of 11 digits or a CNPJ of 14"
	}
}

func checkCPF(cpf string) string {
	if len(cpf) != 11 || !allDigits(cpf) {
		return "must be the 11 digits of a CPF"
	}
	// Eleven equal digits have correct check digits but are never assigned.
	if sameDigits(cpf) || !isBrazilianCheckDigit(cpf, 9, 11) || !isBrazilianCheckDigit(cpf, 10, 12) {
		return wrongCheckDigits
	}
	return ""
}

func checkCNPJ(cnpj string) string {
	if len(cnpj) != 14 || !allDigits(cnpj) {
		return "must be the 14 digits of a CNPJ"
	}
	if sameDigits(cnpj) || !isBrazilianCheckDigit(cnpj, 12, 9) || !isBrazilianCheckDigit(cnpj, 13, 9) {
		return wrongCheckDigits
	}
	return ""
}

// isBrazilianCheckDigit reports whether digit n is the check digit of those before it. The
// weights are 2, 3, 4 … from right to left, and start again after highest.
func isBrazilianCheckDigit(digits string, n, highest int) bool {
	sum, weight := 0, 2
	for i := n - 1; i >= 0; i-- {
		sum += int(digits[i]-'0') * weight
		if weight++; weight > highest {
			weight = 2
		}
	}
	want := 11 - sum%11
	if want > 9 {
		want = 0
	}
	return int(digits[n]-'0') == want
}

func allDigits(text string) bool {
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return text != ""
}

func sameDigits(text string) bool {
	for i := range len(text) {
		if text[i] != text[0] {
			return false
		}
	}
	return true
}

// ibanLengths are the lengths of the IBANs of each country, from the IBAN registry (ISO
// 13616).
var ibanLengths = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29, "BY": 28,
	"CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18,
	"FK": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HN": 28, "HR": 21, "HU": 28,
	"IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20,
	"LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28,
	"NL": 18, "NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24,
	"SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26,
	"UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30,
}

var tronAddress = regexp.MustCompile(`^T[1-9A-HJ-NP-Za-km-z]{33}$`)

// checkTronAddress checks a base58 address: 21 bytes, the first of which stands for Tron, and
// a checksum of four bytes.
func checkTronAddress(address string) string {
	if !tronAddress.MatchString(address) {
		return "must be T and 33 base58 characters"
	}
	const tron, length = 0x41, 20
	if hash, version, err := base58.CheckDecode(address); err != nil || version != tron || len(hash) != length {
		return wrongCheckDigits
	}
	return ""
}
