// Package limits implements the operator's view of what platforms may send: it sets and clears limits, and shows what is left of them.
//
// Payments are checked, and counted, where they are committed: in app/payments. Servers follow a change within ten seconds.
package limits

import (
	"context"
	"maps"
	"slices"

	"causeway/core/ident"
	"causeway/core/limit"
	"causeway/core/platform"
	"causeway/ports"
)

// Store keeps rules, and reads counters.
type Store interface {
	ports.UnitsOfWork
	// CustomerRegion returns the region of a customer, or USER_NOT_FOUND.
	CustomerRegion(ctx context.Context, p ident.Platform, id ident.Customer) (string, error)
	LimitRulesOf(ctx context.Context, p ident.Platform) (limit.Rules, error)
	// LimitCounts returns counters of a day; one without payments has no entry.
	LimitCounts(ctx context.Context, p ident.Platform, day string, counters []limit.Counter) (limit.Counts, error)
	// LargestLimitCounts returns the counter of each currency of the customer who has sent most on a day, without its scope.
	LargestLimitCounts(ctx context.Context, p ident.Platform, day string) (limit.Counts, error)
}

// Tx changes rules.
type Tx interface {
	// LockLimitRules returns the rules of a platform, and makes wait who changes one.
	LockLimitRules(ctx context.Context, p ident.Platform) (limit.Rules, error)
	// SaveLimitRule creates or replaces a rule, and deletes those that were cleared days ago.
	SaveLimitRule(ctx context.Context, r limit.Rule) error
	RecordOperatorAction(ctx context.Context, a platform.OperatorAction) error
}

// Config is what the use cases need.
type Config struct {
	Store Store
	Clock ports.Clock
}

// Service implements the use cases.
type Service struct{ Config }

// New returns a Service.
func New(c Config) *Service { return &Service{c} }

// Set sets the given amounts of a limit of the platform of the action, which is recorded. Faults: INVALID_INPUT with every invalid field;
// USER_NOT_FOUND; CONFLICT if the platform has too many.
func (s *Service) Set(ctx context.Context, action platform.OperatorAction, in limit.Input) (limit.Rule, error) {
	return s.change(ctx, action, in, func(rules limit.Rules, k limit.Key) (limit.Rule, error) { return rules.Set(k, in, s.Clock.Now()) })
}

// Clear ends a limit of the platform of the action, which is recorded. Faults: INVALID_INPUT; NOT_FOUND if there is none.
func (s *Service) Clear(ctx context.Context, action platform.OperatorAction, in limit.Input) (limit.Rule, error) {
	return s.change(ctx, action, in, func(rules limit.Rules, k limit.Key) (limit.Rule, error) { return rules.Clear(k, s.Clock.Now()) })
}

func (s *Service) change(ctx context.Context, action platform.OperatorAction, in limit.Input,
	decide func(limit.Rules, limit.Key) (limit.Rule, error)) (changed limit.Rule, err error) {
	p := action.Platform
	key, err := in.Key(p)
	if err != nil {
		return limit.Rule{}, err
	}
	if id, err := ident.ParseCustomer(key.Customer); err == nil {
		if _, err := s.Store.CustomerRegion(ctx, p, id); err != nil {
			return limit.Rule{}, err
		}
	}
	return changed, ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		rules, err := tx.LockLimitRules(ctx, p)
		if err != nil {
			return err
		}
		if changed, err = decide(rules, key); err != nil {
			return err
		}
		action.Changes = limit.Changed(rules.Find(key), changed)
		if err := tx.SaveLimitRule(ctx, changed); err != nil {
			return err
		}
		return tx.RecordOperatorAction(ctx, action)
	})
}

// Headroom returns the limits of a platform or, if it is not zero, those of a customer, with what was sent today and what is left. For a
// limit of each customer that is the one who has sent most. Faults: USER_NOT_FOUND.
func (s *Service) Headroom(ctx context.Context, p ident.Platform, of ident.Customer) ([]limit.Headroom, error) {
	rules, err := s.Store.LimitRulesOf(ctx, p)
	if err != nil {
		return nil, err
	}
	var region string
	if !of.IsZero() {
		if region, err = s.Store.CustomerRegion(ctx, p, of); err != nil {
			return nil, err
		}
	}
	found := rules.Headroom(of, region)
	if len(found) == 0 {
		return nil, nil
	}
	counters := make([]limit.Counter, len(found))
	for i, h := range found {
		counters[i] = h.Counter
	}
	day := limit.DayOf(s.Clock.Now())
	sent, err := s.Store.LimitCounts(ctx, p, day, counters)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(counters, func(c limit.Counter) bool { return c.Scope == "" }) {
		most, err := s.Store.LargestLimitCounts(ctx, p, day)
		if err != nil {
			return nil, err
		}
		maps.Copy(sent, most)
	}
	for i, h := range found {
		found[i] = h.With(sent[h.Counter])
	}
	return found, nil
}
