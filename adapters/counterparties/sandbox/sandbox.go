// Package sandbox is the people at other providers as sandbox platforms meet them: the
// five of the sandbox's own provider as receivers, and anybody at all as a sender.
//
// It keeps no state and asks nobody.
package sandbox

import (
	"context"
	"slices"

	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/core/sandbox"
	"causeway/ports"
)

// DefaultDomain is where the people of the sandbox have their addresses unless set
// otherwise.
const DefaultDomain = "sandbox.uma.test"

// Counterparties are the people.
type Counterparties struct{ domain string }

var _ ports.Counterparties = Counterparties{}

// New makes the people of a domain.
func New(domain string) Counterparties { return Counterparties{domain} }

// Counterparty finds one of the five.
func (c Counterparties) Counterparty(_ context.Context, address string, wanted []string) (ports.Counterparty, bool, error) {
	person, ok := sandbox.FindPerson(address, c.domain)
	if !ok {
		return ports.Counterparty{}, false, nil
	}
	return ports.Counterparty{Address: address, Currencies: []money.Currency{person.Currency}, Facts: sandbox.Facts(address, wanted), WantedFields: sandbox.RequestedFields()}, true, nil
}

// Sender tells what is wanted about whoever pays.
func (c Counterparties) Sender(_ context.Context, address string, wanted []string) (ports.Counterparty, error) {
	return ports.Counterparty{Address: address, Facts: sandbox.Facts(address, wanted), WantedFields: sandbox.RequestedFields()}, nil
}

// Providers are the sandbox's own.
func (c Counterparties) Providers(context.Context) ([]ports.Provider, error) {
	provider := ports.Provider{Name: "Sandbox Provider", Domain: c.domain, Currencies: sandbox.PeopleCurrencies(), Allowed: true}
	for _, country := range corridor.Countries() {
		if country.Live && slices.ContainsFunc(country.Currencies, func(c money.Currency) bool { return slices.Contains(provider.Currencies, c) }) {
			provider.Regions = append(provider.Regions, country.Code)
		}
	}
	return []ports.Provider{provider}, nil
}
