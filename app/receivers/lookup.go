package receivers

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/price"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/core/uma"
	"causeway/ports"
)

// Sender is the customer who wants to pay, by UMA address or by id: exactly one of them.
type Sender struct {
	UMA      string
	Customer ident.Customer
}

// LookupResult is a stored lookup and the currencies that the receiver can be paid in now.
type LookupResult struct {
	quote.Lookup
	Currencies []SupportedCurrency
	// Invoice is the UMA invoice that was looked up; nil for none.
	Invoice *uma.KeptInvoice
}

// SupportedCurrency is a currency that a receiver can be paid in. Rate is receiving minor units
// for one minor unit of the first currency that the sender can pay with. Min and Max limit one
// payment, in receiving minor units.
type SupportedCurrency struct {
	Currency money.Currency
	Rate     money.Rate
	Min, Max int64
}

// LookupUMAAddress looks up the person at a UMA address: a customer of the platform, or a person
// at another provider; or what a UMA invoice asks for. Faults: CONFLICT, INVALID_INPUT, INVALID_UMA_ADDRESS, USER_NOT_FOUND,
// USER_NOT_READY, CUSTOMER_DELETED, UMA_NOT_FOUND, SELF_PAYMENT, INVALID_RECEIVER,
// QUOTE_REQUEST_FAILED, NOT_IMPLEMENTED.
func (s *Service) LookupUMAAddress(ctx context.Context, p ident.Platform, address string, by Sender) (LookupResult, error) {
	if strings.HasPrefix(strings.ToLower(address), uma.InvoicePrefix) {
		return s.lookupInvoice(ctx, p, address, by)
	}
	parsed, ok := customer.ParseUMAAddress(address)
	if !ok {
		return LookupResult{}, fault.New(fault.InvalidUMAAddress, "%.320q is not a UMA address: it %s.", address, customer.UMAAddressRule)
	}
	request, err := s.newLookupRequest(ctx, p, by)
	if err != nil {
		return LookupResult{}, err
	}
	if request.sender.UMAAddress == parsed {
		return LookupResult{}, fault.New(fault.SelfPayment, "%s is the sender's own address. Use a transfer or a quote between the customer's "+
			"accounts.", parsed)
	}
	request.lookup.ReceiverUMA = parsed
	receiver, err := s.findReceiver(ctx, request, parsed)
	if err != nil {
		return LookupResult{}, err
	}
	return s.priceAndSave(ctx, request, "", receiver)
}

// LookupExternalAccount looks up an external account. Faults: INVALID_INPUT, USER_NOT_FOUND,
// USER_NOT_READY, CUSTOMER_DELETED, EXTERNAL_ACCOUNT_NOT_FOUND, INVALID_RECEIVER,
// QUOTE_REQUEST_FAILED.
func (s *Service) LookupExternalAccount(ctx context.Context, p ident.Platform, id ident.ExternalAccount, by Sender) (LookupResult, error) {
	request, err := s.newLookupRequest(ctx, p, by)
	if err != nil {
		return LookupResult{}, err
	}
	receiver, err := s.Store.ExternalAccount(ctx, p, id)
	if err != nil {
		return LookupResult{}, err
	}
	if !receiver.Status.Payable() {
		return LookupResult{}, fault.New(fault.InvalidReceiver, "The external account is %s; only an ACTIVE account receives money.",
			receiver.Status)
	}
	if !receiver.Customer.IsZero() && receiver.Customer != request.sender.ID {
		return LookupResult{}, fault.New(fault.InvalidReceiver, "The external account belongs to another customer; use one of the sender's, or "+
			"the platform's own.")
	}
	request.lookup.External = id
	return s.priceAndSave(ctx, request, receiver.Country(), ports.Counterparty{Currencies: []money.Currency{receiver.Currency}})
}

// lookupRequest is a lookup in preparation, with its sender and platform.
type lookupRequest struct {
	lookup   quote.Lookup
	sender   customer.Customer
	platform platform.Platform
	// invoice is stored with the lookup; nil for none.
	invoice *uma.KeptInvoice
}

