package corridor

import (
	"fmt"
	"slices"
	"strings"

	"causeway/core/fault"
	"causeway/core/ident"
)

// Change is an operator's change of the terms of a pair, for one platform or, if that is zero, for all.
type Change struct {
	Platform ident.Platform
	// Reset removes the override; else the fields that Set has replace its own.
	Reset bool
	Set   Override
}

// WithChange returns the pricing after a change.
func (p Pricing) WithChange(c Change) Pricing {
	if c.Reset {
		return p.WithOverride(c.Platform, Override{})
	}
	return p.WithOverride(c.Platform, p.OverrideFor(c.Platform).Merge(c.Set))
}

// NeedsFourEyes reports whether a second operator has to approve the change: if its platform is one of those whose
// changes of prices need four eyes or, for a change for all platforms, if there is any.
func (c Change) NeedsFourEyes(platforms []ident.Platform) bool {
	if c.Platform.IsZero() {
		return len(platforms) > 0
	}
	return slices.Contains(platforms, c.Platform)
}

// State is what a change begins or ends with: the terms in force for its platform, and the override that it changes.
type State struct{ Terms, Override OverrideInput }

// StateFor returns the state for a platform; for the zero platform, the one for all.
func (p Pricing) StateFor(platform ident.Platform) State {
	return State{Terms: p.TermsFor(platform).Format(), Override: p.OverrideFor(platform).Format()}
}

// ChangedFields returns the names of the values that differ between two states, in the order of the constants: in force, or
// as the override sets them.
func (s State) ChangedFields(after State) []string {
	before, then := s.fields(), after.fields()
	var names []string
	for i, field := range before {
		if field != then[i] {
			names = append(names, field.name)
		}
	}
	return names
}

type stateField struct{ name, term, override string }

func (s State) fields() []stateField {
	return []stateField{
		{FieldFixed, s.Terms.Fixed, s.Override.Fixed}, {FieldPercent, s.Terms.Percent, s.Override.Percent},
		{FieldMin, s.Terms.Min, s.Override.Min}, {FieldMax, s.Terms.Max, s.Override.Max}, {FieldLock, s.Terms.Lock, s.Override.Lock},
	}
}

// String lists the terms, and marks those that the override sets.
func (s State) String() string {
	var texts []string
	for _, field := range s.fields() {
		text := field.name + " " + field.term
		if field.override != "" {
			text += " (set)"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// Approve returns the pricing after a change that was proposed when the state was proposed. Fault: CONFLICT if the state has
// changed since, with both states, or if the terms would no longer be valid.
func (p Pricing) Approve(c Change, proposed State) (Pricing, error) {
	conflict := func(reason, message string) error {
		return &fault.Error{Code: fault.Conflict, Reason: reason, Message: message + " Reject the proposal and make it again."}
	}
	if now := p.StateFor(c.Platform); now != proposed {
		return p, conflict("Terms changed", fmt.Sprintf("The terms have changed since the change was proposed. Then: %s. Now: %s.",
			proposed, now))
	}
	after := p.WithChange(c)
	if bad := after.Check(); len(bad) > 0 {
		texts := make([]string, len(bad))
		for i, f := range bad {
			texts[i] = f.Field + " " + f.Message
		}
		return p, conflict("Terms not valid", "The change is no longer possible: "+strings.Join(texts, "; ")+".")
	}
	return after, nil
}
