// Package enquiries answers what can be asked before money moves: who a receiver is
// and what they can be paid, which providers there are, and what it costs to take
// crypto out.
//
// Nothing it says is a promise of a price; a quote fixes one.
package receivers

import (
	"context"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
)

// TermsFunc is what a corridor costs a platform now, and the market's rate in it.
type TermsFunc func(ctx context.Context, p ident.Platform, from, to money.Currency, country string) (corridor.Terms, money.Rate, error)

// Config is what the use cases need.
type Config struct {
	Store          ports.Store
	Counterparties ports.CounterpartiesByEnvironment
	CurrentTerms   TermsFunc
	Clock          ports.Clock
	IDs            ports.IDs
}

// Service are the use cases.
type Service struct{ Config }

// New makes the use cases.
func New(c Config) *Service { return &Service{c} }

// counterpartiesFor are the people at other providers, for an environment that has some.
func (e *Service) counterpartiesFor(in platform.Environment) (ports.Counterparties, error) {
	others, connected := e.Counterparties[in]
	if !connected {
		return nil, fault.New(fault.NotImplemented, "No providers of other people are connected for %s platforms of this service yet.", in)
	}
	return others, nil
}
