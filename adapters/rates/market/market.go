// Package market simulates a currency market for the sandbox.
//
// Prices depend on a seed and the time alone, so that all processes with the same seed have the
// same prices. They stay within about one percent of a reference price and change every five
// minutes.
package market

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"sync"
	"time"

	"causeway/core/fault"
	"causeway/core/money"
	"causeway/ports"
)

// Source names these rates.
const Source = "SIMULATED"

// Lifetime is how long a rate is valid before the price changes.
const Lifetime = 5 * time.Minute

// A price is interpolated between two hourly anchors within swingPPM of the reference price.
const (
	bucketsPerAnchor  = 12
	swingPPM          = 10_000
	significantDigits = 12
)

// Market is a simulated market.
type Market struct {
	seed string

	mu     sync.RWMutex
	bucket int64
	rates  map[pair]ports.MarketRate
}

type pair struct{ from, to money.Currency }

// New returns a market. Processes that share a database must use the same seed.
func New(seed string) *Market {
	return &Market{seed: seed, rates: map[pair]ports.MarketRate{}}
}

// Rate returns the price of from in to.
func (m *Market) Rate(_ context.Context, from, to money.Currency, now time.Time) (ports.MarketRate, error) {
	bucket := now.Unix() / int64(Lifetime/time.Second)
	m.mu.RLock()
	cached, ok := m.rates[pair{from, to}]
	ok = ok && m.bucket == bucket
	m.mu.RUnlock()
	if ok {
		return cached, nil
	}
	rate, err := m.computeRate(from, to, bucket)
	if err != nil {
		return ports.MarketRate{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bucket != bucket {
		m.bucket, m.rates = bucket, map[pair]ports.MarketRate{}
	}
	m.rates[pair{from, to}] = rate
	return rate, nil
}

func (m *Market) computeRate(from, to money.Currency, bucket int64) (ports.MarketRate, error) {
	sold, err := m.priceInUSD(from, bucket)
	if err != nil {
		return ports.MarketRate{}, err
	}
	bought, err := m.priceInUSD(to, bucket)
	if err != nil {
		return ports.MarketRate{}, err
	}
	major, err := sold.Div(bought)
	if err != nil {
		return ports.MarketRate{}, fmt.Errorf("market: %s in %s: %w", from, to, err)
	}
	rate, err := money.RateFromMajor(major.TruncateSignificant(significantDigits), from, to)
	if err != nil {
		return ports.MarketRate{}, fmt.Errorf("market: %s in %s: %w", from, to, err)
	}
	return ports.MarketRate{Rate: rate, At: time.Unix(bucket*int64(Lifetime/time.Second), 0).UTC(), Source: Source}, nil
}

// priceInUSD returns the price of one unit of a currency in US dollars.
func (m *Market) priceInUSD(c money.Currency, bucket int64) (money.Rate, error) {
	reference, ok := referencePrices[c]
	if !ok {
		return money.Rate{}, fault.New(fault.InvalidCurrency, "There is no market for %s.", c)
	}
	if pegged[c] {
		return reference, nil
	}
	// Linear interpolation between the anchors of two hours.
	hour, step := bucket/bucketsPerAnchor, bucket%bucketsPerAnchor
	left, right := m.anchor(c, hour), m.anchor(c, hour+1)
	swing := left + (right-left)*step/bucketsPerAnchor
	factor, err := money.ParseRate(strconv.FormatInt(1_000_000+swing, 10))
	if err != nil {
		return money.Rate{}, err
	}
	scaled, err := reference.Mul(factor)
	if err != nil {
		return money.Rate{}, err
	}
	return scaled.Mul(millionth)
}

// anchor returns the distance of a price from its reference in parts per million.
func (m *Market) anchor(c money.Currency, hour int64) int64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d", m.seed, c, hour))
	return int64(binary.BigEndian.Uint32(sum[:4])%(2*swingPPM+1)) - swingPPM
}
