package iso20022

import "strings"

// isIBAN reports whether a text, in upper or lower case, has the form and the check digits of an IBAN.
func isIBAN(text string) bool {
	if len(text) < 5 || len(text) > 34 || !isUpper(text[:2]) || !isDigits(text[2:4]) {
		return false
	}
	remainder := 0
	for _, c := range strings.ToUpper(text[4:] + text[:4]) {
		switch {
		case '0' <= c && c <= '9':
			remainder = (remainder*10 + int(c-'0')) % 97
		case 'A' <= c && c <= 'Z':
			remainder = (remainder*100 + int(c-'A') + 10) % 97
		default:
			return false
		}
	}
	return remainder == 1
}

// isBIC reports whether a text has the form of a BIC: bank, country, location, and perhaps a branch.
func isBIC(text string) bool {
	return (len(text) == 8 || len(text) == 11) && isUpperOrDigit(text) && isUpper(text[4:6])
}

// isUETR reports whether a text is a UUID of version 4 in lower case.
func isUETR(text string) bool {
	if len(text) != 36 || text[14] != '4' || !strings.ContainsRune("89ab", rune(text[19])) {
		return false
	}
	for i, c := range text {
		hyphen := i == 8 || i == 13 || i == 18 || i == 23
		if hyphen != (c == '-') || !hyphen && !strings.ContainsRune("0123456789abcdef", c) {
			return false
		}
	}
	return true
}

func isUpper(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < 'A' || r > 'Z' }) < 0
}

func isDigits(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

func isUpperOrDigit(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') }) < 0
}
