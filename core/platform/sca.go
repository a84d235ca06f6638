package platform

import (
	"fmt"
	"regexp"
	"slices"

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

var regionRegexp = regexp.MustCompile(`^[A-Z]{2}$`)

// ParseSCARegions returns regions sorted, each once. Fault: INVALID_INPUT.
func ParseSCARegions(regions []string) ([]string, error) {
	for _, r := range regions {
		if !regionRegexp.MatchString(r) {
			return nil, fault.Invalid(fault.Field{Field: "regions", Message: fmt.Sprintf("must be countries as ISO 3166-1 alpha-2, such as DE; "+
				"%q is none", r)})
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(regions))), nil
}
