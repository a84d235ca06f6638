package party

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"causeway/core/fault"
)

// Need says whether a field is required.
type Need bool

// The needs.
const (
	Required Need = true
	Optional Need = false
)

// Problems collects the invalid fields of a request. The zero value is empty.
type Problems struct{ Fields []fault.Field }

// Add adds an invalid field.
func (p *Problems) Add(path, message string) {
	p.Fields = append(p.Fields, fault.Field{Field: path, Message: message})
}

// AddRule adds an invalid field with the violated rule, as a JSON Schema keyword.
func (p *Problems) AddRule(path, message, keyword string, value any) {
	p.Fields = append(p.Fields, fault.Field{Field: path, Message: message, Constraint: map[string]any{keyword: value}})
}

// Err returns INVALID_INPUT with all the fields, or nil if there are none.
func (p *Problems) Err() error {
	if len(p.Fields) == 0 {
		return nil
	}
	return fault.Invalid(p.Fields...)
}

// present adds a missing field if it is required, and reports whether there is a value to
// check.
func (p *Problems) present(path, value string, need Need) bool {
	if value != "" {
		return true
	}
	if need == Required {
		p.Add(path, "is required")
	}
	return false
}

// Text checks a text of at most maxLength characters, without control characters.
func (p *Problems) Text(path, value string, need Need, maxLength int) {
	if !p.present(path, value, need) {
		return
	}
	switch {
	case !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl):
		p.Add(path, "must not contain control characters")
	case strings.TrimSpace(value) == "":
		p.Add(path, "must not be blank")
	case utf8.RuneCountInString(value) > maxLength:
		p.AddRule(path, fmt.Sprintf("must have at most %d characters", maxLength), "maxLength", maxLength)
	}
}

// maxNameLength is longer than any known legal name.
const maxNameLength = 255

// nameMarks are the marks of names: apostrophes, hyphens with those of Hebrew and of typography, and the
// dots between the parts of names in Catalan and Japanese.
const nameMarks = "'’-\u05be\u2010\u2011.,·\u30fb"

// PersonName checks a person's name: letters of any script, digits, single spaces,
// and nameMarks.
func (p *Problems) PersonName(path, value string, need Need) {
	p.name(path, value, need, nameMarks, "must be a name: letters, digits, single spaces and ' - . , only")
}

// BusinessName checks a business's name, which may also hold & / ( ) + ! # @ : and quotation marks.
func (p *Problems) BusinessName(path, value string, need Need) {
	p.name(path, value, need, nameMarks+"&/()+!#@:\"“”„«»*?", "must be a business name without special characters such as < > { } $ or "+
		"control characters")
}

func (p *Problems) name(path, value string, need Need, marks, message string) {
	if !p.present(path, value, need) {
		return
	}
	notAllowed := func(r rune) bool {
		return !(unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || r == ' ' || strings.ContainsRune(marks, r))
	}
	switch {
	case !utf8.ValidString(value) || strings.ContainsFunc(value, notAllowed):
		p.Add(path, message)
	case value != strings.TrimSpace(value) || strings.Contains(value, "  "):
		p.Add(path, "must have no spaces at its ends and single spaces between words")
	case !strings.ContainsFunc(value, unicode.IsLetter):
		p.Add(path, message)
	case utf8.RuneCountInString(value) > maxNameLength:
		p.AddRule(path, fmt.Sprintf("must have at most %d characters", maxNameLength), "maxLength", maxNameLength)
	}
}

// Country checks a country code.
func (p *Problems) Country(path, value string, need Need) {
	if p.present(path, value, need) && !KnownCountry(value) {
		p.AddRule(path, "must be a country code of two capital letters (ISO 3166-1), such as US or DE", "format", "iso-3166-1-alpha-2")
	}
}

var emailRegexp = regexp.MustCompile(
	`^[^\s@<>"(),;:\\\[\]]+@([a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?\.)+[a-zA-Z]([a-zA-Z0-9-]*[a-zA-Z0-9])$`)

// IsEmail reports whether the text has the form of an e-mail address.
func IsEmail(value string) bool { return len(value) <= 254 && emailRegexp.MatchString(value) }

// Email checks an e-mail address.
func (p *Problems) Email(path, value string, need Need) {
	if p.present(path, value, need) && !IsEmail(value) {
		p.AddRule(path, "must be an e-mail address such as ana@example.com", "format", "email")
	}
}

// PhonePattern is the pattern of a phone number by E.164.
const PhonePattern = `^\+[1-9]\d{1,14}$`

var phoneRegexp = regexp.MustCompile(PhonePattern)

// Phone checks a phone number.
func (p *Problems) Phone(path, value string, need Need) {
	if p.present(path, value, need) && !phoneRegexp.MatchString(value) {
		p.AddRule(path, "must be a phone number with its country code, such as +14155550123", "pattern", PhonePattern)
	}
}

// PastDate checks a date (YYYY-MM-DD) before the day of now, and not before a year.
func (p *Problems) PastDate(path, value string, need Need, sinceYear int, now time.Time) {
	if !p.present(path, value, need) {
		return
	}
	date, err := time.Parse(time.DateOnly, value)
	switch {
	case err != nil:
		p.AddRule(path, "must be a valid date, YYYY-MM-DD", "format", "date")
	case !date.Before(now.UTC().Truncate(24 * time.Hour)):
		p.Add(path, "must be a date in the past")
	case date.Year() < sinceYear:
		p.Add(path, fmt.Sprintf("must not be before the year %d", sinceYear))
	}
}

// OneOf checks that the value is one of a list.
func (p *Problems) OneOf(path, value string, need Need, allowed []string) {
	if p.present(path, value, need) && !slices.Contains(allowed, value) {
		p.AddRule(path, "must be one of "+strings.Join(allowed, ", "), "enum", slices.Clone(allowed))
	}
}
