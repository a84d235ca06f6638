package corridor

import (
	"slices"

	"causeway/core/fault"
	"causeway/core/ident"
)

// Pricing is what one pair costs: the built-in terms, and everything the operator
// changed of them.
type Pricing struct {
	Corridor Corridor
	// AllPlatforms is what was changed for all platforms.
	AllPlatforms Override
	// PerPlatform is what was changed for single ones, on top of that.
	PerPlatform []PlatformOverride
}

// PlatformOverride is what was changed for one platform.
type PlatformOverride struct {
	Platform ident.Platform
	Override Override
}

// TermsFor returns what a platform pays. The zero platform pays what all pay.
func (t Pricing) TermsFor(p ident.Platform) Terms {
	terms := t.Corridor.Terms.WithOverride(t.AllPlatforms)
	if p.IsZero() {
		return terms
	}
	return terms.WithOverride(t.OverrideFor(p))
}

// OverrideFor returns what was changed for a platform alone; for the zero platform, for all.
func (t Pricing) OverrideFor(p ident.Platform) Override {
	if p.IsZero() {
		return t.AllPlatforms
	}
	if i := t.index(p); i >= 0 {
		return t.PerPlatform[i].Override
	}
	return Override{}
}

// WithOverride returns the tariff with another override for a platform, or for all when it is
// zero; an override of nothing takes the old one away.
func (t Pricing) WithOverride(p ident.Platform, o Override) Pricing {
	if p.IsZero() {
		t.AllPlatforms = o
		return t
	}
	t.PerPlatform = slices.DeleteFunc(slices.Clone(t.PerPlatform), func(own PlatformOverride) bool { return own.Platform == p })
	if !o.IsZero() {
		t.PerPlatform = append(t.PerPlatform, PlatformOverride{p, o})
	}
	return t
}

func (t Pricing) index(p ident.Platform) int {
	return slices.IndexFunc(t.PerPlatform, func(own PlatformOverride) bool { return own.Platform == p })
}

// Check returns everything that keeps the tariff from working, for all platforms and
// for each that has terms of its own.
func (t Pricing) Check() []fault.Field {
	bad := t.TermsFor(ident.Platform{}).Check(t.Corridor.From)
	for _, own := range t.PerPlatform {
		for _, f := range t.TermsFor(own.Platform).Check(t.Corridor.From) {
			f.Message += " (for " + own.Platform.String() + ", which has terms of its own)"
			bad = append(bad, f)
		}
	}
	return bad
}
