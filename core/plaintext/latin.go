package plaintext

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Transliterate returns a text in the characters that every bank accepts: the basic Latin letters, digits, space and
// / - ? : ( ) . , ' +. Other characters are replaced as in the conversion table of the European Payments Council
// (EPC217-08), and those of which it says nothing by a full stop. Spaces are reduced to one between two words.
func Transliterate(text string) string {
	var result strings.Builder
	for _, r := range text {
		switch {
		case isBasic(r):
			result.WriteRune(r)
		case unicode.IsSpace(r) || unicode.IsControl(r):
			result.WriteByte(' ')
		case IsInvisible(r), unicode.Is(unicode.Mn, r):
			// A mark is on the character before it.
		default:
			result.WriteString(replacementOf(r))
		}
	}
	return strings.Join(strings.Fields(result.String()), " ")
}

// IsInvisible reports whether a character shows nothing and takes part in no word: those that control the format, that Unicode says to
// ignore, such as the fillers of Hangul, which are letters, and the empty Braille pattern.
func IsInvisible(r rune) bool {
	const emptyBraille = '\u2800'
	return r == emptyBraille || unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

func isBasic(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r < utf8.RuneSelf &&
		strings.IndexByte(" /-?:().,'+", byte(r)) >= 0
}

// replacementOf returns the replacement of a character, or of the characters that it consists of.
func replacementOf(r rune) string {
	if found := replacement(r); found != "" {
		return found
	}
	var result strings.Builder
	for _, part := range norm.NFKD.String(string(r)) {
		if isBasic(part) {
			result.WriteRune(part)
		} else {
			result.WriteString(replacement(part))
		}
	}
	if result.Len() == 0 {
		return "."
	}
	return result.String()
}

// replacement looks a character up, in lower case too: the table has the same for both.
func replacement(r rune) string {
	if found := replacements[r]; found != "" {
		return found
	}
	if upper := unicode.ToUpper(r); upper != r {
		return strings.ToLower(replacements[upper])
	}
	return ""
}

// replacements are those that are not the letter without its accents. Greek and Cyrillic are as in Greece and Bulgaria,
// whose banks use them; the letters of other Cyrillic alphabets follow theirs.
var replacements = map[rune]string{
	'!': ".", '"': "'", '#': ".", '$': ".", '%': ".", '&': "+", '*': ".", ';': ",", '<': ".", '=': ".", '>': ".", '@': ".",
	'[': "(", '\\': "/", ']': ")", '^': ".", '_': "-", '`': "'", '{': "(", '|': "/", '}': ")", '~': "-",
	'€': "E", '‘': "'", '’': "'", '‚': ",", '‛': "'", '“': "'", '”': "'", '„': "'", '´': "'", '«': "'", '»': "'", '‹': "'", '›': "'",
	'‐': "-", '‑': "-", '‒': "-", '–': "-", '—': "-", '―': "-", '−': "-", '¿': "?", '÷': ":", '¦': "/", '⁄': "/",
	'Æ': "A", 'Œ': "O", 'Ø': "O", 'ß': "s", 'ẞ': "S", 'Ð': "D", 'Đ': "D", 'Þ': "T", 'Ł': "L", 'Ħ': "H", 'Ŧ': "T", 'Ŋ': "N", 'ı': "i", 'ĸ': "k",
	'Α': "A", 'Β': "V", 'Γ': "G", 'Δ': "D", 'Ε': "E", 'Ζ': "Z", 'Η': "I", 'Θ': "TH", 'Ι': "I", 'Κ': "K", 'Λ': "L", 'Μ': "M",
	'Ν': "N", 'Ξ': "X", 'Ο': "O", 'Π': "P", 'Ρ': "R", 'Σ': "S", 'Τ': "T", 'Υ': "Y", 'Φ': "F", 'Χ': "CH", 'Ψ': "PS", 'Ω': "O",
	'А': "A", 'Б': "B", 'В': "V", 'Г': "G", 'Д': "D", 'Е': "E", 'Ж': "ZH", 'З': "Z", 'И': "I", 'Й': "Y", 'К': "K", 'Л': "L", 'М': "M",
	'Н': "N", 'О': "O", 'П': "P", 'Р': "R", 'С': "S", 'Т': "T", 'У': "U", 'Ф': "F", 'Х': "H", 'Ц': "TS", 'Ч': "CH", 'Ш': "SH", 'Щ': "SHT",
	'Ъ': "A", 'Ь': "Y", 'Ю': "YU", 'Я': "YA", 'Ё': "YO", 'Ы': "Y", 'Э': "E", 'Є': "YE", 'І': "I", 'Ї': "YI", 'Ґ': "G",
	'Ђ': "DJ", 'Ј': "J", 'Љ': "LJ", 'Њ': "NJ", 'Ћ': "C", 'Џ': "DZ", 'Ѓ': "GJ", 'Ќ': "KJ", 'Ѕ': "DZ",
}

// HasLetters reports whether a text says anything: what Transliterate leaves of one in another script are full stops.
func HasLetters(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}
