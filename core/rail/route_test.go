package rail_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	// A payment takes the connection of its rail, currency, country and platform; the lowest priority wins, then the name.
	first, second, own, german := bank(), bank(), bank(), bank()
	first.Name, second.Name, own.Name, german.Name = "b", "a", "own", "german"
	first.Priority, second.Priority = 1, 1
	own.Platforms, german.Countries, german.Priority = []ident.Platform{platformID(1)}, []string{"DE"}, 2
	all := []rail.Connection{first, second, own, german}
	node := rail.Connection{Name: "node", Adapter: rail.Lightning, Rails: []corridor.Rail{corridor.Lightning},
		Currencies: []money.Currency{"BTC"}}
	euros := rail.Route{Platform: platformID(2), Rail: corridor.SEPA, Currency: "EUR", Country: "DE"}
	tests := []struct {
		name        string
		connections []rail.Connection
		route       rail.Route
		want        string
	}{
		{"by name", all, euros, "a"},
		{"by priority", all, rail.Route{Platform: platformID(1), Rail: corridor.SEPA, Currency: "EUR"}, "own"},
		{"by country", []rail.Connection{german}, euros, "german"},
		{"unknown country", []rail.Connection{german}, rail.Route{Rail: corridor.SEPA, Currency: "EUR"}, ""},
		{"another country", []rail.Connection{german}, rail.Route{Rail: corridor.SEPA, Currency: "EUR", Country: "FR"}, ""},
		{"another platform", []rail.Connection{own}, euros, ""},
		{"another rail", all, rail.Route{Rail: corridor.Wire, Currency: "EUR"}, ""},
		{"another currency", all, rail.Route{Rail: corridor.SEPA, Currency: "USD"}, ""},
		{"a rail that nothing carries", all, rail.Route{Rail: corridor.Layer2, Currency: "BTC"}, ""},
		{"lightning", []rail.Connection{node}, rail.Route{Rail: corridor.Lightning, Currency: "BTC"}, "node"},
	}
	for _, tt := range tests {
		got, err := rail.Choose(tt.connections, tt.route)
		if got.Name != tt.want || (tt.want == "") != fault.Is(err, fault.NotImplemented) {
			t.Errorf("%s: %q, %v; want %q", tt.name, got.Name, err, tt.want)
		}
	}
}

func TestChoose_DoesNotDependOnOrder(t *testing.T) {
	t.Parallel()
	// Whatever the order of the connections, the same one is chosen, and it serves the route.
	rapid.Check(t, func(t *rapid.T) {
		var all []rail.Connection
		for i := range rapid.IntRange(0, 6).Draw(t, "connections") {
			all = append(all, rail.Connection{Name: string(rune('a' + i)), Priority: rapid.IntRange(0, 2).Draw(t, "priority"),
				Rails:      rapid.SliceOfN(rapid.SampledFrom([]corridor.Rail{corridor.SEPA, corridor.Wire}), 1, 2).Draw(t, "rails"),
				Currencies: []money.Currency{"EUR"}, Countries: rapid.SliceOfN(rapid.SampledFrom([]string{"DE", "FR"}), 0, 1).Draw(t, "countries")})
		}
		route := rail.Route{Rail: corridor.SEPA, Currency: "EUR", Country: rapid.SampledFrom([]string{"DE", "FR", ""}).Draw(t, "country")}
		chosen, err := rail.Choose(all, route)
		again, errAgain := rail.Choose(rapid.Permutation(all).Draw(t, "order"), route)
		if chosen.Name != again.Name || (err == nil) != (errAgain == nil) {
			t.Fatalf("%q, %v and then %q, %v", chosen.Name, err, again.Name, errAgain)
		}
		for _, c := range all {
			if c.Serves(route) && (err != nil || c.Priority < chosen.Priority) {
				t.Fatalf("%q was chosen in place of %q, %v", chosen.Name, c.Name, err)
			}
		}
		if err == nil && !chosen.Serves(route) {
			t.Fatalf("%q does not serve the route", chosen.Name)
		}
	})
}

func TestExceeded(t *testing.T) {
	t.Parallel()
	// The first limit that one more payment exceeds is named; limits of other rails and currencies do not count.
	c := bank()
	c.Limits = []rail.Limit{{Rail: corridor.SEPA, Currency: "EUR", PerPayout: 100_00, PerHour: 150_00}, {Currency: "EUR", PerDay: 500_00}}
	used := map[corridor.Rail]rail.Usage{corridor.SEPA: {Hour: 60_00, Day: 60_00}, "": {Hour: 60_00, Day: 450_00}}
	tests := []struct {
		rail   corridor.Rail
		amount money.Amount
		want   string
	}{
		{corridor.SEPA, money.Amount{Minor: 50_00, Currency: "EUR"}, ""},
		{corridor.SEPA, money.Amount{Minor: 100_01, Currency: "EUR"}, "above the limit of 100.00 EUR per payout on SEPA"},
		{corridor.SEPA, money.Amount{Minor: 90_01, Currency: "EUR"}, "above the limit of 150.00 EUR per hour on SEPA"},
		{corridor.SEPAInstant, money.Amount{Minor: 50_01, Currency: "EUR"}, "above the limit of 500.00 EUR per day"},
		{corridor.SEPAInstant, money.Amount{Minor: 50_01, Currency: "DKK"}, ""},
		{corridor.SEPA, money.Amount{Minor: money.MaxMinor, Currency: "EUR"}, "above the limit of 100.00 EUR per payout on SEPA"},
	}
	for _, tt := range tests {
		if got := c.Exceeded(tt.rail, tt.amount, func(r corridor.Rail) rail.Usage { return used[r] }); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.rail, tt.amount, got, tt.want)
		}
	}
}

func TestChoose_OnlyWhatWasTestedAndIsNotRetired(t *testing.T) {
	t.Parallel()
	// A connection that was not tested, or is retired, takes no new payment, although it comes first. Operators see why
	// there is none, and customers are not.
	untested, retired, open := bank(), bank(), bank()
	untested.Name, untested.Untested = "a", true
	retired.Name, retired.Retired = "b", true
	open.Name = "c"
	euros := rail.Route{Platform: platformID(2), Rail: corridor.SEPA, Currency: "EUR", Country: "DE"}

	if got, err := rail.Choose([]rail.Connection{untested, retired, open}, euros); got.Name != "c" || err != nil {
		t.Errorf("%q, %v; want c", got.Name, err)
	}
	_, err := rail.Choose([]rail.Connection{untested, retired}, euros)
	if !fault.Is(err, fault.NotImplemented) || strings.Contains(err.Error(), "tested") || strings.Contains(err.Error(), "retired") {
		t.Errorf("%v", err)
	}
	reason, heldBack := rail.WhyNone([]rail.Connection{untested, retired}, euros)
	if want := "a carries it, but was not tested: run causeway rails test a; b carries it, but is retired"; reason != want || !heldBack {
		t.Errorf("%q, want %q", reason, want)
	}
	euros.Rail = corridor.Wire
	if reason, heldBack := rail.WhyNone([]rail.Connection{untested, retired}, euros); reason != "no connection carries EUR over WIRE" ||
		heldBack {
		t.Errorf("%q, %t", reason, heldBack)
	}
}
