package quoting

import (
	"context"
	"time"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
)

// freshness is how soon every process follows a change of the operator's table.
const freshness = 10 * time.Second

type overrides struct {
	read  time.Time
	lines map[line]corridor.Override
}

type line struct {
	platform ident.Platform
	from, to money.Currency
}

// refresh reads the operator's table when what is known of it is old. Callers that
// come meanwhile read it too; that is harmless, and rare.
func (q *Quoting) refresh(ctx context.Context) error {
	now := q.Clock.Now()
	if known := q.overrides.Load(); known != nil && now.Sub(known.read) < freshness {
		return nil
	}
	table, err := q.Store.CorridorOverrides(ctx)
	if err != nil {
		return err
	}
	fresh := &overrides{read: now, lines: make(map[line]corridor.Override, len(table))}
	for _, o := range table {
		fresh.lines[line{o.Platform, o.From, o.To}] = o.Terms
	}
	q.overrides.Store(fresh)
	return nil
}

// terms are the built-in ones, with what the operator changed for everybody and
// then for this platform.
func (q *Quoting) terms(p ident.Platform, c corridor.Corridor) corridor.Terms {
	lines := q.overrides.Load().lines
	everybody, platform := lines[line{from: c.From, to: c.To}], lines[line{p, c.From, c.To}]
	return c.Terms.With(everybody).With(platform)
}
