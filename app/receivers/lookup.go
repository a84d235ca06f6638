package receivers

import (
	"context"
	"errors"
	"maps"
	"slices"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/lookup"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/price"
	"causeway/core/transaction"
	"causeway/core/uma"
	"causeway/ports"
)

// Sender is the customer who wants to pay, by address or by id: exactly one of them.
type Sender struct {
	UMA      string
	Customer ident.Customer
}

// LookupResult is what a receiver can be paid.
type LookupResult struct {
	lookup.Lookup
	Currencies []SupportedCurrency
}

// SupportedCurrency is a currency that a receiver takes. Rate is minor receiving units for one
// minor unit of the currency the sender pays in first, Min and Max are what can be
// received at once.
type SupportedCurrency struct {
	Currency money.Currency
	Rate     money.Rate
	Min, Max int64
}

// LookupUMAAddress asks about the person at a UMA address: one of the platform's own customers,
// or somebody elsewhere. Faults: INVALID_INPUT, USER_NOT_FOUND and what keeps a
// customer from paying, UMA_NOT_FOUND, SELF_PAYMENT, INVALID_RECEIVER,
// QUOTE_REQUEST_FAILED, NOT_IMPLEMENTED.
func (e *Service) LookupUMAAddress(ctx context.Context, who platform.Principal, address string, by Sender) (LookupResult, error) {
	if err := who.CheckPermission(platform.View); err != nil {
		return LookupResult{}, err
	}
	parsed, ok := uma.Parse(address)
	if !ok {
		return LookupResult{}, fault.New(fault.InvalidUMAAddress, "%.320q is no UMA address: it %s.", address, uma.Rule)
	}
	q, err := e.newLookupRequest(ctx, who, by)
	if err != nil {
		return LookupResult{}, err
	}
	if q.sender.UMAAddress == parsed {
		return LookupResult{}, fault.New(fault.SelfPayment, "%s is the sender's own address. Use a transfer or a quote between the customer's accounts.", parsed)
	}
	q.lookup.ReceiverUMA = parsed
	to, err := e.findReceiver(ctx, who, q, parsed)
	if err != nil {
		return LookupResult{}, err
	}
	return e.priceAndSave(ctx, q, "", to)
}

// LookupExternalAccount asks about an external account. Faults: INVALID_INPUT, USER_NOT_FOUND and
// what keeps a customer from paying, EXTERNAL_ACCOUNT_NOT_FOUND, INVALID_RECEIVER,
// QUOTE_REQUEST_FAILED.
func (e *Service) LookupExternalAccount(ctx context.Context, who platform.Principal, id ident.ExternalAccount, by Sender) (LookupResult, error) {
	if err := who.CheckPermission(platform.View); err != nil {
		return LookupResult{}, err
	}
	q, err := e.newLookupRequest(ctx, who, by)
	if err != nil {
		return LookupResult{}, err
	}
	to, err := e.Store.ExternalAccount(ctx, who.Platform, id)
	if err != nil {
		return LookupResult{}, err
	}
	if to.Status != account.Active {
		return LookupResult{}, fault.New(fault.InvalidReceiver, "The external account is %s; only an ACTIVE account receives money.", to.Status)
	}
	if !to.Customer.IsZero() && to.Customer != q.sender.ID {
		return LookupResult{}, fault.New(fault.InvalidReceiver, "The external account belongs to another customer; use one of the sender's, or the platform's own.")
	}
	q.lookup.External = id
	return e.priceAndSave(ctx, q, to.Country(), ports.Counterparty{Currencies: []money.Currency{to.Currency}})
}

// lookupRequest is who asks.
type lookupRequest struct {
	lookup   lookup.Lookup
	sender   customer.Customer
	platform platform.Platform
}

func (e *Service) newLookupRequest(ctx context.Context, who platform.Principal, by Sender) (lookupRequest, error) {
	q := lookupRequest{}
	if (by.UMA == "") == by.Customer.IsZero() {
		message := "give exactly one of senderUmaAddress and customerId: who wants to pay"
		return q, fault.Invalid(fault.Field{Field: "senderUmaAddress", Message: message}, fault.Field{Field: "customerId", Message: message})
	}
	var err error
	if q.sender, err = e.findSender(ctx, who.Platform, by); err != nil {
		return q, err
	}
	if err := q.sender.CheckReady(); err != nil {
		return q, err
	}
	if q.platform, err = e.Store.Platform(ctx, who.Platform); err != nil {
		return q, err
	}
	now := e.Clock.Now()
	q.lookup = lookup.Lookup{ID: ident.NewLookup(e.IDs.New, now), Platform: who.Platform, Customer: q.sender.ID,
		SenderUMA: q.sender.UMAAddress, CreatedAt: now, ExpiresAt: now.Add(lookup.Validity)}
	return q, nil
}

func (e *Service) findSender(ctx context.Context, p ident.Platform, by Sender) (customer.Customer, error) {
	if !by.Customer.IsZero() {
		return e.Store.Customer(ctx, p, by.Customer)
	}
	address, ok := uma.Parse(by.UMA)
	if !ok {
		return customer.Customer{}, fault.Invalid(fault.Field{Field: "senderUmaAddress", Message: uma.Rule, Constraint: map[string]any{"pattern": uma.Pattern}})
	}
	found, err := e.customerByUMA(ctx, p, address)
	if err == nil && found == nil {
		err = fault.New(fault.UserNotFound, "No customer of this platform has the address %s.", address)
	}
	if err != nil {
		return customer.Customer{}, err
	}
	return *found, nil
}

