package quoting

import (
	"context"
	"time"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
)

// termsTTL is how soon every process follows a change of the operator's table, or
// of a platform's own limits.
const termsTTL = 10 * time.Second

// termsCache is what is known of both. It is replaced whole and never changed.
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

// refreshTerms reads the tables when what is known of them is old. Callers that come
// meanwhile read them too; that is harmless, and rare.
func (q *QuoteService) refreshTerms(ctx context.Context) error {
	for {
		now, known := q.Clock.Now(), q.cachedTerms.Load()
		if known != nil && now.Sub(known.readAt) < termsTTL {
			return nil
		}
		fresh, err := q.readTerms(ctx, now)
		if err != nil {
			return err
		}
		if q.cachedTerms.CompareAndSwap(known, fresh) {
			return nil
		}
		// Somebody else has read them, or they have changed since we began.
	}
}

func (q *QuoteService) readTerms(ctx context.Context, now time.Time) (*termsCache, error) {
	table, err := q.Store.CorridorOverrides(ctx)
	if err != nil {
		return nil, err
	}
	own, err := q.Store.PlatformLimits(ctx)
	if err != nil {
		return nil, err
	}
	fresh := &termsCache{readAt: now, overrides: make(map[overrideKey]corridor.Override, len(table)), limits: make(map[limitKey]corridor.Limits, len(own))}
	for _, o := range table {
		fresh.overrides[overrideKey{o.Platform, o.From, o.To}] = o.Terms
	}
	for _, l := range own {
		fresh.limits[limitKey{l.Platform, l.Currency}] = l.Limits
	}
	return fresh, nil
}

// InvalidateTerms makes this process read terms and limits again for the next request:
// somebody has just changed some.
func (q *QuoteService) InvalidateTerms() {
	old := &termsCache{}
	if known := q.cachedTerms.Load(); known != nil {
		old.overrides, old.limits = known.overrides, known.limits // for who is at work with them
	}
	q.cachedTerms.Store(old)
}

// terms are the built-in ones, with what the operator changed for everybody and
// then for this platform, within the platform's own limits.
func (q *QuoteService) terms(p ident.Platform, c corridor.Corridor) corridor.Terms {
	known := q.cachedTerms.Load()
	everybody, platform := known.overrides[overrideKey{from: c.From, to: c.To}], known.overrides[overrideKey{p, c.From, c.To}]
	terms := c.Terms.WithOverride(everybody).WithOverride(platform)
	if own, ok := known.limits[limitKey{p, c.From}]; ok {
		terms = terms.WithLimits(own)
	}
	return terms
}
