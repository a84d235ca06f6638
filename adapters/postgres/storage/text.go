package storage

import "strings"

// MaxProblem is the maximum length of a stored problem, in characters.
const MaxProblem = 2000

// Text returns a text as it is stored: at most so many characters.
func Text(text string, most int) string {
	runes := []rune(strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD"))
	return string(runes[:min(len(runes), most)])
}
