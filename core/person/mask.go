package person

import "strings"

// hidden stands for any number of characters that are not shown.
const hidden = "•••"

// Mask returns a name, text or UMA address as it is shown to those who may not see personal data: the first letter of each word,
// and the domain of an address. It does not tell how long the words are.
func Mask(text string) string {
	if address, isUMA := strings.CutPrefix(text, "$"); isUMA {
		local, domain, _ := strings.Cut(address, "@")
		return "$" + maskWord(local) + "@" + domain
	}
	words := strings.Fields(text)
	if len(words) > 3 {
		words = words[:3]
	}
	for i, word := range words {
		words[i] = maskWord(word)
	}
	return strings.Join(words, " ")
}

func maskWord(word string) string {
	for _, first := range word {
		return string(first) + hidden
	}
	return hidden
}
