// Package tariffs is the operator's side of what corridors cost: it shows the terms
// in force, changes them, and tells the history of changes.
//
// Servers read what it changes by themselves. It never touches what a quote has
// promised: terms hold for quotes made after a change.
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

// Service are the use cases.
type Service struct{ store ports.Pricing }

// New returns the use cases.
func New(store ports.Pricing) *Service { return &Service{store} }

// CorridorInput names what is to be changed, as an operator writes it: a pair of currencies,
// for one platform or, empty, for all.
type CorridorInput struct{ From, To, Platform string }

// The names of the parts of a Line in a list of mistakes.
const (
	FieldPair     = "corridor"
	FieldPlatform = "platform"
	FieldChange   = "change"
	FieldNote     = "note"
)

// MaxNote is the longest note, in bytes.
const MaxNote = 500

// ChangeResult is the terms of a line before and after.
type ChangeResult struct {
	ports.CorridorKey
	Before, After corridor.Terms
	// ChangedFields are the values that are other than before.
	ChangedFields []string
}

// Set changes the values that are given, or answers INVALID_INPUT with everything
// that is wrong.
func (t *Service) Set(ctx context.Context, at CorridorInput, values corridor.OverrideInput, note string) (ChangeResult, error) {
	change, bad := values.Parse()
	if values == (corridor.OverrideInput{}) {
		bad = append(bad, fault.Field{Field: FieldChange, Message: "give at least one value to change"})
	}
	return t.change(ctx, at, note, bad, func(before corridor.Override) corridor.Override { return before.Merge(change) })
}

// Reset returns all values back: to what holds for all platforms, or to the built-in
// ones.
func (t *Service) Reset(ctx context.Context, at CorridorInput, note string) (ChangeResult, error) {
	return t.change(ctx, at, note, nil, func(corridor.Override) corridor.Override { return corridor.Override{} })
}

func (t *Service) change(ctx context.Context, at CorridorInput, note string, bad []fault.Field, change func(corridor.Override) corridor.Override) (ChangeResult, error) {
	way, line, wrong, err := t.parseCorridor(ctx, at)
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
	done := ChangeResult{CorridorKey: line}
	err = t.store.ChangeCorridor(ctx, line, note, func(table []ports.CorridorOverride) (corridor.Override, error) {
		before := pricingOf(way, table)
		after := before.WithOverride(line.Platform, change(before.OverrideFor(line.Platform)))
		if bad := after.Check(); len(bad) > 0 {
			return corridor.Override{}, fault.Invalid(bad...)
		}
		done.Before, done.After = before.TermsFor(line.Platform), after.TermsFor(line.Platform)
		done.ChangedFields = changedFields(done.Before, done.After)
		return after.OverrideFor(line.Platform), nil
	})
	return done, err
}

// parseCorridor finds what a line names, and lists what is wrong with it.
func (t *Service) parseCorridor(ctx context.Context, at CorridorInput) (corridor.Corridor, ports.CorridorKey, []fault.Field, error) {
	var bad []fault.Field
	line := ports.CorridorKey{From: money.Currency(at.From), To: money.Currency(at.To)}
	way, err := corridor.Find(line.From, line.To, "")
	if err != nil {
		bad = append(bad, fault.Field{Field: FieldPair, Message: messageOf(err)})
	}
	line.Platform, err = t.parsePlatform(ctx, at.Platform)
	if wrong, ok := fault.As(err); ok {
		return way, line, append(bad, wrong.Fields...), nil
	}
	return way, line, bad, err
}

// parsePlatform returns the one named; none for an empty text. INVALID_INPUT when it is no id
// or there is no such platform.
func (t *Service) parsePlatform(ctx context.Context, text string) (ident.Platform, error) {
	if text == "" {
		return ident.Platform{}, nil
	}
	id, err := ident.ParsePlatform(text)
	if err != nil {
		return id, fault.Invalid(fault.Field{Field: FieldPlatform, Message: err.Error()})
	}
	_, err = t.store.Platform(ctx, id)
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

// changedFields names the values that differ.
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

// pricingOf picks a pair's lines out of the operator's table.
func pricingOf(way corridor.Corridor, table []ports.CorridorOverride) corridor.Pricing {
	tariff := corridor.Pricing{Corridor: way}
	for _, o := range table {
		if o.From == way.From && o.To == way.To {
			tariff = tariff.WithOverride(o.Platform, o.Terms)
		}
	}
	return tariff
}
