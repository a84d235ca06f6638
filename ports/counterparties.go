package ports

import (
	"context"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/core/uma"
)

// Counterparties is a directory of people at other providers, by UMA address. Its calls
// move no money and may be repeated.
type Counterparties interface {
	// Counterparty returns the owner of a UMA address in lower case, with those of the
	// wanted facts that the provider discloses; false if the address does not exist.
	Counterparty(ctx context.Context, payer UMAPayer, address string, wanted []string) (Counterparty, bool, error)
	// RequestInvoice asks the provider of a counterparty with a UMA receiver for an invoice. Each call is a payment of its own
	// for that provider, of which at most one is paid. NOT_IMPLEMENTED if no invoices are asked for.
	RequestInvoice(ctx context.Context, request PayRequest) (PayAnswer, error)
	// ReportChannels reports to the callback of another provider which channels a payment has used.
	ReportChannels(ctx context.Context, on platform.Platform, callback string, channels []uma.ChannelUse) error
	// Sender returns the sender of a payment from an address, with those of the wanted
	// facts that the provider has, and the facts that the provider wants of the receiver.
	Sender(ctx context.Context, address string, wanted []string) (Counterparty, error)
	// Providers returns the providers that are reachable from a platform, ordered by domain.
	Providers(ctx context.Context, p ident.Platform) ([]Provider, error)
}

// UMAPayer is the customer of a platform who pays, by UMA address.
type UMAPayer struct {
	Platform platform.Platform
	Address  string
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
	// UMA is how the person is paid over Lightning; nil if an address is all that is needed.
	UMA *uma.Receiver
}

// PayRequest asks the provider of a receiver for an invoice.
type PayRequest struct {
	// Transaction is the payment that the request is for.
	Transaction ident.Transaction
	Payer       UMAPayer
	Receiver    string
	To          uma.Receiver
	Ask         uma.Ask
	// Invoice is the id of the UMA invoice that is paid; zero for none.
	Invoice uuid.UUID
	// Facts are the facts about the payer that are stated, and TravelRule what is only stated encrypted, by field name.
	Facts, TravelRule map[string]string
	// Wanted are the facts about the receiver that are asked for.
	Wanted []transaction.InfoField
}

// PayAnswer is the answer to a pay request, which was compared with it.
type PayAnswer struct {
	uma.Answer
	// Facts are the facts about the receiver, by field name.
	Facts map[string]string
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
