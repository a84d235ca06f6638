package quoting

import (
	"context"
	"time"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
)

// freshness is how soon every process follows a change of the operator's table, or
// of a platform's own limits.
const freshness = 10 * time.Second

// overrides is what is known of both. It is replaced whole and never changed.
type overrides struct {
	read   time.Time
	lines  map[line]corridor.Override
	limits map[limit]corridor.Limits
}

type line struct {
	platform ident.Platform
	from, to money.Currency
}

type limit struct {
	platform ident.Platform
	currency money.Currency
}

// refresh reads the tables when what is known of them is old. Callers that come
// meanwhile read them too; that is harmless, and rare.
func (q *Quoting) refresh(ctx context.Context) error {
	for {
		now, known := q.Clock.Now(), q.overrides.Load()
		if known != nil && now.Sub(known.read) < freshness {
			return nil
		}
		fresh, err := q.readTerms(ctx, now)
		if err != nil {
			return err
		}
		if q.overrides.CompareAndSwap(known, fresh) {
			return nil
		}
		// Somebody else has read them, or they have changed since we began.
	}
}

func (q *Quoting) readTerms(ctx context.Context, now time.Time) (*overrides, error) {
	table, err := q.Store.CorridorOverrides(ctx)
	if err != nil {
		return nil, err
	}
	own, err := q.Store.PlatformLimits(ctx)
	if err != nil {
		return nil, err
	}
	fresh := &overrides{read: now, lines: make(map[line]corridor.Override, len(table)), limits: make(map[limit]corridor.Limits, len(own))}
	for _, o := range table {
		fresh.lines[line{o.Platform, o.From, o.To}] = o.Terms
	}
	for _, l := range own {
		fresh.limits[limit{l.Platform, l.Currency}] = l.Limits
	}
	return fresh, nil
}

// Forget makes this process read terms and limits again for the next request:
// somebody has just changed some.
func (q *Quoting) Forget() {
	old := &overrides{}
	if known := q.overrides.Load(); known != nil {
		old.lines, old.limits = known.lines, known.limits // for who is at work with them
	}
	q.overrides.Store(old)
}

// terms are the built-in ones, with what the operator changed for everybody and
// then for this platform, within the platform's own limits.
func (q *Quoting) terms(p ident.Platform, c corridor.Corridor) corridor.Terms {
	known := q.overrides.Load()
	everybody, platform := known.lines[line{from: c.From, to: c.To}], known.lines[line{p, c.From, c.To}]
	terms := c.Terms.With(everybody).With(platform)
	if own, ok := known.limits[limit{p, c.From}]; ok {
		terms = terms.Within(own)
	}
	return terms
}
