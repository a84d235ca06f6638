package payments

import (
	"context"
	"maps"

	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/rail"
	"causeway/core/screening"
	"causeway/core/transaction"
	"causeway/core/uma"
	"causeway/ports"
)

// Screening is the sanctions lists with which the names of people at other providers are compared; nil for none.
type Screening interface {
	Compared(ctx context.Context) (screening.Compared, error)
}

// requestInvoice asks the provider of the receiver of a quote for the invoice that pays it, at a price that the quote then has. It
// calls outside of any unit of work, and moves nothing: an invoice that is never paid expires.
func (s *Service) requestInvoice(ctx context.Context, c *quoteCommand) error {
	on, err := s.Store.Platform(ctx, c.request.Platform)
	if err != nil {
		return err
	}
	others, connected := s.Counterparties[on.Environment]
	if !connected {
		return errNotConnected(on.Environment)
	}
	if err := s.Rails.Carries(rail.Route{Platform: on.ID, Rail: corridor.Lightning, Currency: money.BTC}); err != nil {
		return err
	}
	parties, err := s.partiesOf(ctx, c)
	if err != nil {
		return err
	}
	route, err := c.request.Route(parties)
	if err != nil {
		return err
	}
	if parties.Customer == nil {
		return fault.New(fault.QuoteRequestFailed, "Only a customer, who has a UMA address, can pay a UMA address. Name it in source.customerId.")
	}
	if err := s.Prices.CheckEnabled(on.ID, route.Corridor.From, transaction.Outgoing); err != nil {
		return err
	}
	price, err := s.Prices.Of(ctx, on.ID, route.Corridor)
	if err != nil {
		return err
	}
	ask, err := c.request.Ask(parties, route, quote.MakeParams{Market: price.Rate.Rate, Terms: price.Terms, Now: s.Clock.Now()})
	if err != nil {
		return err
	}
	if err := s.screenCounterparty(ctx, c.receiver.Facts); err != nil {
		return err
	}
	payer, err := s.Store.Customer(ctx, on.ID, parties.Customer.ID)
	if err != nil {
		return err
	}
	answer, err := others.RequestInvoice(ctx, newPayRequest(on, payer, c, ask))
	if err != nil {
		return err
	}
	receiver := *c.receiver
	receiver.Facts = maps.Clone(receiver.Facts)
	if receiver.Facts == nil {
		receiver.Facts = map[string]string{}
	}
	maps.Copy(receiver.Facts, answer.Facts)
	if err := s.screenCounterparty(ctx, receiver.Facts); err != nil {
		return err
	}
	if missing := uma.MissingMandatory(receiver.Facts, uma.RequiredFields(on.Currencies)); len(missing) > 0 {
		return fault.New(fault.QuoteRequestFailed, "The receiver's provider does not state %v about the receiver, which your platform requires.",
			missing)
	}
	c.receiver, c.price, c.answer = &receiver, &price, &answer.Answer
	return nil
}

// newPayRequest returns the pay request of a quote. Facts about the payer are stated if the receiver's provider wants them; if it is
// subject to the travel rule, who the payer is is stated to it encrypted.
func newPayRequest(on platform.Platform, payer customer.Customer, c *quoteCommand, ask uma.Ask) ports.PayRequest {
	to, r := *c.receiver.UMA, c.request
	facts := payer.Facts()
	maps.Copy(facts, r.Payer)
	request := ports.PayRequest{Transaction: c.transaction.ID, Payer: ports.UMAPayer{Platform: on, Address: payer.UMAAddress},
		Receiver: r.Destination.UMA, To: to, Ask: ask, Invoice: c.umaInvoice.Invoice.ID,
		Facts: uma.FactsToState(facts, to.Wanted), Wanted: uma.RequiredFields(on.Currencies)}
	if to.TravelRule {
		request.TravelRule = facts
	}
	return request
}

// screenCounterparty returns INVALID_RECEIVER if a person at another provider resembles an entry of the sanctions lists.
func (s *Service) screenCounterparty(ctx context.Context, facts map[string]string) error {
	hit, err := s.resemblesListed(ctx, facts)
	if err == nil && hit {
		err = fault.New(fault.InvalidReceiver, "Payments with this person are not possible: the name resembles an entry of a sanctions list.")
	}
	return err
}

func (s *Service) resemblesListed(ctx context.Context, facts map[string]string) (bool, error) {
	if s.Screening == nil {
		return false, nil
	}
	compared, err := s.Screening.Compared(ctx)
	if err != nil {
		return false, err
	}
	subject, named := screening.CounterpartySubject(facts)
	return named && len(compared.Screen(subject)) > 0, nil
}
