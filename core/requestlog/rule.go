package requestlog

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"causeway/core/money"
)

// Masked is written in place of a value that is not shown.
const Masked = "***"

// Forms are the forms in which values of one name are shown. A value in any other form is masked.
type Forms struct {
	Number, Boolean bool
	ID              bool // <Type>:<uuid>
	Time            bool // a date or a time
	Currency        bool
	Values          map[string]bool // texts that the description lists
	// Whole: the value is masked with all that is in it.
	Whole bool
}

// Rule has the forms of each name. A name that it does not have is masked.
type Rule map[string]*Forms

// HasName reports whether the rule has a name.
func (r Rule) HasName(name string) bool { return r[name] != nil }

// ShowsParameter reports whether a parameter of a URL is shown.
func (r Rule) ShowsParameter(name, text string) bool {
	f := r[name]
	if f == nil || f.Whole {
		return false
	}
	if f.Boolean && (text == "true" || text == "false") {
		return true
	}
	if _, err := strconv.ParseInt(text, 10, 64); err == nil && f.Number {
		return true
	}
	return f.ShowsText([]byte(text))
}

// ShowsText reports whether a text is shown: in one of the forms, or empty. No form means none.
func (f *Forms) ShowsText(text []byte) bool {
	switch {
	case len(text) == 0:
		return true
	case f == nil || f.Whole:
		return false
	}
	return f.Values[string(text)] || f.ID && IsID(text) || f.Time && isTime(text) || f.Currency && money.Currency(text).Known()
}

// IsID reports whether a text has the form <Type>:<uuid>.
func IsID(text []byte) bool {
	kind, id, found := bytes.Cut(text, []byte{':'})
	if !found || len(kind) == 0 || len(kind) > 30 || len(id) != 36 {
		return false
	}
	for _, c := range kind {
		if (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	for i, c := range id {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (c == '-') || !dash && !isHex(c) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

// isTime reports whether a text has only the characters of a date or a time, and begins with a year.
func isTime(text []byte) bool {
	if len(text) < len("2006-01") || len(text) > len("2006-01-02T15:04:05.000000000+00:00") || text[4] != '-' ||
		len(text) > len("2006-01") && text[7] != '-' {
		return false
	}
	for _, c := range text {
		if (c < '0' || c > '9') && !bytes.ContainsRune([]byte("-:.+TZ"), rune(c)) {
			return false
		}
	}
	return true
}

// IsName reports whether a text is shown as the name of a field, also of one that the rule does not have.
func IsName(text []byte) bool {
	if len(text) == 0 || len(text) > 40 {
		return false
	}
	for i, c := range text {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return true
}

// maxHidden bounds the masked values that are looked for in a message.
const maxHidden = 2000

// Hidden are values that were masked, which texts about them must not repeat.
type Hidden struct {
	values   []string
	tooMany  bool
	unlisted bool
}

// Add adds a value.
func (h *Hidden) Add(value string) {
	if value = strings.TrimSpace(value); value == "" {
		return
	}
	if len(h.values) == maxHidden {
		h.tooMany = true
		return
	}
	h.values = append(h.values, value)
	if letters := strings.Map(letterOrDigit, value); letters != value && letters != "" { // as a message may normalize it
		h.values = append(h.values, letters)
	}
}

// AddUnlisted says that something was hidden whose values are not known.
func (h *Hidden) AddUnlisted() { h.unlisted = true }

func letterOrDigit(r rune) rune {
	if unicode.IsLetter(r) || unicode.IsDigit(r) {
		return r
	}
	return -1
}

// Scrub returns a text with each value masked that stands in it as a word, in any case of letters. If the values are not all
// known, the whole text is masked.
func (h *Hidden) Scrub(text string) string {
	if h.tooMany || h.unlisted {
		if text == "" {
			return ""
		}
		return Masked
	}
	for _, value := range h.values {
		text = scrub(text, value)
	}
	return text
}

func scrub(text, value string) string {
	if len(value) > len(text) {
		return text
	}
	var out strings.Builder
	from := 0
	for at := 0; at+len(value) <= len(text); {
		if end := at + len(value); utf8.RuneStart(text[at]) && strings.EqualFold(text[at:end], value) && !joins(text, at) && !joins(text, end) {
			out.WriteString(text[from:at] + Masked)
			at, from = end, end
			continue
		}
		at++
	}
	if from == 0 {
		return text
	}
	return out.String() + text[from:]
}

// joins reports whether a place is inside of a word.
func joins(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	return at > 0 && at < len(text) && letterOrDigit(before) >= 0 && letterOrDigit(after) >= 0
}