// customerByUMA finds a customer of the platform by address; nil for nobody.
func (e *Service) customerByUMA(ctx context.Context, p ident.Platform, address string) (*customer.Customer, error) {
	found, err := e.Store.Customers(ctx, p, ports.CustomerFilter{Paging: ports.Paging{Limit: 1}, UMAAddress: address})
	if err != nil || len(found.Items) == 0 {
		return nil, err
	}
	return &found.Items[0], nil
}

// findReceiver is somebody with what the platform asks for about them. Our own customers
// come first: their addresses are at the platform's domain.
func (e *Service) findReceiver(ctx context.Context, who platform.Principal, q lookupRequest, address string) (ports.Counterparty, error) {
	asked := fieldNames(requiredFields(q.platform.Currencies))
	own, err := e.customerByUMA(ctx, who.Platform, address)
	if err != nil {
		return ports.Counterparty{}, err
	}
	if own != nil {
		if own.CheckReady() != nil {
			return ports.Counterparty{}, fault.New(fault.InvalidReceiver, "%s belongs to a customer who cannot receive money yet.", address)
		}
		return asCounterparty(*own, q.platform, asked), nil
	}
	others, err := e.counterpartiesFor(who.Environment)
	if err != nil {
		return ports.Counterparty{}, err
	}
	found, there, err := others.Counterparty(ctx, address, asked)
	if err == nil && !there {
		err = fault.New(fault.UMANotFound, "Nobody has the address %s. Check it with the receiver.", address)
	}
	return found, err
}

// asCounterparty is a customer of the platform as those see them who pay: the currencies
// that reach them, and what the platform wants to know of whoever pays.
func asCounterparty(c customer.Customer, on platform.Platform, asked []string) ports.Counterparty {
	seen := ports.Counterparty{Address: c.UMAAddress, Facts: c.Facts()}
	maps.DeleteFunc(seen.Facts, func(name, _ string) bool { return !slices.Contains(asked, name) })
	var taken []platform.Currency
	for _, used := range on.Currencies {
		if !slices.Contains(used.Directions, string(transaction.Incoming)) || len(c.Currencies) > 0 && !slices.Contains(c.Currencies, used.Code) {
			continue
		}
		seen.Currencies, taken = append(seen.Currencies, used.Code), append(taken, used)
	}
	seen.WantedFields = requiredFields(taken)
	return seen
}

// requiredFields are the facts that a platform asks about the other side in any of the
// currencies; mandatory if they are so in one.
func requiredFields(currencies []platform.Currency) []transaction.InfoField {
	var wants []transaction.InfoField
	for _, used := range currencies {
		for _, field := range used.RequiredCounterpartyFields {
			want := transaction.InfoField(field)
			if i := slices.IndexFunc(wants, func(w transaction.InfoField) bool { return w.Name == want.Name }); i >= 0 {
				wants[i].Mandatory = wants[i].Mandatory || want.Mandatory
			} else {
				wants = append(wants, want)
			}
		}
	}
	return wants
}

func fieldNames(fields []transaction.InfoField) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// priceAndSave prices the currencies and keeps the lookup. Those that cannot be paid now are
// left out; it is an error when none can.
func (e *Service) priceAndSave(ctx context.Context, q lookupRequest, country string, to ports.Counterparty) (LookupResult, error) {
	q.lookup.Fields, q.lookup.Currencies, q.lookup.Facts = transaction.MissingFields(q.sender.Facts(), to.WantedFields), to.Currencies, to.Facts
	answer := LookupResult{Lookup: q.lookup}
	refused := error(fault.New(fault.InvalidReceiver, "The receiver takes no currency that the sender can pay."))
	for _, currency := range to.Currencies {
		preference, err := e.priceCurrency(ctx, q, country, currency)
		if _, isFault := fault.As(err); err != nil && !isFault {
			return LookupResult{}, err
		}
		if err != nil {
			refused = err
			continue
		}
		answer.Currencies = append(answer.Currencies, preference)
	}
	if len(answer.Currencies) == 0 {
		return LookupResult{}, refused
	}
	return answer, e.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error { return tx.CreateLookup(ctx, q.lookup) })
}

// priceCurrency prices a currency from the first one the sender can pay it with.
func (e *Service) priceCurrency(ctx context.Context, q lookupRequest, country string, to money.Currency) (SupportedCurrency, error) {
	refused := error(fault.New(fault.InvalidReceiver, "The sender has no currency that can be sent as %s.", to))
	for _, used := range q.platform.Currencies {
		if !slices.Contains(used.Directions, string(transaction.Outgoing)) || len(q.sender.Currencies) > 0 && !slices.Contains(q.sender.Currencies, used.Code) {
			continue
		}
		if used.Code == to { // nothing is exchanged, and nothing charged
			return SupportedCurrency{Currency: to, Rate: unitRate, Min: max(used.MinAmount, 1), Max: used.MaxAmount}, nil
		}
		terms, market, err := e.CurrentTerms(ctx, q.platform.ID, used.Code, to, country)
		if err == nil {
			var preference SupportedCurrency
			if preference, err = newSupportedCurrency(to, terms, market); err == nil {
				return preference, nil
			}
		}
		if _, isFault := fault.As(err); !isFault {
			return SupportedCurrency{}, err
		}
		refused = err
	}
	return SupportedCurrency{}, refused
}

var unitRate = money.MustRate("1")

func newSupportedCurrency(to money.Currency, terms corridor.Terms, market money.Rate) (SupportedCurrency, error) {
	minimum, maximum, err := price.ReceivingRange(terms.MinSending, terms.MaxSending, market, price.Fee{Fixed: terms.Fee.Fixed, Percent: terms.Fee.Percent})
	if errors.Is(err, price.ErrOutOfRange) {
		err = fault.New(fault.AmountOutOfRange, "No amount of %s can be received within the limits of this corridor.", to)
	}
	return SupportedCurrency{Currency: to, Rate: market, Min: minimum, Max: maximum}, err
}
