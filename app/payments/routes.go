package payments

import (
	"context"
	"slices"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
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

// networks returns the chains on which the money of a quote that is funded just in time can be received.
func (s *Service) networks(r quote.Request) []corridor.Rail {
	if !r.Source.JustInTime() {
		return nil
	}
	return slices.DeleteFunc(corridor.Chains(r.Source.Currency), func(chain corridor.Rail) bool {
		return s.Rails.Carries(rail.Route{Platform: r.Platform, Rail: chain, Currency: r.Source.Currency}) != nil
	})
}

// parties reads the parties of payments. The accounts that are paid to have the rails that a connection carries.
func (s *Service) parties(ctx context.Context, tx Tx, keys []ports.PartyKey) ([]quote.Parties, error) {
	parties, err := tx.Parties(ctx, keys)
	for i := range parties {
		parties[i].ToExternal = s.payable(parties[i].ToExternal)
	}
	return parties, err
}

// payable returns an account with those of its rails that a connection carries, among which the fastest is chosen. An account
// that none carries stays as it is, and its payment is refused with its fastest rail.
func (s *Service) payable(a *account.External) *account.External {
	if a == nil {
		return nil
	}
	carried := slices.DeleteFunc(slices.Clone(a.Rails), func(r corridor.Rail) bool {
		return s.Rails.Carries(rail.Route{Platform: a.Platform, Rail: r, Currency: a.Currency, Country: a.Country()}) != nil
	})
	if len(carried) == 0 || len(carried) == len(a.Rails) {
		return a
	}
	narrowed := *a
	narrowed.Rails = carried
	return &narrowed
}

// checkTransfer checks a transfer of a customer, nil for the platform, against the settings of its platform and the connections.
func (s *Service) checkTransfer(ctx context.Context, t transaction.Transaction, of *customer.Customer, from, to *account.External) error {
	if err := s.Prices.CheckTransfer(t); err != nil {
		return err
	}
	if err := s.checkOwnership(ctx, t, of, to); err != nil {
		return err
	}
	return s.checkRoutes(t, from, to)
}

// checkOwnership returns EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED if a payment is too large for a wallet whose owner has not proven that it
// is theirs. What it is worth is kept with the payment.
func (s *Service) checkOwnership(ctx context.Context, t transaction.Transaction, of *customer.Customer, to *account.External) error {
	if to == nil || t.TravelRule == nil {
		return nil
	}
	region := ""
	if of != nil {
		region = of.Region
	}
	worth, err := s.OwnershipLimits.Worth(*to, region, t.Pricing.Received, s.convert(ctx))
	if err != nil {
		return err
	}
	t.TravelRule.Worth = worth
	return s.OwnershipLimits.Check(to.Status, region, worth)
}