func (s *Service) newLookupRequest(ctx context.Context, p ident.Platform, by Sender) (lookupRequest, error) {
	request := lookupRequest{}
	if (by.UMA == "") == by.Customer.IsZero() {
		message := "give exactly one of senderUmaAddress and customerId"
		return request, fault.Invalid(fault.Field{Field: "senderUmaAddress", Message: message},
			fault.Field{Field: "customerId", Message: message})
	}
	var err error
	if request.sender, err = s.findSender(ctx, p, by); err != nil {
		return request, err
	}
	if err := request.sender.CheckReady(); err != nil {
		return request, err
	}
	if request.platform, err = s.Store.Platform(ctx, p); err != nil {
		return request, err
	}
	now := s.Clock.Now()
	request.lookup = quote.Lookup{ID: ident.NewLookup(s.IDs.New, now), Platform: p, Customer: request.sender.ID,
		SenderUMA: request.sender.UMAAddress, CreatedAt: now, ExpiresAt: now.Add(quote.LookupValidity)}
	return request, nil
}

func (s *Service) findSender(ctx context.Context, p ident.Platform, by Sender) (customer.Customer, error) {
	if !by.Customer.IsZero() {
		return s.Store.Customer(ctx, p, by.Customer)
	}
	address, ok := customer.ParseUMAAddress(by.UMA)
	if !ok {
		return customer.Customer{}, fault.Invalid(fault.Field{Field: "senderUmaAddress", Message: customer.UMAAddressRule,
			Constraint: map[string]any{"pattern": customer.UMAAddressPattern}})
	}
	found, err := s.customerByUMA(ctx, p, address)
	if err == nil && found == nil {
		err = fault.New(fault.UserNotFound, "No customer of this platform has the address %s.", address)
	}
	if err != nil {
		return customer.Customer{}, err
	}
	return *found, nil
}

// customerByUMA returns the customer of the platform with a UMA address, or nil if there is none.
func (s *Service) customerByUMA(ctx context.Context, p ident.Platform, address string) (*customer.Customer, error) {
	found, err := s.Store.Customers(ctx, p, ports.CustomerFilter{Paging: ports.Paging{Limit: 1}, UMAAddress: address})
	if err != nil || len(found.Items) == 0 {
		return nil, err
	}
	return &found.Items[0], nil
}

// findReceiver returns the person at an address, with the facts that the platform requires. It
// looks among the platform's own customers first, whose addresses are at the platform's domain.
func (s *Service) findReceiver(ctx context.Context, request lookupRequest, address string) (ports.Counterparty, error) {
	fields := fieldNames(uma.RequiredFields(request.platform.Currencies))
	own, err := s.customerByUMA(ctx, request.platform.ID, address)
	if err != nil {
		return ports.Counterparty{}, err
	}
	if own != nil {
		if own.CheckReady() != nil {
			return ports.Counterparty{}, fault.New(fault.InvalidReceiver, "%s belongs to a customer who cannot receive money yet.", address)
		}
		return asCounterparty(*own, request.platform, fields), nil
	}
	directory, err := s.counterparties(request.platform.Environment)
	if err != nil {
		return ports.Counterparty{}, err
	}
	payer := ports.UMAPayer{Platform: request.platform, Address: request.sender.UMAAddress}
	found, exists, err := directory.Counterparty(ctx, payer, address, fields)
	if err == nil && !exists {
		err = fault.New(fault.UMANotFound, "No receiver has the UMA address %s. Check it with the receiver.", address)
	}
	return found, err
}

// asCounterparty returns a customer of the platform as another provider would present one: the
// currencies that the customer can be paid in, and the fields required of the payer.
func asCounterparty(c customer.Customer, p platform.Platform, fields []string) ports.Counterparty {
	counterparty := ports.Counterparty{Address: c.UMAAddress, Facts: c.Facts()}
	maps.DeleteFunc(counterparty.Facts, func(name, _ string) bool { return !slices.Contains(fields, name) })
	var accepted []platform.Currency
	for _, currency := range p.Currencies {
		if isEnabled(currency, transaction.Incoming, c) {
			counterparty.Currencies, accepted = append(counterparty.Currencies, currency.Code), append(accepted, currency)
		}
	}
	counterparty.WantedFields = uma.RequiredFields(accepted)
	return counterparty
}

