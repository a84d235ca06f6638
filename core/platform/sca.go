package platform

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"causeway/core/fault"
	"causeway/core/sca"
)

// RequiresSCA reports whether the customers of a region need strong customer authentication.
func (p Platform) RequiresSCA(region string) bool {
	regions := p.SCARegions
	if regions == nil {
		regions = sca.DefaultRegions()
	}
	return slices.Contains(regions, region)
}

// ProtectsPayments reports whether the payments of the customers of a region need a proof of their payer.
func (p Platform) ProtectsPayments(region string) bool {
	return !p.SCAPaymentsSince.IsZero() && p.RequiresSCA(region)
}

var regionRegexp = regexp.MustCompile(`^[A-Z]{2}$`)

// ParseSCARegions returns regions sorted, each once; nil for nil. Fault: INVALID_INPUT.
func ParseSCARegions(regions []string) ([]string, error) {
	if regions == nil {
		return nil, nil
	}
	parsed := slices.Compact(slices.Sorted(slices.Values(regions)))
	for _, r := range parsed {
		if !regionRegexp.MatchString(r) {
			return nil, fault.Invalid(fault.Field{Field: "regions", Message: fmt.Sprintf("must be countries as ISO 3166-1 alpha-2, such as DE; "+
				"%q is none", r)})
		}
	}
	return append([]string{}, parsed...), nil
}

// SCARegionsText says which regions are meant.
func SCARegionsText(regions []string) string {
	switch {
	case regions == nil:
		return "the European Economic Area and the United Kingdom"
	case len(regions) == 0:
		return "no country"
	default:
		return strings.Join(regions, ", ")
	}
}
