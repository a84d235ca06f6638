package plaintext_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/plaintext"
)

func TestTransliterate_ConversionTable(t *testing.T) {
	t.Parallel()
	// Texts of Europe's languages are converted as the European Payments Council has it.
	for text, want := range map[string]string{
		"":                            "",
		"Miller / Sons (2), no? +1.":  "Miller / Sons (2), no? +1.",
		"Jürgen Groß":                 "Jurgen Gros",
		"JÜRGEN GROẞ":                 "JURGEN GROS",
		"Łukasz Żółć":                 "Lukasz Zolc",
		"François Lefèvre & Cie":      "Francois Lefevre + Cie",
		"Søren Ærø":                   "Soren Aro",
		"Þórður Guðmundsson":          "Tordur Gudmundsson",
		"Đorđe Ğüloğlu ıİ":            "Dorde Guloglu iI",
		"Ελευθέριος Ψαρράς":           "Eleytherios PSarras",
		"ΧΡΗΣΤΟΣ":                     "CHRISTOS",
		"Щерю Жеков":                  "SHTeryu ZHekov",
		"ЮЛИЯ ЦВЕТКОВА":               "YULIYA TSVETKOVA",
		"a_b[c]{d}|e\\f;g":            "a-b(c)(d)/e/f,g",
		"50 € – „günstig“":            "50 E - 'gunstig'",
		"100% #1 <x> @home*":          "100. .1 .x. .home.",
		"ﬁne ½ ²":                     "fine 1/2 2",
		" tabs\tand\r\nlines\x00 ":    "tabs and lines",
		"e\u0301 soft\u00ADhyphen":    "e softhyphen",
		"non\u00A0breaking\u2003wide": "non breaking wide",
		"李 小龙":                        ". ..",
		"\xff\xfe":                    "..",
	} {
		if got := plaintext.Transliterate(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestTransliterate_OnlyBasicCharacters(t *testing.T) {
	t.Parallel()
	// Every text becomes one in basic characters, which stays as it is when it is converted again.
	rapid.Check(t, func(t *rapid.T) {
		got := plaintext.Transliterate(rapid.String().Draw(t, "text"))
		if rest := strings.Trim(got, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 /-?:().,'+"); rest != "" {
			t.Fatalf("%q has %q", got, rest)
		}
		if again := plaintext.Transliterate(got); again != got {
			t.Fatalf("%q becomes %q", got, again)
		}
	})
}
