// Package prices says what a corridor costs a platform now: the built-in terms with the
// operator's overrides, within the platform's own limits, and the market's rate.
//
// Quotes, rates and receiver lookups share it, so that all of them name the same price. It
// caches terms for ten seconds, and decides nothing: core/corridor applies overrides and limits.
package prices

import (
	"context"
	"sync/atomic"
	"time"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

// maxAge is how soon every process follows a change of the operator's overrides, or of a
// platform's limits.
const maxAge = 10 * time.Second

// Prices reads terms from a store and rates from a market.
type Prices struct {
	store  ports.Store
	market ports.Rates
	clock  ports.Clock
	cache  atomic.Pointer[termsCache]
}

// termsCache is what was read from the store. It is replaced as a whole and never changed.
type termsCache struct {
	readAt    time.Time
	overrides map[overrideKey]corridor.Override
	limits    map[limitKey]corridor.Limits
}

type overrideKey struct {
	platform ident.Platform
	from, to money.Currency
}

type limitKey struct {
	platform ident.Platform
	currency money.Currency
}

// New returns prices that have read nothing yet.
func New(store ports.Store, market ports.Rates, clock ports.Clock) *Prices {
	return &Prices{store: store, market: market, clock: clock}
}

// Price is what a corridor costs a platform.
type Price struct {
	Terms corridor.Terms
	Rate  ports.MarketRate
}

// Refresh reads the terms again if they are older than ten seconds, or were invalidated. Terms
// and Of use what it has read; so a unit of work can call them without reading.
func (p *Prices) Refresh(ctx context.Context) error {
	for {
		now, cached := p.clock.Now(), p.cache.Load()
		if cached != nil && now.Sub(cached.readAt) < maxAge {
			return nil
		}
		fresh, err := p.read(ctx, now)
		if err != nil {
			return err
		}
		if p.cache.CompareAndSwap(cached, fresh) {
			return nil
		}
		// Another request has read them, or they were invalidated meanwhile.
	}
}

// read reads the terms of all platforms.
func (p *Prices) read(ctx context.Context, now time.Time) (*termsCache, error) {
	ctx = ports.ForAllPlatforms(ctx)
	overrides, err := p.store.CorridorOverrides(ctx)
	if err != nil {
		return nil, err
	}
	limits, err := p.store.PlatformLimits(ctx)
	if err != nil {
		return nil, err
	}
	fresh := &termsCache{readAt: now, overrides: make(map[overrideKey]corridor.Override, len(overrides)), limits: make(map[limitKey]corridor.Limits, len(limits))}
	for _, o := range overrides {
		fresh.overrides[overrideKey{o.Platform, o.From, o.To}] = o.Terms
	}
	for _, l := range limits {
		fresh.limits[limitKey{l.Platform, l.Currency}] = l.Limits
	}
	return fresh, nil
}

// Invalidate makes the next Refresh of this process read the terms again. Call it after a change
// of overrides or limits.
func (p *Prices) Invalidate() {
	stale := &termsCache{}
	if cached := p.cache.Load(); cached != nil {
		stale.overrides, stale.limits = cached.overrides, cached.limits // for requests that are running
	}
	p.cache.Store(stale)
}

// Terms returns what a corridor costs a platform, as of the last Refresh.
func (p *Prices) Terms(platform ident.Platform, c corridor.Corridor) corridor.Terms {
	cached := p.cache.Load()
	var limits *corridor.Limits
	if own, ok := cached.limits[limitKey{platform, c.From}]; ok {
		limits = &own
	}
	return c.Terms.For(cached.overrides[overrideKey{from: c.From, to: c.To}], cached.overrides[overrideKey{platform, c.From, c.To}], limits)
}

// Of returns the terms of a corridor for a platform, as of the last Refresh, and the market's
// rate now. Within one currency the rate is 1. The fault is QUOTE_REQUEST_FAILED if there is no
// rate to price on.
func (p *Prices) Of(ctx context.Context, platform ident.Platform, c corridor.Corridor) (Price, error) {
	now := p.clock.Now()
	if c.From == c.To {
		return Price{Terms: p.Terms(platform, c), Rate: ports.MarketRate{Rate: parRate, At: now}}, nil
	}
	rate, err := p.market.Rate(ctx, c.From, c.To, now)
	return Price{Terms: p.Terms(platform, c), Rate: rate}, err
}

var parRate = money.MustRate("1")
