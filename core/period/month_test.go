package period_test

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/period"
)

func TestMonthOf(t *testing.T) {
	t.Parallel()
	// A time in any zone is in its UTC month: at or after its start and before its end.
	rapid.Check(t, func(t *rapid.T) {
		zone := time.FixedZone("", rapid.IntRange(-12, 14).Draw(t, "hours")*3600)
		at := time.UnixMicro(rapid.Int64Range(946684800e6, 4102444800e6).Draw(t, "micros")).In(zone)
		m := period.MonthOf(at)
		if at.Before(m.Start()) || !at.Before(m.End()) {
			t.Errorf("%s is in %s, from %s to %s", at, m, m.Start(), m.End())
		}
		if m.Next().Previous() != m || m.Next().Start() != m.End() || !m.Before(m.Next()) || m.Next().Before(m) {
			t.Errorf("the months around %s are not in order", m)
		}
		if again, err := period.ParseMonth(m.String()); err != nil || again != m {
			t.Errorf("%s reads as %s, %v", m, again, err)
		}
	})
}

func TestParseMonth_Invalid(t *testing.T) {
	t.Parallel()
	// Only YYYY-MM from 2000-01 on is a month.
	for _, text := range []string{"", "2026", "2026-13", "2026-00", "2026-1", "26-10", "2026-10-01", " 2026-10", "1999-12", "2026-10x"} {
		if m, err := period.ParseMonth(text); !errors.Is(err, period.ErrInvalidMonth) {
			t.Errorf("%q: %s, %v", text, m, err)
		}
	}
	if (period.Month{}).String() != "" || !(period.Month{}).Start().IsZero() {
		t.Error("the zero month is not empty")
	}
}
