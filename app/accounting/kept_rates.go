package accounting

import (
	"context"
	"time"

	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/price"
)

const (
	// keepInterval is how often rates are kept.
	keepInterval = time.Hour
	// maxCurrentAge is how old kept rates may be to value a present position.
	maxCurrentAge = 5 * time.Minute
)

// KeepRates keeps the present market rates if the last ones are an hour old. It is called every minute
// by every process.
func (s *Service) KeepRates(ctx context.Context) error {
	_, err := s.ratesNow(ctx, s.Clock.Now(), keepInterval)
	return err
}

// ratesNow returns the last kept rates, or keeps the present ones if these are older than maxAge.
func (s *Service) ratesNow(ctx context.Context, now time.Time, maxAge time.Duration) (price.KeptRates, error) {
	now = now.Truncate(time.Microsecond) // as times are stored
	kept, err := s.KeptRates.RatesAt(ctx, now)
	if err != nil || !kept.At.IsZero() && now.Sub(kept.At) < maxAge {
		return kept, err
	}
	kept = price.KeptRates{At: now, InUSD: map[money.Currency]price.KeptRate{}}
	for _, currency := range money.Currencies() {
		market, err := s.Market.Rate(ctx, currency, money.USD, now)
		if _, refused := fault.As(err); refused {
			continue // there is no rate
		}
		if err != nil {
			return price.KeptRates{}, err
		}
		kept.InUSD[currency] = price.KeptRate(market)
	}
	if len(kept.InUSD) == 0 {
		return kept, nil // the market has no rates at present
	}
	return kept, s.KeptRates.KeepRates(ctx, kept)
}
