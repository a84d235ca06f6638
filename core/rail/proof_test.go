package rail_test

import (
	"fmt"
	"testing"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
)

func TestGroups(t *testing.T) {
	t.Parallel()
	// Connections whose money is in the same ledger accounts are proved together, in each currency.
	connection := func(name string, currency money.Currency, platforms []ident.Platform, rails ...corridor.Rail) rail.Connection {
		return rail.Connection{Name: name, Rails: rails, Currencies: []money.Currency{currency}, Platforms: platforms}
	}
	one, two := []ident.Platform{platformID(1)}, []ident.Platform{platformID(2)}
	all := append(one, two...)
	tests := []struct {
		name        string
		connections []rail.Connection
		want        string
	}{
		{"none", nil, "[]"},
		{"other rails", []rail.Connection{connection("a", "EUR", nil, "SEPA"), connection("b", "EUR", nil, "SWIFT")}, "[EUR[a]2 EUR[b]2]"},
		{"the same rail", []rail.Connection{connection("b", "EUR", nil, "SEPA"), connection("a", "EUR", one, "SEPA", "SWIFT")}, "[EUR[a b]3]"},
		{"other platforms", []rail.Connection{connection("a", "EUR", one, "SEPA"), connection("b", "EUR", two, "SEPA")}, "[EUR[a]1 EUR[b]1]"},
		{"joined by a third", []rail.Connection{connection("a", "EUR", one, "SEPA"), connection("b", "EUR", two, "SEPA"),
			connection("c", "EUR", nil, "SEPA")}, "[EUR[a b c]2]"},
		{"other currencies", []rail.Connection{connection("a", "USD", one, "SWIFT"), connection("b", "EUR", one, "SWIFT")}, "[EUR[b]1 USD[a]1]"},
	}
	for _, tt := range tests {
		got := []string{}
		for _, g := range rail.Groups(tt.connections, all) {
			got = append(got, fmt.Sprintf("%s%v%d", g.Currency, g.Connections, len(g.Accounts)))
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, got, tt.want)
		}
	}
}

func TestProof_Concluded(t *testing.T) {
	t.Parallel()
	// Partners hold what the ledger says, but for what is in flight and what moved between the times of their balances.
	tests := []struct {
		partners, from, to, out, in int64
		state                       rail.ProofState
		difference                  int64
	}{
		{100, 100, 100, 0, 0, rail.Proved, 0},
		{99, 100, 100, 0, 0, rail.Different, -1},
		{101, 100, 100, 0, 0, rail.Different, 1},
		{70, 100, 100, 30, 0, rail.Proved, 0},
		{69, 100, 100, 30, 0, rail.Different, -1},
		{101, 100, 100, 30, 0, rail.Different, 1},
		{120, 100, 100, 0, 20, rail.Proved, 0},
		{121, 100, 100, 0, 20, rail.Different, 1},
		{150, 100, 200, 0, 0, rail.Proved, 0},
		{150, 200, 100, 0, 0, rail.Proved, 0},
		{99, 200, 100, 0, 0, rail.Different, -1},
		{201, 100, 200, 0, 0, rail.Different, 1},
	}
	for _, tt := range tests {
		p := rail.Proof{Partners: money.TotalOf(tt.partners), LedgerFrom: money.TotalOf(tt.from), LedgerTo: money.TotalOf(tt.to),
			Out: money.TotalOf(tt.out), In: money.TotalOf(tt.in)}
		if got := p.Concluded(); got.State != tt.state || !got.Difference.Equal(money.TotalOf(tt.difference)) {
			t.Errorf("%+v: %s %s", tt, got.State, got.Difference)
		}
	}
}
