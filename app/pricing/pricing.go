// Package pricing implements the operator's view of the pricing of corridors: it lists the
// terms in force, changes them or proposes that, approves and rejects proposals, and lists the history of changes.
//
// Servers read changes by themselves. A change applies to later quotes only, never to a
// quote that exists.
package pricing

import (
	"context"
	"errors"
	"slices"

	"causeway/core/books"
	"causeway/core/corridor"
	"causeway/core/diff"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ports"
)

// Config is what the use cases need.
type Config struct {
	Store Store
	Clock ports.Clock
	IDs   ports.IDs
}

// Service implements the use cases.
type Service struct{ Config }

// New returns a Service.
func New(c Config) *Service { return &Service{c} }

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

// Author is who changes a corridor, and why.
type Author struct {
	// Actor is the operator; if it is empty, the history names the login of the database.
	Actor string
	// Person is who has signed in; zero if nobody has.
	Person ident.Person
	Note   string
}

// ChangeResult holds the terms of a corridor before and after a change.
type ChangeResult struct {
	ports.CorridorKey
	Before, After corridor.Terms
	// ChangedFields names the values that differ; for a proposal also those that only their origin differs of.
	ChangedFields []string
	// Proposal is the proposal of the change, which was not made; or, if it is approved, by which it was. It is nil
	// for a change that needs no approval.
	Proposal *proposal.Proposal
}

// Set changes the given values, or returns INVALID_INPUT with every error. A change that needs four eyes makes a
// proposal; faults: those of proposal.CheckPending.
func (s *Service) Set(ctx context.Context, by Author, in CorridorInput, values corridor.OverrideInput) (ChangeResult, error) {
	set, bad := values.Parse()
	if values == (corridor.OverrideInput{}) {
		bad = append(bad, fault.Field{Field: FieldChange, Message: "Set at least one of fee-fixed, fee-percent, min, max and lock."})
	}
	return s.change(ctx, by, in, bad, corridor.Change{Set: set})
}

// Reset removes all changes: the terms are again those for all platforms, or the built-in
// ones. A change that needs four eyes makes a proposal; faults: those of proposal.CheckPending.
func (s *Service) Reset(ctx context.Context, by Author, in CorridorInput) (ChangeResult, error) {
	return s.change(ctx, by, in, nil, corridor.Change{Reset: true})
}

func (s *Service) change(ctx context.Context, by Author, in CorridorInput, bad []fault.Field,
	change corridor.Change) (ChangeResult, error) {
	pair, key, wrong, err := s.parseCorridor(ctx, in)
	if err != nil {
		return ChangeResult{}, err
	}
	change.Platform = key.Platform
	bad = slices.Concat(wrong, bad)
	if len(by.Note) > MaxNote {
		bad = append(bad, fault.Field{Field: FieldNote, Message: "must not be longer than 500 bytes"})
	}
	if len(bad) > 0 {
		return ChangeResult{}, fault.Invalid(bad...)
	}
	var result ChangeResult
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		table, err := tx.CorridorOverrides(ctx)
		if err != nil {
			return err
		}
		before := pricingOf(pair, table)
		after := before.WithChange(change)
		if bad := after.Check(); len(bad) > 0 {
			return fault.Invalid(bad...)
		}
		fourEyes, err := tx.FourEyesPlatforms(ctx, books.ActionPrice)
		if err != nil {
			return err
		}
		result = newChangeResult(key, before, after)
		if change.NeedsFourEyes(fourEyes) {
			return s.propose(ctx, tx, by, change, before, after, &result)
		}
		if err := tx.SaveOverride(ctx, newOverride(key, after), ports.CorridorAuthor{By: by.Actor, Person: by.Person,
			Note: by.Note}); err != nil || by.Actor == "" { // then the history names the login of the database
			return err
		}
		return s.record(ctx, tx, platform.Author{Actor: by.Actor, Person: by.Person}, key, change.Reset, before, after)
	})
	return result, err
}

// record records who has changed a corridor, or has approved that, with the terms before and after.
func (s *Service) record(ctx context.Context, tx Tx, by platform.Author, key ports.CorridorKey, isReset bool, before,
	after corridor.Pricing) error {
	now := s.Clock.Now()
	of := func(p corridor.Pricing) diff.Values { return p.TermsFor(key.Platform).Format().Values(key.From) }
	a := actionOn(key, isReset)
	a.ID, a.At, a.Actor, a.Person, a.Changes = s.IDs.New(now), now, by.Actor, by.Person, diff.Between(of(before), of(after))
	return tx.RecordOperatorAction(ctx, a)
}

// actionOn is the action of who changes a corridor.
func actionOn(key ports.CorridorKey, isReset bool) platform.OperatorAction {
	a := platform.OperatorAction{Platform: key.Platform, Kind: platform.OperatorSetCorridor, Name: string(key.From) + " to " + string(key.To)}
	if isReset {
		a.Kind = platform.OperatorResetCorridor
	}
	return a
}

func newChangeResult(key ports.CorridorKey, before, after corridor.Pricing) ChangeResult {
	r := ChangeResult{CorridorKey: key, Before: before.TermsFor(key.Platform), After: after.TermsFor(key.Platform)}
	r.ChangedFields = changedFields(r.Before, r.After)
	return r
}

// newOverride returns the override of a key in a pricing.
func newOverride(key ports.CorridorKey, p corridor.Pricing) ports.CorridorOverride {
	return ports.CorridorOverride{Platform: key.Platform, From: key.From, To: key.To, Terms: p.OverrideFor(key.Platform)}
}

// parseCorridor returns the corridor that an input names, or the errors of the input.
func (s *Service) parseCorridor(ctx context.Context, in CorridorInput) (corridor.Corridor, ports.CorridorKey, []fault.Field, error) {
	var bad []fault.Field
	key := ports.CorridorKey{From: money.Currency(in.From), To: money.Currency(in.To)}
	pair, err := findPair(key)
	if err != nil {
		bad = append(bad, fault.Field{Field: FieldPair, Message: messageOf(err)})
	}
	key.Platform, err = s.parsePlatform(ctx, in.Platform)
	if wrong, ok := fault.As(err); ok {
		return pair, key, append(bad, wrong.Fields...), nil
	}
	return pair, key, bad, err
}

func findPair(key ports.CorridorKey) (corridor.Corridor, error) {
	if key.From == key.To {
		return corridor.Within(key.From, "")
	}
	return corridor.Find(key.From, key.To, "")
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
	_, err = s.Store.Platform(ctx, id)
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
