package corridor

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"causeway/core/fault"
	"causeway/core/money"
)

// Institution is a bank or mobile money operator in a country and currency.
type Institution struct {
	// Country is ISO 3166-1 alpha-2.
	Country  string
	Currency money.Currency
	// Code is unique in the country and never changes.
	Code string
	// Name is for display.
	Name string
}

// InstitutionFilter selects institutions; empty fields match all.
type InstitutionFilter struct {
	Country  string
	Currency money.Currency
}

// InstitutionsIn returns the institutions of a country.
func InstitutionsIn(country string) []Institution {
	var found []Institution
	for _, i := range institutions {
		if i.Country == country {
			found = append(found, i)
		}
	}
	return found
}

// FindInstitutions returns institutions ordered by country, currency and code. It returns
// INVALID_INPUT for a country or currency without a live corridor, and for a currency that is
// not paid out in the country.
func FindInstitutions(f InstitutionFilter) ([]Institution, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	found := []Institution{}
	for _, i := range institutions {
		if (f.Country == "" || f.Country == i.Country) && (f.Currency == "" || f.Currency == i.Currency) {
			found = append(found, i)
		}
	}
	return found, nil
}

func (f InstitutionFilter) check() error {
	var bad []fault.Field
	refuse := func(field, message string, args ...any) {
		bad = append(bad, fault.Field{Field: field, Message: fmt.Sprintf(message, args...)})
	}
	country, known := CountryByCode(f.Country)
	switch {
	case f.Country == "":
	case !known:
		refuse("country", "must be a country that a corridor leads to, as a code of two upper-case letters, such as NG")
	case !country.Live:
		refuse("country", "must be a country with a live corridor; the one to %s is only announced", f.Country)
	}
	switch {
	case f.Currency == "":
	case !f.Currency.Payable():
		refuse("currency", "must be a known currency code in upper case, such as NGN")
	case f.Currency.IsCrypto():
		refuse("currency", "must not be a cryptocurrency: there are no institutions for %s", f.Currency)
	case !Live(f.Currency, ""):
		refuse("currency", "must be the currency of a live corridor, which %s is not", f.Currency)
	case len(bad) == 0 && known && !slices.Contains(country.Currencies, f.Currency):
		refuse("currency", "is not paid out in %s", f.Country)
	}
	if len(bad) > 0 {
		return fault.Invalid(bad...)
	}
	return nil
}

//go:embed institutions.txt
var institutionsText string

// institutions holds the parsed file.
var institutions = mustParseInstitutions(institutionsText)

func mustParseInstitutions(text string) []Institution {
	list, err := parseInstitutions(text)
	if err != nil {
		panic("institutions.txt: " + err.Error())
	}
	return list
}

var institutionCodeRegexp = regexp.MustCompile(`^[A-Z0-9]+(_[A-Z0-9]+)*$`)

// parseInstitutions parses the file: one institution per line, ordered and unique.
func parseInstitutions(text string) ([]Institution, error) {
	var list []Institution
	for n, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.SplitN(line, ",", 4)
		if len(parts) != 4 {
			return nil, fmt.Errorf("line %d is not country, currency, code and name", n+1)
		}
		i := Institution{Country: parts[0], Currency: money.Currency(parts[1]), Code: parts[2], Name: parts[3]}
		switch {
		case !Live(i.Currency, i.Country):
			return nil, fmt.Errorf("line %d: no live corridor pays out %s in %s", n+1, i.Currency, i.Country)
		case !institutionCodeRegexp.MatchString(i.Code):
			return nil, fmt.Errorf("line %d: the code %q is not made of A to Z, 0 to 9 and single _", n+1, i.Code)
		case i.Name == "" || i.Name != strings.TrimSpace(i.Name):
			return nil, fmt.Errorf("line %d: the name is missing or has blanks around it", n+1)
		case len(list) > 0 && !isBefore(list[len(list)-1], i):
			return nil, fmt.Errorf("line %d is not after the one before it, by country, currency and code", n+1)
		}
		list = append(list, i)
	}
	return list, nil
}

func isBefore(a, b Institution) bool {
	return slices.Compare([]string{a.Country, string(a.Currency), a.Code}, []string{b.Country, string(b.Currency), b.Code}) < 0
}
