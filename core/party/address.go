package party

import (
	"slices"
	"strings"

	"causeway/core/fault"
)

// Address is a postal address. Country is ISO 3166-1 alpha-2.
type Address struct {
	Line1      string
	Line2      string
	City       string
	State      string
	PostalCode string
	Country    string
}

// countriesWithStates are the countries whose postal addresses have a state, province or prefecture.
var countriesWithStates = []string{"AU", "BR", "CA", "CN", "IN", "JP", "KR", "MX", "US"}

// CountriesWithStates returns the countries whose addresses need a State.
func CountriesWithStates() []string { return slices.Clone(countriesWithStates) }

// Check returns the errors of the address at path. All parts but Line2 are required, and State only
// where postal addresses have one.
func (a Address) Check(path string) []fault.Field {
	var bad Problems
	bad.Text(path+".line1", a.Line1, Required, 255)
	bad.Text(path+".line2", a.Line2, Optional, 255)
	bad.Text(path+".city", a.City, Required, 255)
	bad.Text(path+".state", a.State, Need(slices.Contains(countriesWithStates, a.Country)), 255)
	bad.Text(path+".postalCode", a.PostalCode, Required, 32)
	bad.Country(path+".country", a.Country, Required)
	return bad.Fields
}

// EEA are the countries of the European Economic Area, as ISO 3166-1 alpha-2.
func EEA() []string {
	return strings.Fields("AT BE BG HR CY CZ DE DK EE ES FI FR GR HU IE IS IT LI LT LU LV MT NL NO PL PT RO SE SI SK")
}

// KnownCountry reports whether code is a country code of ISO 3166-1 alpha-2, in capital
// letters.
func KnownCountry(code string) bool {
	_, known := countries[code]
	return known
}

// Countries returns the codes of all countries, sorted.
func Countries() []string { return strings.Fields(iso3166) }

var countries = func() map[string]struct{} {
	set := make(map[string]struct{}, 249)
	for code := range strings.FieldsSeq(iso3166) {
		set[code] = struct{}{}
	}
	return set
}()

// iso3166 lists every officially assigned code of ISO 3166-1 alpha-2.
const iso3166 = `
AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL
BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV
CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD
GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM
IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK
LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW
MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR
PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS
ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY
UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW
`
