package payments

import (
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/transaction"
)

// checkRoutes returns NOT_IMPLEMENTED if no connection can collect the money of a payment, or pay it out; each account is
// nil if that end is none outside.
func (s *Service) checkRoutes(t transaction.Transaction, from, to *account.External) error {
	check := func(r corridor.Rail, currency money.Currency, a *account.External) error {
		if a == nil {
			return nil
		}
		return s.Rails.Carries(rail.Route{Platform: t.Platform, Rail: r, Currency: currency, Country: a.Country()})
	}
	if err := check(t.SourceRail, t.Pricing.Sent.Currency, from); err != nil {
		return err
	}
	return check(t.DestinationRail, t.Pricing.Received.Currency, to)
}

// checkTransfer checks a transfer against the settings of its platform and the connections.
func (s *Service) checkTransfer(t transaction.Transaction, from, to *account.External) error {
	if err := s.Prices.CheckTransfer(t); err != nil {
		return err
	}
	return s.checkRoutes(t, from, to)
}
