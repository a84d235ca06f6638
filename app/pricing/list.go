package pricing

import (
	"context"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/ports"
)

// CorridorTerms holds the terms in force for one pair, and where they come from if they are
// not built in.
type CorridorTerms struct {
	From, To money.Currency
	Terms    corridor.Terms
	// ChangedForAll names the values that were changed for all platforms,
	// ChangedForPlatform those that were changed for this one. LimitedByPlatform names the
	// limits that the platform's settings narrow.
	ChangedForAll, ChangedForPlatform, LimitedByPlatform []string
}

// List returns the terms of every available pair, for one platform or, with an empty id,
// for all. It returns INVALID_INPUT if there is no such platform.
func (s *Service) List(ctx context.Context, platformID string) ([]CorridorTerms, error) {
	p, err := s.parsePlatform(ctx, platformID)
	if err != nil {
		return nil, err
	}
	table, err := s.Store.CorridorOverrides(ctx)
	if err != nil {
		return nil, err
	}
	limits := map[money.Currency]*corridor.Limits{}
	if !p.IsZero() {
		settings, err := s.Store.Platform(ctx, p)
		if err != nil {
			return nil, err
		}
		for _, c := range settings.Currencies {
			limits[c.Code] = &corridor.Limits{Min: c.MinAmount, Max: c.MaxAmount}
		}
	}
	overrides := map[ports.CorridorKey][]ports.CorridorOverride{}
	for _, o := range table {
		key := ports.CorridorKey{From: o.From, To: o.To}
		overrides[key] = append(overrides[key], o)
	}
	all := corridor.All()
	corridors := make([]CorridorTerms, 0, len(all))
	for _, pair := range all {
		pricing := pricingOf(pair, overrides[ports.CorridorKey{From: pair.From, To: pair.To}])
		line := CorridorTerms{From: pair.From, To: pair.To, Terms: pricing.TermsWithin(p, limits[pair.From]),
			ChangedForAll: pricing.AllPlatforms.Names()}
		if !p.IsZero() {
			line.ChangedForPlatform = pricing.OverrideFor(p).Names()
		}
		if line.Terms.MinFromPlatform {
			line.LimitedByPlatform = append(line.LimitedByPlatform, corridor.FieldMin)
		}
		if line.Terms.MaxFromPlatform {
			line.LimitedByPlatform = append(line.LimitedByPlatform, corridor.FieldMax)
		}
		corridors = append(corridors, line)
	}
	return corridors, nil
}

// HistoryFilter selects changes, as an operator writes it; empty texts match all.
type HistoryFilter struct{ From, To, Platform string }

// History returns all changes that match the filter, oldest first. The history of a
// platform has the changes of its own terms and of those for all platforms.
func (s *Service) History(ctx context.Context, f HistoryFilter) ([]ports.CorridorChange, error) {
	var bad []fault.Field
	filter := ports.CorridorChangeFilter{From: money.Currency(f.From), To: money.Currency(f.To)}
	for _, c := range []money.Currency{filter.From, filter.To} {
		if c != "" && !c.Known() {
			bad = append(bad, fault.Field{Field: FieldPair, Message: "must be of known currencies, such as USD BTC"})
			break
		}
	}
	var err error
	filter.Platform, err = s.parsePlatform(ctx, f.Platform)
	if wrong, ok := fault.As(err); ok {
		bad = append(bad, wrong.Fields...)
	} else if err != nil {
		return nil, err
	}
	if len(bad) > 0 {
		return nil, fault.Invalid(bad...)
	}
	return s.Store.CorridorChanges(ctx, filter)
}
