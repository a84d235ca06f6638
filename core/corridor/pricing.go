package corridor

import (
	"slices"

	"causeway/core/fault"
	"causeway/core/ident"
)

// Pricing is the pricing of one pair: the built-in terms and the operator's overrides.
type Pricing struct {
	Corridor Corridor
	// AllPlatforms is the override for all platforms.
	AllPlatforms Override
	// PerPlatform are the overrides for single platforms, applied after it.
	PerPlatform []PlatformOverride
}

// PlatformOverride is the override for one platform.
type PlatformOverride struct {
	Platform ident.Platform
	Override Override
}

// TermsFor returns the terms of a platform; for the zero platform, those for all platforms.
func (p Pricing) TermsFor(platform ident.Platform) Terms {
	return p.TermsWithin(platform, nil)
}

// TermsWithin returns the terms of a platform within its own limits for the sending currency.
func (p Pricing) TermsWithin(platform ident.Platform, limits *Limits) Terms {
	return p.Corridor.Terms.For(p.AllPlatforms, p.OverrideFor(platform), limits)
}

// OverrideFor returns the override for a platform; for the zero platform, the one for all.
func (p Pricing) OverrideFor(platform ident.Platform) Override {
	if platform.IsZero() {
		return p.AllPlatforms
	}
	if i := p.index(platform); i >= 0 {
		return p.PerPlatform[i].Override
	}
	return Override{}
}

// WithOverride returns the pricing with the override for a platform, or for all if it is zero,
// replaced; an empty override removes it.
func (p Pricing) WithOverride(platform ident.Platform, o Override) Pricing {
	if platform.IsZero() {
		p.AllPlatforms = o
		return p
	}
	p.PerPlatform = slices.DeleteFunc(slices.Clone(p.PerPlatform), func(own PlatformOverride) bool { return own.Platform == platform })
	if !o.IsZero() {
		p.PerPlatform = append(p.PerPlatform, PlatformOverride{platform, o})
	}
	return p
}

func (p Pricing) index(platform ident.Platform) int {
	return slices.IndexFunc(p.PerPlatform, func(own PlatformOverride) bool { return own.Platform == platform })
}

// Check returns the errors in the terms for all platforms, and in those of each platform with
// an override.
func (p Pricing) Check() []fault.Field {
	bad := p.TermsFor(ident.Platform{}).Check(p.Corridor.From)
	for _, own := range p.PerPlatform {
		for _, f := range p.TermsFor(own.Platform).Check(p.Corridor.From) {
			f.Message += " (for " + own.Platform.String() + ", which has terms of its own)"
			bad = append(bad, f)
		}
	}
	return bad
}
