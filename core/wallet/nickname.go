package wallet

import (
	"regexp"

	"causeway/core/fault"
)

const nicknamePattern = `^[\p{L}\p{N} ._'()-]{1,100}$`

var nicknameRegexp = regexp.MustCompile(nicknamePattern)

// CheckNickname returns INVALID_INPUT for the name of a passkey that has other characters than letters,
// digits, spaces and . _ - ' ( ), or not 1 to 100 of them.
func CheckNickname(nickname string) error {
	if nicknameRegexp.MatchString(nickname) {
		return nil
	}
	return fault.Invalid(fault.Field{Field: "nickname", Message: "must have 1 to 100 letters, digits, spaces or characters of . _ - ' ( )",
		Constraint: map[string]any{"minLength": 1, "maxLength": 100}})
}