// isEnabled reports whether a currency of the platform is enabled in a direction, for a customer
// who is not restricted to other currencies.
func isEnabled(currency platform.Currency, direction transaction.Type, c customer.Customer) bool {
	return slices.Contains(currency.Directions, string(direction)) && (len(c.Currencies) == 0 || slices.Contains(c.Currencies, currency.Code))
}

func fieldNames(fields []transaction.InfoField) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// priceAndSave prices the receiver's currencies and stores the lookup. It leaves out currencies
// that cannot be paid now, and fails if none can.
func (s *Service) priceAndSave(ctx context.Context, request lookupRequest, country string,
	receiver ports.Counterparty) (LookupResult, error) {
	if err := s.Prices.Refresh(ctx, request.lookup.Platform); err != nil {
		return LookupResult{}, err
	}
	request.lookup.Fields = transaction.MissingFields(request.sender.Facts(), receiver.WantedFields)
	request.lookup.Currencies, request.lookup.Facts, request.lookup.UMA = receiver.Currencies, receiver.Facts, receiver.UMA
	result := LookupResult{Lookup: request.lookup, Invoice: request.invoice}
	lastFault := error(fault.New(fault.InvalidReceiver, "The receiver accepts no currency that the sender can pay."))
	for _, currency := range receiver.Currencies {
		supported, err := s.priceCurrency(ctx, request, country, currency)
		if _, isFault := fault.As(err); err != nil && !isFault {
			return LookupResult{}, err
		}
		if i := request.invoice; err == nil && i != nil {
			if i.Amount < supported.Min || i.Amount > supported.Max {
				err = fault.New(fault.AmountOutOfRange, "The UMA invoice is for %d; from %d to %d can be paid.", i.Amount, supported.Min, supported.Max)
			}
			supported.Min, supported.Max = i.Amount, i.Amount
		}
		if err != nil {
			lastFault = err
			continue
		}
		result.Currencies = append(result.Currencies, supported)
	}
	if len(result.Currencies) == 0 {
		return LookupResult{}, lastFault
	}
	err := ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) (err error) {
		if request.invoice != nil {
			if request.lookup.Invoice, err = tx.AddUMAInvoice(ctx, *request.invoice); err != nil {
				return err
			}
		}
		return tx.CreateLookup(ctx, request.lookup)
	})
	result.Lookup = request.lookup
	return result, err
}

// priceCurrency prices a receiving currency from the first currency that the sender can pay it
// with.
func (s *Service) priceCurrency(ctx context.Context, request lookupRequest, country string, to money.Currency) (SupportedCurrency, error) {
	lastFault := error(fault.New(fault.InvalidReceiver, "The sender has no currency that can be sent as %s.", to))
	for _, currency := range request.platform.Currencies {
		if !isEnabled(currency, transaction.Outgoing, request.sender) {
			continue
		}
		supported, err := s.pricePair(ctx, request, currency.Code, to, country)
		if err == nil {
			return supported, nil
		}
		if _, isFault := fault.As(err); !isFault {
			return SupportedCurrency{}, err
		}
		lastFault = err
	}
	return SupportedCurrency{}, lastFault
}

func (s *Service) pricePair(ctx context.Context, request lookupRequest, from, to money.Currency,
	country string) (SupportedCurrency, error) {
	if request.lookup.UMA != nil {
		return s.priceInvoiced(ctx, request, from, to)
	}
	pair, err := corridor.Find(from, to, country)
	switch {
	case from == to && request.lookup.ReceiverUMA != "":
		pair, err = corridor.SameCurrency(from)
	case from == to: // a quote that is funded just in time
		pair, err = corridor.Within(from, country)
	}
	if err != nil {
		return SupportedCurrency{}, err
	}
	priced, err := s.Prices.Of(ctx, request.platform.ID, pair)
	if err != nil {
		return SupportedCurrency{}, err
	}
	_, fees, err := priced.Terms.Fees()
	if err != nil {
		return SupportedCurrency{}, err
	}
	minimum, maximum, err := price.ReceivingRange(priced.Terms.MinSending, priced.Terms.MaxSending, priced.Rate.Rate, fees)
	if errors.Is(err, price.ErrOutOfRange) {
		err = fault.New(fault.AmountOutOfRange, "No amount of %s can be received within the limits of this corridor.", to)
	}
	return SupportedCurrency{Currency: to, Rate: priced.Rate.Rate, Min: minimum, Max: maximum}, err
}
