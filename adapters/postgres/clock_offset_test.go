package postgres

import (
	"testing"
	"time"
)

func TestOffsetBetween_SmallestDifferenceOfRoundTrip(t *testing.T) {
	t.Parallel()
	// A reading during the round trip proves no difference; outside it, only the part that the
	// round trip does not explain.
	start := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct{ roundTrip, reading, want time.Duration }{
		{time.Second, 0, 0},
		{time.Second, time.Second, 0},
		{3 * time.Second, 2 * time.Second, 0},
		{time.Second, 4 * time.Second, -3 * time.Second},
		{time.Second, -3 * time.Second, 3 * time.Second},
	} {
		if got := offsetBetween(start, start.Add(c.roundTrip), start.Add(c.reading)); got != c.want {
			t.Errorf("round trip of %s, reading after %s: %s, want %s", c.roundTrip, c.reading, got, c.want)
		}
	}
}
