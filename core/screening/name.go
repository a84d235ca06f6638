package screening

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"causeway/core/plaintext"
)

const (
	// maxNameBytes is how much of a name is compared.
	maxNameBytes = 512
	// maxTokens is how many words of a name are compared.
	maxTokens = 12
)

// name is a name prepared for comparison: its words in lower case without marks, punctuation and legal
// forms.
type name struct {
	tokens [][]rune
	// joined is all words as one, for names whose words are separated otherwise.
	joined []rune
}

// letters are those that Unicode does not decompose.
var letters = map[rune]string{
	'ß': "ss", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'æ': "ae", 'œ': "oe", 'ı': "i", 'ħ': "h", 'ŋ': "n", 'ŧ': "t",
}

// legalForms are words that say what kind of company it is.
var legalForms = wordSet("ab ag aktiengesellschaft aps as asa bhd bv bvba cjsc cia cic co company corp corporation cv cyf ead eood " +
	"fze fzc fzco fzllc gesellschaft gmbh inc incorporated jsc kg kgaa kft limitada limited llc llp lp lllp ltd ltda mbh nv oao ojsc oo ood " +
	"ooo " +
	"oy oyj pao pc pjsc plc pllc pt pte pty pvt private qjsc rt sa sac sal saoc saog sarl sas sca scs sdn se sl slu spa spol srl sro snc sp " +
	"tbk ug " +
	"unlimited wll zao zoo zrt")

// particles are words of names that are often left out or written as part of the next word.
var particles = wordSet("al el ul as ad an ar at de da do dos das del della der den di du la le van von zu bin ibn ben bint abu and und " +
	"et y the of for")

func wordSet(words string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// newName prepares a name for comparison. Legal forms of an organization are left out unless there is
// nothing else.
func newName(text string, kind Kind) name {
	words := Words(text)
	if kind != Person {
		words = withoutLegalForms(words)
	}
	words = words[:min(len(words), maxTokens)]
	n := name{tokens: make([][]rune, len(words))}
	for i, word := range words {
		n.tokens[i] = []rune(word)
		n.joined = append(n.joined, n.tokens[i]...)
	}
	return n
}

// Words returns the words of a text in lower case, without marks and punctuation.
func Words(text string) []string {
	if len(text) > maxNameBytes {
		text = strings.ToValidUTF8(text[:maxNameBytes], "")
	}
	var folded strings.Builder
	wordLength := 0
	for _, r := range norm.NFKD.String(strings.ToLower(norm.NFKD.String(text))) {
		replacement, special := letters[r]
		switch {
		case plaintext.IsInvisible(r): // divides no word
		case special:
			folded.WriteString(replacement)
			wordLength += len(replacement)
		case unicode.IsLetter(r), unicode.IsNumber(r):
			folded.WriteRune(r)
			wordLength++
		case unicode.Is(unicode.M, r), isApostrophe(r), r == '.' && wordLength == 1:
			// O'Brien is obrien, and S.A. is sa.
			if r == '.' {
				wordLength = 0
			}
		default:
			folded.WriteByte(' ')
			wordLength = 0
		}
	}
	return strings.Fields(folded.String())
}

func isApostrophe(r rune) bool {
	switch r {
	case '\'', '’', '‘', '`', '´', 'ʼ', 'ʻ', 'ʿ', 'ʾ', '′':
		return true
	}
	return false
}

func withoutLegalForms(words []string) []string {
	var kept []string
	for _, word := range words {
		if !legalForms[word] {
			kept = append(kept, word)
		}
	}
	if len(kept) == 0 {
		return words
	}
	return kept
}

// weight is how much a word counts: longer ones say more.
func weight(token []rune) int {
	if len(token) <= 3 && particles[string(token)] {
		return 1
	}
	return min(len(token), 10)
}
