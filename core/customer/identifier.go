package customer

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"causeway/core/party"
)

// The types of identifiers of persons.
const (
	SSN        = "SSN"
	ITIN       = "ITIN"
	EIN        = "EIN"
	NonUSTaxID = "NON_US_TAX_ID"
)

// IDTypes lists every type of identifier.
var IDTypes = []string{SSN, ITIN, EIN, NonUSTaxID}

// validate adds the errors in the data of a person, and writes the identifier in its usual form.
func (p *PersonalInfo) validate(path string, bad *party.Problems, now time.Time) {
	path += "."
	bad.PersonName(path+"firstName", p.FirstName, party.Required)
	bad.PersonName(path+"middleName", p.MiddleName, party.Optional)
	bad.PersonName(path+"lastName", p.LastName, party.Required)
	bad.PastDate(path+"birthDate", p.BirthDate, party.Required, minBirthYear, now)
	bad.Country(path+"nationality", p.Nationality, party.Required)
	bad.Email(path+"email", p.Email, party.Optional)
	bad.Phone(path+"phoneNumber", p.PhoneNumber, party.Optional)
	bad.Fields = append(bad.Fields, p.Address.Check(path+"address")...)
	bad.OneOf(path+"idType", p.IDType, party.Required, IDTypes)
	p.validateIdentifier(path, bad)
}

// validateIdentifier checks the identifier of an individual, if one was given, and writes it in its usual form.
func (c *Customer) validateIdentifier(bad *party.Problems) {
	if c.Type != Individual || c.IDType == "" && c.Identifier == "" && c.CountryOfIssuance == "" {
		return
	}
	p := c.identified()
	bad.OneOf("idType", p.IDType, party.Required, IDTypes)
	p.validateIdentifier("", bad)
	c.Identifier = p.Identifier
}

func (c Customer) identified() PersonalInfo {
	return PersonalInfo{IDType: c.IDType, Identifier: c.Identifier, CountryOfIssuance: c.CountryOfIssuance}
}

// MaskedIdentifier returns the identifier as that of a PersonalInfo.
func (c Customer) MaskedIdentifier() string { return c.identified().MaskedIdentifier() }

// validateIdentifier checks the identifier by its type and its country of issuance.
func (p *PersonalInfo) validateIdentifier(path string, bad *party.Problems) {
	identifier, country := path+"identifier", path+"countryOfIssuance"
	if p.IDType == NonUSTaxID {
		bad.Country(country, p.CountryOfIssuance, party.Required)
		if p.CountryOfIssuance == "US" {
			bad.Add(country, "must not be US for a NON_US_TAX_ID; use the idType SSN, ITIN or EIN")
		}
		bad.Text(identifier, p.Identifier, party.Required, 64)
		return
	}
	bad.Country(country, p.CountryOfIssuance, party.Optional)
	if p.CountryOfIssuance != "" && p.CountryOfIssuance != "US" && p.IDType != "" {
		bad.Add(country, "must be US for an "+p.IDType+"; use the idType NON_US_TAX_ID for an identifier of another country")
	}
	if p.Identifier == "" {
		bad.Add(identifier, "is required")
		return
	}
	format, known := usIdentifiers[p.IDType]
	if !known {
		return
	}
	text, ok := format.parse(p.Identifier)
	if !ok {
		bad.AddRule(identifier, format.rule, "pattern", format.pattern.String())
		return
	}
	p.Identifier = text
}

// usIdentifier is the form of an identifier of the United States: nine digits.
type usIdentifier struct {
	pattern *regexp.Regexp
	rule    string
	// groups are the numbers of digits between the dashes.
	groups []int
	// issued reports whether nine digits can be such an identifier.
	issued func(digits string) bool
}

var usIdentifiers = map[string]usIdentifier{
	// Social Security Administration, POMS RM 10201.035: never issued are area 000, 666 and 900 to
	// 999, group 00 and serial 0000.
	SSN: {
		regexp.MustCompile(`^\d{3}-?\d{2}-?\d{4}$`), "must be a social security number, such as 123-45-6789", []int{3, 2, 4},
		func(d string) bool {
			return d[:3] != "000" && d[:3] != "666" && d[0] != '9' && d[3:5] != "00" && d[5:] != "0000"
		},
	},
	// Internal Revenue Service, IRM 3.21.263: 9, and a group of 50-65, 70-88, 90-92 or 94-99.
	ITIN: {
		regexp.MustCompile(`^9\d{2}-?\d{2}-?\d{4}$`), "must be an individual taxpayer identification number, such as 912-70-1234", []int{3, 2, 4},
		func(d string) bool {
			group, _ := strconv.Atoi(d[3:5])
			return group >= 50 && group <= 65 || group >= 70 && group <= 88 || group >= 90 && group <= 92 || group >= 94
		},
	},
	EIN: {
		regexp.MustCompile(`^\d{2}-?\d{7}$`), "must be an employer identification number, such as 12-3456789", []int{2, 7},
		func(d string) bool { return d[:2] != "00" },
	},
}

// parse returns the identifier with its dashes, or false if it is none.
func (f usIdentifier) parse(text string) (string, bool) {
	digits := strings.ReplaceAll(text, "-", "")
	if !f.pattern.MatchString(text) || !f.issued(digits) {
		return "", false
	}
	var parts []string
	for _, n := range f.groups {
		parts, digits = append(parts, digits[:n]), digits[n:]
	}
	return strings.Join(parts, "-"), true
}

// IsEIN reports whether a text is a US employer identification number, with or without dashes.
func IsEIN(text string) bool {
	_, ok := usIdentifiers[EIN].parse(text)
	return ok
}

// IsSSN reports whether a text is a US social security number, with or without dashes.
func IsSSN(text string) bool {
	_, ok := usIdentifiers[SSN].parse(text)
	return ok
}

// MaskedIdentifier returns the identifier with an asterisk for all but its last four characters, or
// fewer of a short one. Dashes stay.
func (p PersonalInfo) MaskedIdentifier() string {
	visible := min(4, utf8.RuneCountInString(p.Identifier)/2)
	masked := []rune(p.Identifier)
	for i := range len(masked) - visible {
		if masked[i] != '-' {
			masked[i] = '*'
		}
	}
	return string(masked)
}
