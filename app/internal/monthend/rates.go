package monthend

import (
	"context"
	"time"

	"causeway/core/exchange"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/price"
)

// Rates are the kept rates of a time that moves on. They are read a day at a time.
type Rates struct {
	store      KeptRates
	functional money.Currency
	current    *exchange.Rates
	ahead      []price.KeptRates
	loadedTo   time.Time
}

// RatesFrom returns the rates that were the current ones at a time: the last kept before, or the first ones if
// none were. Fault: CONFLICT if none were ever kept.
func (r *Reader) RatesFrom(ctx context.Context, functional money.Currency, at time.Time) (*Rates, error) {
	kept, err := r.KeptRates.RatesAt(ctx, at)
	if err != nil {
		return nil, err
	}
	if kept.At.IsZero() {
		first, err := r.KeptRates.FirstRatesAt(ctx)
		if err != nil {
			return nil, err
		}
		if first.IsZero() {
			refused := fault.New(fault.Conflict, "No market rates are kept yet. The service keeps them every hour.")
			refused.Reason = "No market rate"
			return nil, refused
		}
		if kept, err = r.KeptRates.RatesAt(ctx, first); err != nil {
			return nil, err
		}
	}
	return &Rates{store: r.KeptRates, functional: functional, current: exchange.NewRates(kept, functional), loadedTo: at}, nil
}

// Current returns the rates of the time of the last call of At, or of RatesFrom.
func (k *Rates) Current() *exchange.Rates { return k.current }

// At returns the rates of a time, which is not before that of the last call.
func (k *Rates) At(ctx context.Context, moment time.Time) (*exchange.Rates, error) {
	for {
		for len(k.ahead) > 0 && !k.ahead[0].At.After(moment) {
			k.current, k.ahead = exchange.NewRates(k.ahead[0], k.functional), k.ahead[1:]
		}
		if len(k.ahead) > 0 || !moment.After(k.loadedTo) {
			return k.current, nil
		}
		upto := k.loadedTo.Add(24 * time.Hour)
		var err error
		if k.ahead, err = k.store.RatesBetween(ctx, k.loadedTo, upto); err != nil {
			return nil, err
		}
		k.loadedTo = upto
	}
}
