package plaintext_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"causeway/core/plaintext"
)

func TestClean_Examples(t *testing.T) {
	t.Parallel()
	// Control characters become spaces, what is no UTF-8 is replaced, and long texts are cut between characters.
	for text, want := range map[string]string{
		"":                        "",
		"Ana Silva":               "Ana Silva",
		"a  b":                    "a  b",
		"\tAna\tSilva\r\n":        "Ana Silva",
		"  a ":                    "a",
		"a\x00b\x1bc\u0085d":      "a b c d",
		"a\u2028b\u202ec":         "a b c",
		"M\xfcller":               "M\uFFFDller",
		"\xff\xfe":                "\uFFFD",
		"äöüäöüäöüäöü":            "äöüäöüäöüä",
		"12345678901234567890123": "12345678901234567890",
		"1234567890123456789 x":   "1234567890123456789",
	} {
		if got := plaintext.Clean(text, 20); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestClean_Any(t *testing.T) {
	t.Parallel()
	// Whatever the bytes are, the result is one line of valid text within the limit, and is clean.
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		most := rapid.IntRange(0, 40).Draw(t, "most")
		got := plaintext.Clean(text, most)
		if !utf8.ValidString(got) || len(got) > most || strings.ContainsFunc(got, unicode.IsControl) || got != strings.TrimSpace(got) &&
			strings.Trim(got, " ") != got {
			t.Fatalf("%q becomes %q", text, got)
		}
		if again := plaintext.Clean(got, most); again != got {
			t.Fatalf("%q becomes %q, and then %q", text, got, again)
		}
	})
}
