package exchange

import (
	"fmt"
	"time"

	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/price"
)

// Rates are the market rates of one time to the functional currency.
type Rates struct {
	kept       price.KeptRates
	functional money.Currency
	crossed    map[money.Currency]price.KeptRate
}

// NewRates returns kept rates as rates to a functional currency.
func NewRates(kept price.KeptRates, functional money.Currency) *Rates {
	return &Rates{kept, functional, make(map[money.Currency]price.KeptRate, 8)}
}

// KeptAt returns the time at which the rates were the current ones.
func (r *Rates) KeptAt() time.Time { return r.kept.At }

// Rate returns the rate of a currency. Fault: CONFLICT if none was kept.
func (r *Rates) Rate(currency money.Currency) (price.KeptRate, error) {
	if rate, ok := r.crossed[currency]; ok {
		return rate, nil
	}
	rate, ok := r.kept.Rate(currency, r.functional)
	if !ok {
		refused := fault.New(fault.Conflict, "No market rate of %s to %s was kept at %s, so the position in %s has no value. Settle that "+
			"position, or close the month without a revaluation.",
			currency, r.functional, r.kept.At.UTC().Format(time.RFC3339), currency)
		refused.Reason = "No market rate"
		return rate, refused
	}
	r.crossed[currency] = rate
	return rate, nil
}

// Value returns the value of a quantity of a currency, rounded towards zero, as the report of the position
// rounds it. Faults and errors: those of Rate; money.ErrOverflow.
func (r *Rates) Value(currency money.Currency, quantity int64) (int64, error) {
	if currency == r.functional || quantity == 0 {
		return quantity, nil
	}
	rate, err := r.Rate(currency)
	if err != nil {
		return 0, err
	}
	value, err := ValueAt(rate.Rate, quantity)
	if err != nil {
		return 0, fmt.Errorf("value %d %s at %s: %w", quantity, currency, rate.Rate, err)
	}
	return value, nil
}

// exact returns the exact value of a quantity of a foreign currency. Fault: that of Rate.
func (r *Rates) exact(currency money.Currency, quantity int64) (money.Exact, error) {
	rate, err := r.Rate(currency)
	if err != nil {
		return money.Exact{}, err
	}
	return rate.Rate.Times(quantity), nil
}

// ValueAt returns the value of a quantity at a rate, rounded as by Rates.Value. Error: money.ErrOverflow.
func ValueAt(rate money.Rate, quantity int64) (int64, error) {
	if quantity == 0 {
		return 0, nil
	}
	size := quantity
	if size < 0 {
		size = -size // not the smallest int64: an overflow is an error below
	}
	value, err := rate.Floor(size)
	if err != nil || quantity > 0 {
		return value, err
	}
	return -value, nil
}
