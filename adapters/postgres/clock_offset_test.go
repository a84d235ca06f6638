package postgres

import (
	"sync/atomic"
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

func TestDB_CheckClockAllowsTwoSeconds(t *testing.T) {
	t.Parallel()
	// A difference of up to two seconds is allowed, in either direction.
	db := DB{clockOffset: new(atomic.Int64)}
	for offset, allowed := range map[time.Duration]bool{0: true, 2 * time.Second: true, -2 * time.Second: true, 2*time.Second + 1: false,
		-2*time.Second - 1: false} {
		db.clockOffset.Store(int64(offset))
		if err := db.CheckClock(); (err == nil) != allowed {
			t.Errorf("a difference of %s: %v", offset, err)
		}
	}
}
