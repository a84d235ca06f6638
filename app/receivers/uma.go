package receivers

import (
	"context"
	"errors"
	"slices"
	"strings"

	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/price"
	"causeway/core/transaction"
	"causeway/core/uma"
)

// UMAReceiver is a customer as a receiver of payments from other UMA providers.
type UMAReceiver struct {
	// Address is the UMA address in lower case.
	Address string
	// Currencies are what the customer receives, at the present rates, and what a payer must state.
	Currencies []uma.Currency
	Wanted     []transaction.InfoField
	// MinSats and MaxSats limit one payment in any of the currencies.
	MinSats, MaxSats int64
}

// UMAReceiver returns the customer of a platform with a UMA address. The error is a uma.Refusal, or a fault.
func (s *Service) UMAReceiver(ctx context.Context, on platform.Platform, address string) (UMAReceiver, error) {
	receiver := UMAReceiver{}
	var accepted []platform.Currency
	err := s.eachReceived(ctx, on, address, func(settings platform.Currency, terms uma.Currency, minSats, maxSats int64) {
		receiver.Currencies, accepted = append(receiver.Currencies, terms), append(accepted, settings)
		if receiver.MinSats == 0 || minSats < receiver.MinSats {
			receiver.MinSats = minSats
		}
		receiver.MaxSats = max(receiver.MaxSats, maxSats)
	})
	receiver.Address, receiver.Wanted = strings.ToLower(address), uma.RequiredFields(accepted)
	return receiver, receiver.found(err)
}

// found returns err, or a uma.Refusal if the receiver can be paid in no currency.
func (r UMAReceiver) found(err error) error {
	if err == nil && len(r.Currencies) == 0 {
		err = noReceiver()
	}
	return err
}

func noReceiver() error { return uma.Refuse(uma.UserNotFound, "there is no such receiver") }

// LightningReceiver returns the customer of a platform as a receiver of payments of wallets, which state nothing about their owners: in
// bitcoin if the customer receives it, else in the first currency for which nothing about the payer is required. The error is a
// uma.Refusal, also if there is no such currency, or the platform takes no such payments, or a fault.
func (s *Service) LightningReceiver(ctx context.Context, on platform.Platform, address string) (UMAReceiver, error) {
	receiver := UMAReceiver{Address: strings.ToLower(address)}
	if !on.LightningAddresses {
		return receiver, noReceiver()
	}
	err := s.eachReceived(ctx, on, address, func(settings platform.Currency, terms uma.Currency, minSats, maxSats int64) {
		required := slices.ContainsFunc(settings.RequiredCounterpartyFields, func(f platform.CounterpartyField) bool { return f.Mandatory })
		if !required && (receiver.Currencies == nil || terms.Code == money.BTC) {
			receiver.Currencies, receiver.MinSats, receiver.MaxSats = []uma.Currency{terms}, minSats, maxSats
		}
	})
	return receiver, receiver.found(err)
}

// eachReceived calls each with the currencies in which the customer with an address can be paid now.
func (s *Service) eachReceived(ctx context.Context, on platform.Platform, address string,
	each func(settings platform.Currency, terms uma.Currency, minSats, maxSats int64)) error {
	parsed, ok := customer.ParseUMAAddress(address)
	if !ok {
		return noReceiver()
	}
	to, err := s.customerByUMA(ctx, on.ID, parsed)
	if err != nil {
		return err
	}
	if to == nil || to.CheckReady() != nil {
		return noReceiver()
	}
	if err := s.Prices.Refresh(ctx, on.ID); err != nil {
		return err
	}
	for _, settings := range on.Currencies {
		if !isEnabled(settings, transaction.Incoming, *to) {
			continue
		}
		terms, minSats, maxSats, err := s.receivingTerms(ctx, on, settings)
		if _, isFault := fault.As(err); isFault || errors.Is(err, price.ErrOutOfRange) {
			continue // it cannot be paid now
		}
		if err != nil {
			return err
		}
		each(settings, terms, minSats, maxSats)
	}
	return nil
}

// receivingTerms returns the terms of payments in bitcoin to a currency of the platform, and their limits in satoshi.
func (s *Service) receivingTerms(ctx context.Context, on platform.Platform, settings platform.Currency) (
	terms uma.Currency, minSats, maxSats int64, err error) {
	pair, err := corridor.OfUMA(money.BTC, settings.Code)
	if err != nil {
		return terms, 0, 0, err
	}
	priced, err := s.Prices.Of(ctx, on.ID, pair)
	if err != nil {
		return terms, 0, 0, err
	}
	fee := price.Fee{Fixed: priced.Terms.Fee.Fixed, Percent: priced.Terms.Fee.Percent}
	minimum, maximum, err := price.ReceivingRange(priced.Terms.MinSending, priced.Terms.MaxSending, priced.Rate.Rate, fee)
	if err != nil {
		return terms, 0, 0, err
	}
	terms = uma.Currency{Code: settings.Code, Decimals: settings.Code.Decimals(), Min: max(minimum, settings.MinAmount, 1),
		Max: min(maximum, settings.MaxAmount)}
	if terms.Multiplier, err = uma.Multiplier(priced.Rate.Rate); err != nil || terms.Max < terms.Min {
		return terms, 0, 0, price.ErrOutOfRange
	}
	lowest, err := price.Receiving(terms.Min, priced.Rate.Rate, fee)
	if err != nil {
		return terms, 0, 0, err
	}
	highest, err := price.Receiving(terms.Max, priced.Rate.Rate, fee)
	return terms, lowest.Sending, highest.Sending, err
}

// priceInvoiced prices a currency of a receiver that is paid by an invoice: what the sender pays buys bitcoin, which the receiver's
// provider converts at its multiplier.
func (s *Service) priceInvoiced(ctx context.Context, request lookupRequest, from, to money.Currency) (SupportedCurrency, error) {
	terms, offered := request.lookup.UMA.Currency(to)
	pair, err := corridor.OfUMA(from, money.BTC)
	if err != nil || !offered {
		return SupportedCurrency{}, fault.New(fault.InvalidReceiver, "The receiver cannot be paid in %s.", to)
	}
	priced, err := s.Prices.Of(ctx, request.platform.ID, pair)
	if err != nil {
		return SupportedCurrency{}, err
	}
	fee := price.Fee{Fixed: priced.Terms.Fee.Fixed, Percent: priced.Terms.Fee.Percent}
	outOfRange := fault.New(fault.AmountOutOfRange, "No amount of %s can be received within the limits of both providers.", to)
	lowest, highest, err := price.ReceivingRange(priced.Terms.MinSending, priced.Terms.MaxSending, priced.Rate.Rate, fee)
	if err != nil {
		return SupportedCurrency{}, outOfRange
	}
	supported := SupportedCurrency{Currency: to}
	if supported.Min, supported.Max, err = terms.Range(lowest, highest); err != nil {
		return SupportedCurrency{}, outOfRange
	}
	if supported.Rate, err = terms.Rate(priced.Rate.Rate); err != nil {
		return SupportedCurrency{}, outOfRange
	}
	return supported, nil
}
