package quote

import (
	"time"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/core/uma"
)

// Incoming is a payment from a person at another UMA provider, which an invoice pays after the approval of the platform. Its quote
// holds the rate until the invoice expires.
type Incoming struct {
	Quote       ident.Quote
	Transaction ident.Transaction
	Sender      string
	Ask         uma.Ask
	Offer       uma.Offer
	Market      money.Rate
	Terms       corridor.Terms
	Approval    transaction.Approval
	// Facts are what the other provider states about the payer, and TravelRule what it has stated encrypted.
	Facts      map[string]string
	TravelRule string
	// Callback is the URL for the channels that are used.
	Callback string
	Now      time.Time
}

// Make returns the quote and the decision that creates its transaction; balance is that of the account. Faults: INVALID_RECEIVER,
// AMOUNT_OUT_OF_RANGE.
func (in Incoming) Make(p transaction.IncomingParties, balance int64) (Quote, transaction.Decision, error) {
	priced := in.Offer.Price
	d, err := p.UMAPayment(in.Transaction, in.Sender, priced.Receiving, balance, in.Approval, in.Facts, in.Now)
	if err != nil {
		return Quote{}, d, err
	}
	t := &d.Transaction
	t.Quote, t.ExpiresAt = in.Quote, in.Now.Add(in.Terms.Lock)
	in.Terms.PlatformFee = platform.Fee{} // what a platform charges is of payments that its customers send
	if t.Pricing, err = pricingOf(priced, in.Terms, money.BTC, p.To.Currency); err != nil {
		return Quote{}, d, err
	}
	t.Source.Currency = money.BTC
	t.SourceRail, t.SourceAccount = corridor.Lightning, corridor.Lightning.LedgerPath()
	t.UMA = &transaction.UMA{Multiplier: in.Offer.Multiplier, Fee: in.Offer.Fee, TravelRule: in.TravelRule, Callback: in.Callback}
	side, locked := Sending, priced.Sending
	if in.Ask.Amount != 0 {
		side, locked = Receiving, in.Ask.Amount
	}
	return Quote{ID: in.Quote, Platform: t.Platform, Transaction: t.ID, Customer: t.Customer, Source: t.Source, Destination: t.Destination,
		Side: side, LockedAmount: locked, Pricing: t.Pricing, Reference: t.Reference, CreatedAt: in.Now, ExpiresAt: t.ExpiresAt,
		Counterparty: t.Counterparty, UMA: t.UMA}, d, nil
}
