package party_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/core/fault"
	"causeway/core/party"
)

func TestAddress_CheckNamesMissingParts(t *testing.T) {
	// A complete address is valid; each missing part is named by its path.
	t.Parallel()
	whole := party.Address{Line1: "1 Main St", City: "Austin", State: "TX", PostalCode: "78701", Country: "US"}
	if bad := whole.Check("address"); len(bad) > 0 {
		t.Errorf("a whole address: %v", bad)
	}

	bad := party.Address{Line2: "Flat 2"}.Check("accountInfo.beneficiary.address")

	var paths []string
	for _, field := range bad {
		paths = append(paths, strings.TrimPrefix(field.Field, "accountInfo.beneficiary.address."))
	}
	if want := []string{"line1", "city", "postalCode", "country"}; !slices.Equal(paths, want) {
		t.Errorf("missing %v; want %v", paths, want)
	}
}

func TestAddress_StateWherePostalAddressesHaveOne(t *testing.T) {
	// The state is required in countries whose postal addresses have one, and optional elsewhere.
	t.Parallel()
	for country, required := range map[string]bool{"US": true, "CA": true, "MX": true, "BR": true, "AU": true, "IN": true, "DE": false,
		"GB": false, "SG": false, "KE": false} {
		a := party.Address{Line1: "1 Main St", City: "Berlin", PostalCode: "10115", Country: country}
		if bad := a.Check("address"); (len(bad) == 1 && bad[0].Field == "address.state") != required || len(bad) > 1 {
			t.Errorf("%s without a state: %v, required %v", country, bad, required)
		}
		a.State = "Berlin"
		if bad := a.Check("address"); len(bad) > 0 {
			t.Errorf("%s with a state: %v", country, bad)
		}
	}
	if !slices.Equal(party.CountriesWithStates(), slices.Sorted(slices.Values(party.CountriesWithStates()))) {
		t.Error("the countries are not sorted")
	}
}

func TestProblems_Checks(t *testing.T) {
	// Each check accepts valid values and refuses others, with one field for each.
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	type check func(*party.Problems, string)
	person := func(p *party.Problems, v string) { p.PersonName("f", v, party.Optional) }
	business := func(p *party.Problems, v string) { p.BusinessName("f", v, party.Optional) }
	email := func(p *party.Problems, v string) { p.Email("f", v, party.Optional) }
	phone := func(p *party.Problems, v string) { p.Phone("f", v, party.Optional) }
	country := func(p *party.Problems, v string) { p.Country("f", v, party.Optional) }
	born := func(p *party.Problems, v string) { p.PastDate("f", v, party.Optional, 1900, now) }
	text := func(p *party.Problems, v string) { p.Text("f", v, party.Optional, 5) }
	choice := func(p *party.Problems, v string) { p.OneOf("f", v, party.Optional, []string{"A", "B"}) }
	tests := []struct {
		name  string
		check check
		good  []string
		bad   []string
	}{
		{"person", person,
			[]string{"", "Ana Ng", "Seán O’Brien", "José-María d'Ors Jr.", "李 小龍", "प्रिया", "Smith001", "Martí, Pau", "ליאת בן\u05beדוד",
				"Anne\u2010Marie", "マイケル\u30fbジャクソン", strings.Repeat("a", 255)},
			[]string{" Ana", "Ana ", "Ana  Ng", "Ana\tNg", "Ana<b>", "Ana; DROP", "007", "-", "Ana\x00", "Ana\xff", "$ana", "a@b",
				strings.Repeat("a", 256)}},
		{"business", business,
			[]string{"", "Acme, Inc.", "A & B (Holdings) Ltd", "3M", "Yahoo!", "Société d'Études"},
			[]string{"Acme  Inc", "Acme\nInc", "<script>", "42", "Acme{}"}},
		{"email", email,
			[]string{"", "ana@example.com", "a.b+c@sub.example.co.uk"},
			[]string{"ana", "ana@", "@example.com", "ana@example", "a na@example.com", "ana@@example.com", "ana@example..com", "ana@-example.com",
				"ana@example.com\n", strings.Repeat("a", 250) + "@a.io"}},
		{"phone", phone, []string{"", "+14155550123", "+4912"}, []string{"4155550123", "+0123", "+1-415-555", "+1415555012345678", "+"}},
		{"country", country, []string{"", "US", "DE", "CW"}, []string{"us", "USA", "XX", "UK", "EU", "U"}},
		{"birth date", born, []string{"", "1990-02-28", "2000-02-29", "2026-02-28", "1900-01-01"},
			[]string{"1990-2-8", "1990-02-30", "2026-03-01", "2030-01-01", "1899-12-31", "28/02/1990", "1990-02-28T00:00:00Z"}},
		{"text", text, []string{"", "abcde", "äöüßé"}, []string{"abcdef", "   ", "a\nb", "a\xffb"}},
		{"choice", choice, []string{"", "A", "B"}, []string{"a", "C", "A "}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, value := range tt.good {
				var problems party.Problems
				if tt.check(&problems, value); problems.Err() != nil {
					t.Errorf("%q: %v", value, problems.Fields)
				}
			}
			for _, value := range tt.bad {
				var problems party.Problems
				tt.check(&problems, value)
				if len(problems.Fields) != 1 || problems.Fields[0].Field != "f" || !fault.Is(problems.Err(), fault.InvalidInput) {
					t.Errorf("%q: %v", value, problems.Fields)
				}
			}
		})
	}
}

func TestProblems_RequiredFieldMissing(t *testing.T) {
	// An empty value is an error if the field is required, for every check.
	t.Parallel()
	var problems party.Problems
	problems.Text("text", "", party.Required, 5)
	problems.PersonName("person", "", party.Required)
	problems.BusinessName("business", "", party.Required)
	problems.Email("email", "", party.Required)
	problems.Phone("phone", "", party.Required)
	problems.Country("country", "", party.Required)
	problems.PastDate("date", "", party.Required, 1900, time.Now())
	problems.OneOf("choice", "", party.Required, []string{"A"})
	if len(problems.Fields) != 8 {
		t.Errorf("%d problems: %v", len(problems.Fields), problems.Fields)
	}
	for _, field := range problems.Fields {
		if field.Message != "is required" {
			t.Errorf("%s: %s", field.Field, field.Message)
		}
	}
}
