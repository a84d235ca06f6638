package payments

import (
	"context"
	"time"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/ports"
)

// fundingInvoice is the invoice that funds a quote, or why there is none though a node makes them; neither if no node does.
type fundingInvoice struct {
	ports.Invoice
	amount money.Amount
	err    error
}

// fundingMargin is how long before its quote a funding invoice expires at least, so that what pays it at the last moment is in time.
const fundingMargin = 5 * time.Second

// requestFunding has the node of the platform make the invoice over which a quote can be funded, at a price that the quote then has. It
// asks outside of any unit of work, before there is a quote: an invoice whose quote is not created is given to nobody, so nobody pays it.
// Whatever else is wrong with the request is found again, and answered, when the quote is created.
func (s *Service) requestFunding(ctx context.Context, c *quoteCommand) {
	source := c.request.Source
	if s.Lightning == nil || !source.JustInTime() || source.Currency != money.BTC ||
		source.Network != "" && corridor.RailNamed(source.Network) != corridor.Lightning {
		return
	}
	node, err := s.Lightning.LightningFor(ctx, c.request.Platform)
	if err == nil {
		c.funding.Invoice, err = s.makeFunding(ctx, c, node)
	} else if fault.Is(err, fault.NotImplemented) {
		return // it may be paid in otherwise
	}
	c.funding.err = err
}

func (s *Service) makeFunding(ctx context.Context, c *quoteCommand, node ports.Lightning) (ports.Invoice, error) {
	parties, err := s.partiesOf(ctx, c)
	if err != nil {
		return ports.Invoice{}, err
	}
	planned, _, price, err := s.priceQuote(ctx, c, parties, s.Clock.Now())
	if err != nil {
		return ports.Invoice{}, err
	}
	c.price, c.funding.amount = &price, planned.Pricing.Sent
	return node.Invoice(ctx, ports.InvoiceRequest{ID: c.transaction.ID.UUID(), Reference: planned.Reference, Amount: planned.Pricing.Sent,
		ExpiresAt: planned.ExpiresAt.Add(-fundingMargin)})
}

// instructions returns the ways to pay for a quote that is funded just in time.
func (s *Service) instructions(c *quoteCommand, q quote.Quote) ([]account.Instruction, error) {
	rail, err := s.Rails.RailFor(q.Platform)
	if err != nil {
		return nil, err
	}
	ways, err := rail.Instructions(q.Platform, q.Reference, q.Pricing.Sent.Currency, q.Source.Network)
	switch {
	case c.funding.Request != "" && c.funding.amount != q.Pricing.Sent: // a setting was changed meanwhile
		return nil, fault.New(fault.ServiceUnavailable, "The price has changed meanwhile. Request the quote again.")
	case c.funding.Request != "" && (err == nil || fault.Is(err, fault.NotImplemented) || fault.Is(err, fault.ServiceUnavailable)):
		return append([]account.Instruction{account.PayInvoice(c.funding.Request)}, ways...), nil
	case c.funding.err != nil && len(ways) == 0:
		return nil, c.funding.err
	}
	return ways, err
}
