package payments

import (
	"context"
	"errors"
	"slices"
	"time"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/price"
)

// CorridorRate is the present price of a corridor, and the receiving amount for a sending amount.
// Amounts are minor units; the receiving amount is zero if the sending amount does not cover the fees.
type CorridorRate struct {
	From, To           money.Currency
	Rail               corridor.Rail
	Sending, Receiving int64
	Minimum, Maximum   int64
	FixedFee, TotalFee int64
	Rate               money.Rate
	UpdatedAt          time.Time
}

// RatesRequest selects the corridors to price. An empty From selects the currencies of the platform,
// an empty To all live currencies.
type RatesRequest struct {
	From    money.Currency
	To      []money.Currency
	Sending int64
}

// Rates lists the present prices of corridors, which are those of quotes created now. A pair that was
// not requested explicitly and cannot be priced is left out.
func (s *Service) Rates(ctx context.Context, p ident.Platform, wanted RatesRequest) ([]CorridorRate, error) {
	if err := s.Prices.Refresh(ctx, p); err != nil {
		return nil, err
	}
	ways, err := s.corridors(ctx, p, wanted)
	if err != nil {
		return nil, err
	}
	rates := make([]CorridorRate, 0, len(ways))
	var refused error
	for _, way := range ways {
		price, err := s.Prices.Of(ctx, p, way)
		if fault.Is(err, fault.QuoteRequestFailed) && !wanted.hasExplicitPairs() {
			refused = err
			continue
		}
		if err != nil {
			return nil, err
		}
		rate, err := priceCorridor(way, price.Terms, price.Rate.Rate, wanted.Sending)
		if err != nil {
			return nil, err
		}
		rate.UpdatedAt = price.Rate.At
		rates = append(rates, rate)
	}
	if len(rates) == 0 && refused != nil {
		return nil, refused
	}
	return rates, nil
}

// hasExplicitPairs reports whether every pair was requested explicitly.
func (w RatesRequest) hasExplicitPairs() bool { return w.From != "" && len(w.To) > 0 }

// corridors returns the requested corridors, each once. An explicitly requested currency or pair
// without a corridor is an error of the caller; others are left out.
func (s *Service) corridors(ctx context.Context, p ident.Platform, wanted RatesRequest) ([]corridor.Corridor, error) {
	from, to := []money.Currency{wanted.From}, wanted.To
	if wanted.From == "" {
		platform, err := s.Store.Platform(ctx, p)
		if err != nil {
			return nil, err
		}
		from = nil
		for _, c := range platform.Currencies {
			from = append(from, c.Code)
		}
	}
	if len(to) == 0 {
		to = corridor.Currencies()
	}
	var ways []corridor.Corridor
	for i, t := range to {
		if slices.Contains(to[:i], t) {
			continue
		}
		var refused error
		before := len(ways)
		for _, f := range from {
			way, err := corridor.Find(f, t, "")
			if err == nil {
				ways = append(ways, way)
			} else if refused == nil {
				refused = err
			}
		}
		if refused != nil && len(ways) == before && len(wanted.To) > 0 {
			return nil, refused
		}
	}
	if len(ways) == 0 && wanted.From != "" {
		_, err := corridor.Find(wanted.From, to[0], "")
		return nil, err
	}
	slices.SortStableFunc(ways, func(a, b corridor.Corridor) int { return slices.Index(from, a.From) - slices.Index(from, b.From) })
	return ways, nil
}

func priceCorridor(way corridor.Corridor, terms corridor.Terms, market money.Rate, sending int64) (CorridorRate, error) {
	rate := CorridorRate{From: way.From, To: way.To, Rail: way.Rail, Sending: sending, Minimum: terms.MinSending, Maximum: terms.MaxSending,
		Rate: market}
	_, fees, err := terms.Fees()
	if err != nil {
		return rate, err
	}
	rate.FixedFee = fees.Fixed
	if sending == 0 {
		return rate, nil
	}
	priced, err := price.Sending(sending, market, fees)
	switch {
	case errors.Is(err, price.ErrTooLarge):
		return rate, fault.Invalid(fault.Field{Field: "sendingAmount", Message: "must be at most 9000000000000000"})
	case errors.Is(err, price.ErrOutOfRange):
		return rate, nil
	case err != nil:
		return rate, err
	}
	rate.Receiving, rate.TotalFee = priced.Receiving, priced.Fees
	if rail, err := corridor.Choose(way.Rails, way.To, priced.Receiving); err == nil {
		rate.Rail = rail // otherwise no rail carries that amount, and a quote is refused
	}
	return rate, nil
}
