package platform_test

import (
	"slices"
	"testing"

	"causeway/core/fault"
	"causeway/core/platform"
)

func TestRequiresSCA_ByRegionUnlessSet(t *testing.T) {
	t.Parallel()
	// Customers of the EEA and the United Kingdom need it, unless the operator names other regions, or none.
	for _, test := range []struct {
		set    []string
		region string
		want   bool
	}{
		{nil, "DE", true}, {nil, "GB", true}, {nil, "NO", true}, {nil, "US", false}, {nil, "CH", false},
		{[]string{"CH"}, "CH", true}, {[]string{"CH"}, "DE", false}, {[]string{}, "DE", false},
	} {
		if got := (platform.Platform{SCARegions: test.set}).RequiresSCA(test.region); got != test.want {
			t.Errorf("%v, %s: %v", test.set, test.region, got)
		}
	}
}

func TestParseSCARegions(t *testing.T) {
	t.Parallel()
	// Regions are sorted, each once; what is no country is refused.
	if got, err := platform.ParseSCARegions([]string{"GB", "DE", "GB"}); err != nil || !slices.Equal(got, []string{"DE", "GB"}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"de", "DEU", ""} {
		if _, err := platform.ParseSCARegions([]string{bad}); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
