// Package prices says what a corridor costs a platform now: the built-in terms with the
// operator's overrides, within the platform's own limits, and the market's rate; and what the
// operator allows the platform to send.
//
// Quotes, rates and receiver lookups share it, so that all of them name the same price. It
// caches terms for ten seconds, and decides nothing: core/corridor applies overrides and limits.
package prices

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/limit"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/ports"
)

// maxAge is how soon every process follows a change of the operator's overrides, or of a
// platform's settings.
const maxAge = 10 * time.Second

// Prices reads terms from a store and rates from a market.
type Prices struct {
	store  Store
	market ports.Rates
	clock  ports.Clock
	cache  atomic.Pointer[termsCache]
}

// termsCache is what was read from the store. It is replaced as a whole and never changed.
type termsCache struct {
	readAt     time.Time
	overrides  map[overrideKey]corridor.Override
	currencies map[currencyKey]platform.Currency
	fees       map[ident.Platform][]platform.FeeConfig // of the platforms that were read
	limits     map[ident.Platform]limit.Rules
}

type overrideKey struct {
	platform ident.Platform
	from, to money.Currency
}

type currencyKey struct {
	platform ident.Platform
	currency money.Currency
}

// New returns prices that have read nothing yet.
func New(store Store, market ports.Rates, clock ports.Clock) *Prices {
	return &Prices{store: store, market: market, clock: clock}
}

// Price is what a corridor costs a platform.
type Price struct {
	Terms corridor.Terms
	Rate  ports.MarketRate
}

// Refresh reads the terms again if they are older than ten seconds, were invalidated, or are older than the platform, unless that is
// zero. Terms and Of use what it has read; so a unit of work can call them without reading.
func (p *Prices) Refresh(ctx context.Context, of ident.Platform) error {
	for {
		now, cached := p.clock.Now(), p.cache.Load()
		if cached != nil && now.Sub(cached.readAt) < maxAge {
			if _, known := cached.fees[of]; known || of.IsZero() {
				return nil
			}
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
	settings, err := p.store.PriceSettings(ctx)
	if err != nil {
		return nil, err
	}
	limits, err := p.store.LimitRules(ctx)
	if err != nil {
		return nil, err
	}
	fresh := &termsCache{readAt: now, overrides: make(map[overrideKey]corridor.Override, len(overrides)),
		currencies: map[currencyKey]platform.Currency{}, fees: map[ident.Platform][]platform.FeeConfig{},
		limits: map[ident.Platform]limit.Rules{}}
	for _, r := range limits {
		fresh.limits[r.Platform] = append(fresh.limits[r.Platform], r)
	}
	for _, o := range overrides {
		fresh.overrides[overrideKey{o.Platform, o.From, o.To}] = o.Terms
	}
	for _, of := range settings {
		for _, c := range of.Currencies {
			fresh.currencies[currencyKey{of.ID, c.Code}] = c
		}
		fresh.fees[of.ID] = of.Fees
	}
	return fresh, nil
}

// Invalidate makes the next Refresh of this process read the terms again. Call it after a change
// of overrides or settings.
func (p *Prices) Invalidate() {
	stale := &termsCache{}
	if cached := p.cache.Load(); cached != nil {
		*stale = *cached // for requests that are running
		stale.readAt = time.Time{}
	}
	p.cache.Store(stale)
}

// Terms returns what a corridor costs a platform, as of the last Refresh.
func (p *Prices) Terms(owner ident.Platform, c corridor.Corridor) corridor.Terms {
	cached := p.cache.Load()
	var limits *corridor.Limits
	if own, ok := cached.currencies[currencyKey{owner, c.From}]; ok {
		limits = &corridor.Limits{Min: own.MinAmount, Max: own.MaxAmount}
	}
	terms := c.Terms.For(cached.overrides[overrideKey{from: c.From, to: c.To}], cached.overrides[overrideKey{owner, c.From, c.To}], limits)
	terms.PlatformFee = platform.FeeOf(cached.fees[owner], c.From, c.To)
	return terms
}

// LimitsOf returns what the operator allows a platform to send, as of the last Refresh.
func (p *Prices) LimitsOf(owner ident.Platform) limit.Rules { return p.cache.Load().limits[owner] }

// CheckEnabled returns INVALID_CURRENCY if the platform has not enabled payments in the currency in a
// direction, as of the last Refresh. A currency that it has no settings for is enabled.
func (p *Prices) CheckEnabled(owner ident.Platform, currency money.Currency, direction transaction.Type) error {
	own, ok := p.cache.Load().currencies[currencyKey{owner, currency}]
	if !ok {
		return nil
	}
	return own.CheckDirection(string(direction))
}

// CheckSupported returns INVALID_CURRENCY if the platform has no settings for a currency, as of the last Refresh.
func (p *Prices) CheckSupported(owner ident.Platform, currency money.Currency) error {
	var own []money.Currency
	for key := range p.cache.Load().currencies {
		if key.platform == owner {
			own = append(own, key.currency)
		}
	}
	if slices.Contains(own, currency) {
		return nil
	}
	slices.Sort(own)
	return platform.NotSupported(currency, own)
}

// CheckTransfer returns INVALID_CURRENCY or AMOUNT_OUT_OF_RANGE if the platform's settings for the
// currency of a transfer do not allow it, as of the last Refresh.
func (p *Prices) CheckTransfer(t transaction.Transaction) error {
	own, ok := p.cache.Load().currencies[currencyKey{t.Platform, t.Pricing.Sent.Currency}]
	if !ok {
		return nil
	}
	if err := own.CheckDirection(string(t.Type)); err != nil {
		return err
	}
	return own.CheckAmount(t.Pricing.Sent.Minor)
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
