package iso20022

import (
	"strings"

	"causeway/core/plaintext"
)

// cut returns a text in basic characters of at most n.
func cut(text string, n int) string {
	text = plaintext.Transliterate(text)
	return strings.TrimRight(text[:min(n, len(text))], " ")
}
