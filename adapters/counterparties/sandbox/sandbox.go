// Package sandbox simulates people at other UMA providers for sandbox platforms: the five test
// addresses as receivers, and any address as a sender.
//
// It keeps no state and makes no requests.
package sandbox

import (
	"context"
	"slices"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/sandbox"
	"causeway/core/uma"
	"causeway/ports"
)

// DefaultDomain is the default domain of the test addresses.
const DefaultDomain = "sandbox.uma.test"

// Counterparties implements ports.Counterparties for sandbox platforms.
type Counterparties struct{ domain string }

var _ ports.Counterparties = Counterparties{}

// New returns the test addresses at a domain.
func New(domain string) Counterparties { return Counterparties{domain} }

// Counterparty returns the person at a test address. It reports false for other addresses.
func (c Counterparties) Counterparty(_ context.Context, _ ports.UMAPayer, address string, wanted []string) (ports.Counterparty,
	bool, error) {
	person, ok := sandbox.FindPerson(address, c.domain)
	if !ok {
		return ports.Counterparty{}, false, nil
	}
	return ports.Counterparty{Address: address, Currencies: []money.Currency{person.Currency}, Facts: sandbox.Facts(address, wanted),
		WantedFields: sandbox.RequestedFields()}, true, nil
}

// ReportChannels implements ports.Counterparties. Payments of a sandbox use no channels.
func (c Counterparties) ReportChannels(context.Context, platform.Platform, string, []uma.ChannelUse) error {
	return nil
}

// Sender returns the requested facts about the sender at any address.
func (c Counterparties) Sender(_ context.Context, address string, wanted []string) (ports.Counterparty, error) {
	return ports.Counterparty{Address: address, Facts: sandbox.Facts(address, wanted), WantedFields: sandbox.RequestedFields()}, nil
}

// RequestInvoice implements ports.Counterparties: the rail of the sandbox pays addresses.
func (c Counterparties) RequestInvoice(context.Context, ports.PayRequest) (ports.PayAnswer, error) {
	return ports.PayAnswer{}, fault.New(fault.NotImplemented, "The sandbox pays UMA addresses without invoices.")
}

// Providers returns the one sandbox provider, with the countries of its currencies.
func (c Counterparties) Providers(context.Context, ident.Platform) ([]ports.Provider, error) {
	provider := ports.Provider{Name: "Sandbox Provider", Domain: c.domain, Currencies: sandbox.PeopleCurrencies(), Allowed: true}
	for _, country := range corridor.Countries() {
		if country.Live && slices.ContainsFunc(country.Currencies,
			func(c money.Currency) bool { return slices.Contains(provider.Currencies, c) }) {
			provider.Regions = append(provider.Regions, country.Code)
		}
	}
	return []ports.Provider{provider}, nil
}
