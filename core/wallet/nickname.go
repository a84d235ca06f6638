package wallet

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"causeway/core/fault"
)

const maxNickname = 100 // characters

// CheckNickname returns INVALID_INPUT for the name of a passkey that has other characters than letters,
// digits, spaces and . _ - ' ( ), or not 1 to 100 of them.
func CheckNickname(nickname string) error {
	// A regular expression of so many letters would take 2.5 MB.
	if nickname != "" && utf8.RuneCountInString(nickname) <= maxNickname && !strings.ContainsFunc(nickname, isNotOfNickname) {
		return nil
	}
	return fault.Invalid(fault.Field{Field: "nickname", Message: "must have 1 to 100 letters, digits, spaces or characters of . _ - ' ( )",
		Constraint: map[string]any{"minLength": 1, "maxLength": maxNickname}})
}

func isNotOfNickname(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !strings.ContainsRune(" ._-'()", r)
}
