// Package pricing implements the operator's view of the pricing of corridors: it lists the
// terms in force, changes them, and lists the history of changes.
//
// Servers read changes by themselves. A change applies to later quotes only, never to a
// quote that exists.
package pricing

import (
	"context"
	"errors"
	"slices"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

// Service implements the use cases.
type Service struct{ store ports.Pricing }

// New returns a Service.
func New(store ports.Pricing) *Service { return &Service{store} }

// CorridorInput names a corridor as an operator writes it: a pair of currencies, for one
// platform or, if empty, for all platforms.
type CorridorInput struct{ From, To, Platform string }

// The names of the fields of an input in the list of its errors.
const (
	FieldPair     = "corridor"
	FieldPlatform = "platform"
	FieldChange   = "change"
	FieldNote     = "note"
)

// MaxNote is the longest note, in bytes.
const MaxNote = 500

// ChangeResult holds the terms of a corridor before and after a change.
type ChangeResult struct {
	ports.CorridorKey
	Before, After corridor.Terms
	// ChangedFields names the values that differ.
	ChangedFields []string
}

// Set changes the given values, or returns INVALID_INPUT with every error.
func (s *Service) Set(ctx context.Context, in CorridorInput, values corridor.OverrideInput, note string) (ChangeResult, error) {
	change, bad := values.Parse()
	if values == (corridor.OverrideInput{}) {
		bad = append(bad, fault.Field{Field: FieldChange, Message: "Set at least one of fee-fixed, fee-percent, min, max and lock."})
	}
	return s.change(ctx, in, note, bad, func(before corridor.Override) corridor.Override { return before.Merge(change) })
}

// Reset removes all changes: the terms are again those for all platforms, or the built-in
// ones.
func (s *Service) Reset(ctx context.Context, in CorridorInput, note string) (ChangeResult, error) {
	return s.change(ctx, in, note, nil, func(corridor.Override) corridor.Override { return corridor.Override{} })
}

func (s *Service) change(ctx context.Context, in CorridorInput, note string, bad []fault.Field, change func(corridor.Override) corridor.Override) (ChangeResult, error) {
	pair, key, wrong, err := s.parseCorridor(ctx, in)
	if err != nil {
		return ChangeResult{}, err
	}
	bad = slices.Concat(wrong, bad)
	if len(note) > MaxNote {
		bad = append(bad, fault.Field{Field: FieldNote, Message: "must not be longer than 500 bytes"})
	}
	if len(bad) > 0 {
		return ChangeResult{}, fault.Invalid(bad...)
	}
	result := ChangeResult{CorridorKey: key}
	err = s.store.ChangeCorridor(ctx, key, note, func(table []ports.CorridorOverride) (corridor.Override, error) {
		before := pricingOf(pair, table)
		after := before.WithOverride(key.Platform, change(before.OverrideFor(key.Platform)))
		if bad := after.Check(); len(bad) > 0 {
			return corridor.Override{}, fault.Invalid(bad...)
		}
		result.Before, result.After = before.TermsFor(key.Platform), after.TermsFor(key.Platform)
		result.ChangedFields = changedFields(result.Before, result.After)
		return after.OverrideFor(key.Platform), nil
	})
	return result, err
}

// parseCorridor returns the corridor that an input names, or the errors of the input.
func (s *Service) parseCorridor(ctx context.Context, in CorridorInput) (corridor.Corridor, ports.CorridorKey, []fault.Field, error) {
	var bad []fault.Field
	key := ports.CorridorKey{From: money.Currency(in.From), To: money.Currency(in.To)}
	pair, err := corridor.Find(key.From, key.To, "")
	if key.From == key.To {
		pair, err = corridor.Within(key.From, "")
	}
	if err != nil {
		bad = append(bad, fault.Field{Field: FieldPair, Message: messageOf(err)})
	}
	key.Platform, err = s.parsePlatform(ctx, in.Platform)
	if wrong, ok := fault.As(err); ok {
		return pair, key, append(bad, wrong.Fields...), nil
	}
	return pair, key, bad, err
}

// parsePlatform returns the platform with the id in text, or zero for an empty text. It
// returns INVALID_INPUT if text is not an id, or there is no such platform.
func (s *Service) parsePlatform(ctx context.Context, text string) (ident.Platform, error) {
	if text == "" {
		return ident.Platform{}, nil
	}
	id, err := ident.ParsePlatform(text)
	if err != nil {
		return id, fault.Invalid(fault.Field{Field: FieldPlatform, Message: err.Error()})
	}
	_, err = s.store.Platform(ctx, id)
	if fault.Is(err, fault.NotFound) {
		return id, fault.Invalid(fault.Field{Field: FieldPlatform, Message: messageOf(err)})
	}
	return id, err
}

func messageOf(err error) string {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Message
	}
	return err.Error()
}

// changedFields returns the names of the values that differ.
func changedFields(a, b corridor.Terms) []string {
	var changed corridor.Override
	if a.Fee.Fixed != b.Fee.Fixed {
		changed.Fixed = &b.Fee.Fixed
	}
	if a.Fee.Percent != b.Fee.Percent {
		changed.Percent = &b.Fee.Percent
	}
	if a.MinSending != b.MinSending {
		changed.MinSending = &b.MinSending
	}
	if a.MaxSending != b.MaxSending {
		changed.MaxSending = &b.MaxSending
	}
	if a.Lock != b.Lock {
		changed.Lock = &b.Lock
	}
	return changed.Names()
}

// pricingOf returns the pricing of a pair, from the overrides of all pairs.
func pricingOf(pair corridor.Corridor, table []ports.CorridorOverride) corridor.Pricing {
	pricing := corridor.Pricing{Corridor: pair}
	for _, o := range table {
		if o.From == pair.From && o.To == pair.To {
			pricing = pricing.WithOverride(o.Platform, o.Terms)
		}
	}
	return pricing
}
