package corridor

import (
	"slices"

	"causeway/core/fault"
	"causeway/core/ident"
)

// Tariff is what one pair costs: the built-in terms, and everything the operator
// changed of them.
type Tariff struct {
	Corridor Corridor
	// Everybody is what was changed for all platforms.
	Everybody Override
	// Own is what was changed for single ones, on top of that.
	Own []OwnOverride
}

// OwnOverride is what was changed for one platform.
type OwnOverride struct {
	Platform ident.Platform
	Override Override
}

// For is what a platform pays. The zero platform pays what all pay.
func (t Tariff) For(p ident.Platform) Terms {
	terms := t.Corridor.Terms.With(t.Everybody)
	if p.IsZero() {
		return terms
	}
	return terms.With(t.Of(p))
}

// Of is what was changed for a platform alone; for the zero platform, for all.
func (t Tariff) Of(p ident.Platform) Override {
	if p.IsZero() {
		return t.Everybody
	}
	if i := t.place(p); i >= 0 {
		return t.Own[i].Override
	}
	return Override{}
}

// Put is the tariff with another override for a platform, or for all when it is
// zero; an override of nothing takes the old one away.
func (t Tariff) Put(p ident.Platform, o Override) Tariff {
	if p.IsZero() {
		t.Everybody = o
		return t
	}
	t.Own = slices.DeleteFunc(slices.Clone(t.Own), func(own OwnOverride) bool { return own.Platform == p })
	if !o.IsZero() {
		t.Own = append(t.Own, OwnOverride{p, o})
	}
	return t
}

func (t Tariff) place(p ident.Platform) int {
	return slices.IndexFunc(t.Own, func(own OwnOverride) bool { return own.Platform == p })
}

// Check lists everything that keeps the tariff from working, for all platforms and
// for each that has terms of its own.
func (t Tariff) Check() []fault.Field {
	bad := t.For(ident.Platform{}).Check(t.Corridor.From)
	for _, own := range t.Own {
		for _, f := range t.For(own.Platform).Check(t.Corridor.From) {
			f.Message += " (for " + own.Platform.String() + ", which has terms of its own)"
			bad = append(bad, f)
		}
	}
	return bad
}
