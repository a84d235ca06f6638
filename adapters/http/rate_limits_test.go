package httpapi

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestRateLimit_PerToken(t *testing.T) {
	t.Parallel()
	// When a token has used up its burst it is told when to come back; another token is
	// served meanwhile.
	f := newFixture(t, func(c *Config) { c.Rate = Rate{PerSecond: 0.1, Burst: 3} })
	for range 3 {
		if got := f.do("GET", "/parcels", ""); got.status != 200 {
			t.Fatalf("within the burst: %d %s", got.status, got.body)
		}
	}

	refused, other := f.do("GET", "/parcels", ""), f.do("GET", "/parcels", "", asClient("viewer"))

	if refused.status != 429 || refused.error.Code != "RATE_LIMITED" || refused.header.Get("Retry-After") != "10" {
		t.Errorf("got %d %v %s", refused.status, refused.header, refused.body)
	}
	if other.status != 200 {
		t.Errorf("another token: %d", other.status)
	}
}

func TestLimiters_RateHoldsInAnyWindow(t *testing.T) {
	t.Parallel()
	// However requests come, in no stretch of time more pass than the burst and what
	// the rate allows in it; and who waits as long as he is told passes.
	rapid.Check(t, func(t *rapid.T) {
		r := Rate{PerSecond: rapid.Float64Range(0.1, 100).Draw(t, "rate"), Burst: rapid.IntRange(1, 20).Draw(t, "burst")}
		l, now := newLimiters[string](r), time.Unix(1e9, 0)
		var passed []time.Time
		for range rapid.IntRange(1, 60).Draw(t, "requests") {
			now = now.Add(time.Duration(rapid.IntRange(0, 500).Draw(t, "gap")) * time.Millisecond)
			wait := l.take("k", now)
			if wait == 0 {
				passed = append(passed, now)
				continue
			}
			if rapid.Bool().Draw(t, "patient") {
				now = now.Add(wait + time.Millisecond)
				if again := l.take("k", now); again != 0 {
					t.Fatalf("waited %s, and was told to wait %s", wait, again)
				}
				passed = append(passed, now)
			}
		}
		for i := range passed {
			for j := i; j < len(passed); j++ {
				allowed := float64(r.Burst) + r.PerSecond*passed[j].Sub(passed[i]).Seconds() + 1e-6
				if float64(j-i+1) > allowed {
					t.Fatalf("%d passed in %s, allowed %.2f", j-i+1, passed[j].Sub(passed[i]), allowed)
				}
			}
		}
	})
}

func TestLimiters_IdleKeysAreRemoved(t *testing.T) {
	t.Parallel()
	// Keys that are allowed everything again go when new ones come; a key that still
	// has to wait stays.
	l, now := newLimiters[string](Rate{PerSecond: 1, Burst: 100}), time.Unix(1e9, 0)
	for i := range 1000 {
		l.take(fmt.Sprint("old", i), now)
	}
	for range 100 {
		l.take("busy", now.Add(sweepInterval))
	}

	for i := range 1000 {
		l.take(fmt.Sprint("new", i), now.Add(sweepInterval+time.Second))
	}

	if n := l.len(); n > 1001 {
		t.Errorf("%d keys are remembered", n)
	}
	if l.peek("busy", now.Add(sweepInterval+10*time.Millisecond)) == 0 {
		t.Error("the busy key was forgotten")
	}
}

func TestLimiters_KeyCountIsBounded(t *testing.T) {
	t.Parallel()
	// Whoever sends ever new keys makes us forget some, and does not fill the memory.
	l, now := newLimiters[int](Rate{PerSecond: 0.001, Burst: 1}), time.Unix(1e9, 0)

	for i := range maxKeysPerShard * len(l.shards) * 5 / 4 {
		l.take(i, now)
	}

	if n := l.len(); n > maxKeysPerShard*len(l.shards) {
		t.Errorf("%d keys are remembered, at most %d may be", n, maxKeysPerShard*len(l.shards))
	}
}
