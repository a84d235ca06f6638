package corridor_test

import (
	"slices"
	"strings"
	"testing"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/money"
)

func TestFind_EveryLiveCorridorHasInstitutions(t *testing.T) {
	t.Parallel()
	// Each live country has at least five institutions in each of its currencies, a large country
	// at least twelve. An announced country has none.
	large := strings.Fields("NG PH ZA KE ID VN TH MY IN BR MX GB SG AE US DE FR ES IT NL BE AT PT IE GR")
	all, err := corridor.FindInstitutions(corridor.InstitutionFilter{})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, country := range corridor.Countries() {
		for _, currency := range country.Currencies {
			found, err := corridor.FindInstitutions(corridor.InstitutionFilter{Country: country.Code, Currency: currency})
			if !country.Live {
				if !fault.Is(err, fault.InvalidInput) {
					t.Errorf("%s: %v", country.Code, err)
				}
				continue
			}
			least := 5
			if slices.Contains(large, country.Code) {
				least = 12
			}
			if err != nil || len(found) < least {
				t.Errorf("%s in %s: %d institutions, %v; want at least %d", currency, country.Code, len(found), err, least)
			}
			total += len(found)
		}
	}
	if total != len(all) {
		t.Errorf("%d by country and currency, %d in all", total, len(all))
	}
}

func TestInstitutionsFile_NamesSourceForEachCountry(t *testing.T) {
	t.Parallel()
	// The file names a public register for every live country.
	for _, country := range corridor.Countries() {
		if country.Live && !strings.Contains(corridor.InstitutionsText, "\n# "+country.Code+": ") {
			t.Errorf("no register is named for %s", country.Code)
		}
	}
}

func TestInstitutionsFile_NamesAreDistinguishable(t *testing.T) {
	t.Parallel()
	// No two institutions of a country and currency have the same name, ignoring case.
	seen := map[string]bool{}
	all, _ := corridor.FindInstitutions(corridor.InstitutionFilter{})
	for _, i := range all {
		key := strings.ToLower(i.Country + string(i.Currency) + i.Name)
		if seen[key] {
			t.Errorf("%s is in %s twice", i.Name, i.Country)
		}
		seen[key] = true
	}
}

func TestFind_Filters(t *testing.T) {
	t.Parallel()
	// A filter selects by country and currency. A country or currency without a live corridor is an
	// error that names each invalid field.
	for _, tt := range []struct {
		country  string
		currency money.Currency
		has      string // the code of one of the institutions found
		bad      []string
	}{
		{"NG", "", "ZENITH_BANK", nil},
		{"", "NGN", "GTBANK", nil},
		{"KE", "KES", "M_PESA", nil},
		{"DK", "EUR", "DANSKE_BANK", nil},
		{"DK", "DKK", "DANSKE_BANK", nil},
		{"", "EUR", "DEUTSCHE_BANK", nil},
		{"CA", "", "", []string{"country"}},
		{"AQ", "", "", []string{"country"}},
		{"ng", "ngn", "", []string{"country", "currency"}},
		{"CA", "CAD", "", []string{"country", "currency"}},
		{"", "JPY", "", []string{"currency"}},
		{"", "BTC", "", []string{"currency"}},
		{"NG", "KES", "", []string{"currency"}},
	} {
		found, err := corridor.FindInstitutions(corridor.InstitutionFilter{Country: tt.country, Currency: tt.currency})
		refusal, _ := fault.As(err)
		var bad []string
		if refusal != nil {
			for _, f := range refusal.Fields {
				bad = append(bad, f.Field)
			}
		}
		if !slices.Equal(bad, tt.bad) {
			t.Errorf("%q %q: invalid fields %v, want %v", tt.country, tt.currency, bad, tt.bad)
		}
		contains := false
		for _, i := range found {
			contains = contains || i.Code == tt.has
			if tt.country != "" && i.Country != tt.country || tt.currency != "" && i.Currency != tt.currency {
				t.Errorf("filter %q %q returns %+v", tt.country, tt.currency, i)
			}
		}
		if contains != (tt.has != "") {
			t.Errorf("%q %q: contains %q: %v, want %v; %d found", tt.country, tt.currency, tt.has, contains, !contains, len(found))
		}
	}
}

func TestParse_RejectsInvalidLines(t *testing.T) {
	t.Parallel()
	// The error for an invalid line names its line number.
	good := "NG,NGN,ACCESS_BANK,Access Bank\n"
	if list, err := corridor.ParseInstitutions("# words\n\n" + good + "NG,NGN,B,Bank, of Commas\n"); err != nil || len(list) != 2 ||
		list[1].Name != "Bank, of Commas" {
		t.Errorf("valid lines: %v, %v", list, err)
	}
	for name, line := range map[string]string{
		"too few parts":   "NG,NGN,B",
		"no such country": "XX,NGN,B,Bank",
		"not live":        "CA,CAD,B,Bank",
		"wrong currency":  "NG,KES,B,Bank",
		"a bad code":      "NG,NGN,b ank,Bank",
		"no name":         "NG,NGN,B,",
		"blanks":          "NG,NGN,B, Bank",
		"the same again":  "NG,NGN,ACCESS_BANK,Another",
		"out of order":    "NG,NGN,ABLE,Able Bank",
	} {
		if list, err := corridor.ParseInstitutions(good + line); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	// For any text, the parsed institutions are complete and in order.
	f.Add("NG,NGN,ACCESS_BANK,Access Bank\nNG,NGN,GTBANK,GTBank\n# end")
	f.Add(",,,\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := corridor.ParseInstitutions(text)
		if err != nil {
			return
		}
		for i, one := range list {
			if !corridor.Live(one.Currency, one.Country) || one.Code == "" || one.Name == "" {
				t.Fatalf("incomplete: %+v", one)
			}
			if i > 0 && one.Country == list[i-1].Country && one.Currency == list[i-1].Currency && one.Code <= list[i-1].Code {
				t.Fatalf("%+v after %+v", one, list[i-1])
			}
		}
	})
}
