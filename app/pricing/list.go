package pricing

import (
	"context"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/ports"
)

// CorridorTerms is the terms in force for one pair, and where they are not built in.
type CorridorTerms struct {
	From, To money.Currency
	Terms    corridor.Terms
	// ChangedForAll names the values that were changed for all platforms, Own those that
	// were changed for this one. Narrowed names the limits that the platform itself
	// keeps closer than the corridor does.
	ChangedForAll, ChangedForPlatform, LimitedByPlatform []string
}

// List shows every pair that is live: for a platform as it pays, else as all pay.
// INVALID_INPUT when there is no such platform.
func (t *Service) List(ctx context.Context, platformID string) ([]CorridorTerms, error) {
	p, err := t.parsePlatform(ctx, platformID)
	if err != nil {
		return nil, err
	}
	table, err := t.store.CorridorOverrides(ctx)
	if err != nil {
		return nil, err
	}
	limits := map[money.Currency]corridor.Limits{}
	if !p.IsZero() {
		home, err := t.store.Platform(ctx, p)
		if err != nil {
			return nil, err
		}
		for _, c := range home.Currencies {
			limits[c.Code] = corridor.Limits{Min: c.MinAmount, Max: c.MaxAmount}
		}
	}
	lines := map[ports.CorridorKey][]ports.CorridorOverride{}
	for _, o := range table {
		pair := ports.CorridorKey{From: o.From, To: o.To}
		lines[pair] = append(lines[pair], o)
	}
	all := corridor.All()
	shown := make([]CorridorTerms, 0, len(all))
	for _, way := range all {
		tariff := pricingOf(way, lines[ports.CorridorKey{From: way.From, To: way.To}])
		s := CorridorTerms{From: way.From, To: way.To, Terms: tariff.TermsFor(p), ChangedForAll: tariff.AllPlatforms.Names()}
		if !p.IsZero() {
			s.ChangedForPlatform = tariff.OverrideFor(p).Names()
		}
		if own, ok := limits[way.From]; ok {
			s.Terms = s.Terms.WithLimits(own)
		}
		if s.Terms.MinFromPlatform {
			s.LimitedByPlatform = append(s.LimitedByPlatform, corridor.FieldMin)
		}
		if s.Terms.MaxFromPlatform {
			s.LimitedByPlatform = append(s.LimitedByPlatform, corridor.FieldMax)
		}
		shown = append(shown, s)
	}
	return shown, nil
}

// HistoryFilter narrows the history, as an operator writes it; empty texts do not.
type HistoryFilter struct{ From, To, Platform string }

// History returns every change that was ever made, oldest first. A platform's is that
// of its own terms and of those for all.
func (t *Service) History(ctx context.Context, of HistoryFilter) ([]ports.CorridorChange, error) {
	var bad []fault.Field
	filter := ports.CorridorChangeFilter{From: money.Currency(of.From), To: money.Currency(of.To)}
	for _, c := range []money.Currency{filter.From, filter.To} {
		if c != "" && !c.Known() {
			bad = append(bad, fault.Field{Field: FieldPair, Message: "must be of known currencies, such as USD BTC"})
			break
		}
	}
	var err error
	filter.Platform, err = t.parsePlatform(ctx, of.Platform)
	if wrong, ok := fault.As(err); ok {
		bad = append(bad, wrong.Fields...)
	} else if err != nil {
		return nil, err
	}
	if len(bad) > 0 {
		return nil, fault.Invalid(bad...)
	}
	return t.store.CorridorChanges(ctx, filter)
}
