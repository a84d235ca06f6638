package corridor_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"causeway/core/corridor"
	"causeway/core/ident"
)

func TestTariff(t *testing.T) {
	// A platform pays the built-in terms with what was changed for all, and on top of
	// that what was changed for it alone; what is taken away leaves no trace.
	t.Parallel()
	way, err := corridor.Find("USD", "BTC", "")
	if err != nil {
		t.Fatal(err)
	}
	var all, here, there ident.Platform
	ident.Set(&here, uuid.UUID{15: 1})
	ident.Set(&there, uuid.UUID{15: 2})
	built := corridor.Tariff{Corridor: way}

	tariff := built.Put(all, corridor.Override{Fixed: new(int64(40)), MaxSending: new(int64(5_000))}).Put(here, corridor.Override{Fixed: new(int64(10))})

	for p, want := range map[ident.Platform][2]int64{all: {40, 5_000}, here: {10, 5_000}, there: {40, 5_000}} {
		if got := tariff.For(p); got.Fee.Fixed != want[0] || got.MaxSending != want[1] {
			t.Errorf("%s pays %+v, want %v", p, got, want)
		}
	}
	if back := tariff.Put(here, corridor.Override{}).Put(all, corridor.Override{}); back.For(here) != way.Terms || len(back.Own) != 0 {
		t.Errorf("with everything taken away it is %+v", back)
	}
	if tariff.For(here).Fee.Fixed != 10 || len(built.Own) != 0 {
		t.Error("a later tariff changed an earlier one")
	}

	// What is good for all may be bad for a platform with terms of its own, and is told so.
	if bad := tariff.Check(); len(bad) > 0 {
		t.Errorf("a good tariff: %v", bad)
	}
	broken := tariff.Put(here, corridor.Override{MinSending: new(int64(5_001))})
	if bad := broken.Check(); len(bad) != 1 || !strings.Contains(bad[0].Message, here.String()) {
		t.Errorf("limits that admit nothing: %v", bad)
	}
}
