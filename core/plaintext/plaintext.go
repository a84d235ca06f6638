// Package plaintext makes plain text of what others write: names of payers, references, memos, reasons. A text is never a
// reason to refuse money.
package plaintext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean returns a text on one line: valid UTF-8 of at most maxBytes, without control characters and without spaces around it.
// What is no UTF-8 becomes U+FFFD, and what is clean stays as it is.
func Clean(text string, maxBytes int) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	if strings.ContainsFunc(text, isControl) || strings.HasPrefix(text, " ") || strings.HasSuffix(text, " ") {
		text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || isControl(r) }), " ")
	}
	if len(text) <= maxBytes {
		return text
	}
	for maxBytes > 0 && !utf8.RuneStart(text[maxBytes]) {
		maxBytes--
	}
	return strings.TrimRight(text[:maxBytes], " ")
}

// isControl reports whether a character ends a line, moves a cursor, or turns the direction of the text.
func isControl(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}
