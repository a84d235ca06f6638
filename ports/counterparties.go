package ports

import (
	"context"

	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/transaction"
)

// Counterparties knows people at other providers.
type Counterparties interface {
	// Counterparty finds a person by a UMA address in small letters, with those facts of
	// the wanted ones that their provider tells; false when nobody has it.
	Counterparty(ctx context.Context, address string, wanted []string) (Counterparty, bool, error)
	// Sender returns who pays from an address: those facts of the wanted ones that their
	// provider has, and which facts it wants about a receiver.
	Sender(ctx context.Context, address string, wanted []string) (Counterparty, error)
	// Providers returns the providers that can be reached, in the order of their domains.
	Providers(ctx context.Context) ([]Provider, error)
}

// Counterparty is a person at another provider.
type Counterparty struct {
	Address string
	// Currencies are those the person receives.
	Currencies []money.Currency
	// Facts are what is told about the person, by the names of the fields.
	Facts map[string]string
	// WantedFields are the facts that the person's provider wants about the other side.
	WantedFields []transaction.InfoField
}

// Provider is somebody at whom people have addresses.
type Provider struct {
	Name   string
	Domain string
	// Regions are ISO 3166-1 alpha-2 codes.
	Regions    []string
	Currencies []money.Currency
	LogoURL    string
	LEI        string
	// Allowed tells that payments to and from it are not blocked.
	Allowed bool
}

// CounterpartiesByEnvironment chooses by environment; where nothing is connected there is none.
type CounterpartiesByEnvironment map[platform.Environment]Counterparties
