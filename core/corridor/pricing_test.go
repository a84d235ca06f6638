package corridor_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"causeway/core/corridor"
	"causeway/core/ident"
)

func TestPricing(t *testing.T) {
	// The terms of a platform are the built-in terms, changed by the override for all platforms and
	// then by its own. A removed override has no effect.
	t.Parallel()
	way, err := corridor.Find("USD", "BTC", "")
	if err != nil {
		t.Fatal(err)
	}
	var all, here, there ident.Platform
	here.SetUUID(uuid.UUID{15: 1})
	there.SetUUID(uuid.UUID{15: 2})
	builtIn := corridor.Pricing{Corridor: way}

	pricing := builtIn.WithOverride(all, corridor.Override{Fixed: new(int64(40)), MaxSending: new(int64(5_000))}).WithOverride(here,
		corridor.Override{Fixed: new(int64(10))})

	for p, want := range map[ident.Platform][2]int64{all: {40, 5_000}, here: {10, 5_000}, there: {40, 5_000}} {
		if got := pricing.TermsFor(p); got.Fee.Fixed != want[0] || got.MaxSending != want[1] {
			t.Errorf("%s pays %+v, want %v", p, got, want)
		}
	}
	if back := pricing.WithOverride(here, corridor.Override{}).WithOverride(all, corridor.Override{}); back.TermsFor(here) != way.Terms ||
		len(back.PerPlatform) != 0 {
		t.Errorf("without overrides the pricing is %+v", back)
	}
	if pricing.TermsFor(here).Fee.Fixed != 10 || len(builtIn.PerPlatform) != 0 {
		t.Error("WithOverride changed its receiver")
	}

	// The terms of a platform with an override of its own are checked too.
	if bad := pricing.Check(); len(bad) > 0 {
		t.Errorf("valid pricing: %v", bad)
	}
	broken := pricing.WithOverride(here, corridor.Override{MinSending: new(int64(5_001))})
	if bad := broken.Check(); len(bad) != 1 || !strings.Contains(bad[0].Message, here.String()) {
		t.Errorf("limits that allow no amount: %v", bad)
	}
}
