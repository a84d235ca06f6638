package ports

import (
	"context"

	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/transaction"
)

// Counterparties is a directory of people at other providers, by UMA address. Its calls
// change nothing and may be repeated.
type Counterparties interface {
	// Counterparty returns the owner of a UMA address in lower case, with those of the
	// wanted facts that the provider discloses; false if the address does not exist.
	Counterparty(ctx context.Context, address string, wanted []string) (Counterparty, bool, error)
	// Sender returns the sender of a payment from an address, with those of the wanted
	// facts that the provider has, and the facts that the provider wants of the receiver.
	Sender(ctx context.Context, address string, wanted []string) (Counterparty, error)
	// Providers returns the reachable providers, ordered by domain.
	Providers(ctx context.Context) ([]Provider, error)
}

// Counterparty is a person at another provider.
type Counterparty struct {
	Address string
	// Currencies are the currencies that the person can receive.
	Currencies []money.Currency
	// Facts are the disclosed facts of the person, by field name.
	Facts map[string]string
	// WantedFields are the facts that the person's provider wants of the other party.
	WantedFields []transaction.InfoField
}

// Provider is a provider whose customers have UMA addresses.
type Provider struct {
	Name   string
	Domain string
	// Regions are ISO 3166-1 alpha-2 codes.
	Regions    []string
	Currencies []money.Currency
	LogoURL    string
	LEI        string
	// Allowed is false if payments to and from the provider are blocked.
	Allowed bool
}

// CounterpartiesByEnvironment holds the adapter of each environment; an environment without
// one has no counterparties.
type CounterpartiesByEnvironment map[platform.Environment]Counterparties
