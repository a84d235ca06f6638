// Package market is the sandbox's exchange: a seeded market that moves by itself.
//
// Every process with the same seed sees the same price at the same time, without
// talking to anybody. Prices move within about one percent of a reference price
// and are remade every five minutes, the lifetime of a rate in the cache.
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

// Lifetime is how long a rate stands before the market moves.
const Lifetime = 5 * time.Minute

// A price lies between two anchors, one an hour; significant digits of a rate.
const (
	bucketsPerAnchor  = 12
	swingPPM          = 10_000
	significantDigits = 12
)

// Market is the sandbox exchange.
type Market struct {
	seed string

	mu     sync.RWMutex
	bucket int64
	rates  map[pair]ports.MarketRate
}

type pair struct{ from, to money.Currency }

// New makes a market. Processes that share a database share a seed.
func New(seed string) *Market {
	return &Market{seed: seed, rates: map[pair]ports.MarketRate{}}
}

// Rate is the market's price of from in to.
func (m *Market) Rate(_ context.Context, from, to money.Currency, now time.Time) (ports.MarketRate, error) {
	bucket := now.Unix() / int64(Lifetime/time.Second)
	m.mu.RLock()
	known, ok := m.rates[pair{from, to}]
	ok = ok && m.bucket == bucket
	m.mu.RUnlock()
	if ok {
		return known, nil
	}
	made, err := m.computeRate(from, to, bucket)
	if err != nil {
		return ports.MarketRate{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bucket != bucket {
		m.bucket, m.rates = bucket, map[pair]ports.MarketRate{}
	}
	m.rates[pair{from, to}] = made
	return made, nil
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
	return ports.MarketRate{Rate: rate, At: time.Unix(bucket*int64(Lifetime/time.Second), 0).UTC()}, nil
}

// priceInUSD is what one unit of a currency costs in US dollars.
func (m *Market) priceInUSD(c money.Currency, bucket int64) (money.Rate, error) {
	reference, ok := referencePrices[c]
	if !ok {
		return money.Rate{}, fault.New(fault.InvalidCurrency, "There is no market for %s.", c)
	}
	if pegged[c] {
		return reference, nil
	}
	// A straight line from one hour's anchor to the next, so that prices drift.
	hour, step := bucket/bucketsPerAnchor, bucket%bucketsPerAnchor
	left, right := m.anchor(c, hour), m.anchor(c, hour+1)
	swing := left + (right-left)*step/bucketsPerAnchor
	factor, err := money.ParseRate(strconv.FormatInt(1_000_000+swing, 10))
	if err != nil {
		return money.Rate{}, err
	}
	moved, err := reference.Mul(factor)
	if err != nil {
		return money.Rate{}, err
	}
	return moved.Mul(millionth)
}

// anchor is a price's distance from its reference in parts per million.
func (m *Market) anchor(c money.Currency, hour int64) int64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d", m.seed, c, hour))
	return int64(binary.BigEndian.Uint32(sum[:4])%(2*swingPPM+1)) - swingPPM
}
