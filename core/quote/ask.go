package quote

import (
	"fmt"

	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/uma"
)

// Ask returns what the provider of a receiver that is paid by an invoice is asked for: the amount that the receiver is to get, or
// the satoshi that the sending amount buys after fees. Faults: INVALID_CURRENCY, AMOUNT_OUT_OF_RANGE.
func (r Request) Ask(p Parties, route Route, params MakeParams) (uma.Ask, error) {
	currency, _ := r.receiverCurrency(*p.Receiver)
	terms, offered := p.Receiver.UMA.Currency(currency)
	if !offered {
		return uma.Ask{}, fault.New(fault.InvalidCurrency, "The receiver's provider does not offer %s.", currency)
	}
	if r.Side == Receiving {
		if r.Amount < terms.Min || r.Amount > terms.Max {
			return uma.Ask{}, receiverOutOfRange(r.Amount, terms)
		}
		return uma.Ask{Currency: currency, Amount: r.Amount}, nil
	}
	pricing, err := r.price(params, route.Corridor.From, route.Corridor.To)
	if err != nil {
		return uma.Ask{}, err
	}
	if err := params.Terms.CheckAmount(pricing.Sent); err != nil {
		return uma.Ask{}, err
	}
	return uma.Ask{Currency: currency, Msats: pricing.Received.Minor * 1000}, nil
}

// receiverOutOfRange returns AMOUNT_OUT_OF_RANGE with the limits of the receiver's provider.
func receiverOutOfRange(amount int64, terms uma.Currency) error {
	return &fault.Error{Code: fault.AmountOutOfRange,
		Message: fmt.Sprintf("The receiver's provider takes from %s to %s. Change lockedCurrencyAmount.",
			money.Amount{Minor: terms.Min, Currency: terms.Code}, money.Amount{Minor: terms.Max, Currency: terms.Code}),
		Details: map[string]any{"currency": string(terms.Code), "amount": amount, "minAmount": terms.Min, "maxAmount": terms.Max}}
}
