package webhooks

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestCircuitBreaker_SuccessRaisesConcurrency(t *testing.T) {
	t.Parallel()
	// An endpoint starts with a few deliveries side by side; each success allows one more.
	g, now := newCircuitBreaker(20), time.Unix(0, 0)
	for i := range 30 {
		if got, want := g.allowed(now), min(initialConcurrency+i, 20); got != want {
			t.Errorf("after %d successes %d, want %d", i, got, want)
		}
		g.recordSuccess()
	}
}

func TestCircuitBreaker_OpensAfterFailures(t *testing.T) {
	t.Parallel()
	// Failures in a row close the gate; then one probe at a time is allowed, each after
	// a longer rest, up to a bound that depends on whether anybody answers; one success
	// opens it, with the width of the beginning.
	for _, answered := range []bool{false, true} {
		g, now := newCircuitBreaker(64), time.Unix(0, 0)
		for range 64 {
			g.recordSuccess()
		}
		for i := range failureThreshold {
			if g.allowed(now) == 0 || g.open {
				t.Fatalf("closed after %d failures", i)
			}
			if closed := g.recordFailure(now, answered, false); closed != (i == failureThreshold-1) {
				t.Fatalf("failure %d: closed %v", i+1, closed)
			}
		}
		// What was on its way when it closed does not count as a probe.
		if g.recordFailure(now, answered, false); g.allowed(now) != 0 || g.allowed(now.Add(initialProbeDelay)) != 1 {
			t.Errorf("no probe after the first rest")
		}
		longest := time.Duration(0)
		for range 20 {
			rest := time.Duration(0)
			for g.allowed(now.Add(rest)) == 0 {
				rest += initialProbeDelay
			}
			longest = max(longest, rest)
			now = now.Add(rest)
			g.recordFailure(now, answered, true)
		}
		want := maxProbeDelay
		if answered {
			want = maxProbeDelayAnswered
		}
		if longest < want || longest > want+initialProbeDelay {
			t.Errorf("answered %v: rests up to %v, want %v", answered, longest, want)
		}
		if !g.recordSuccess() || g.allowed(now) != initialConcurrency+1 {
			t.Errorf("after a success %d", g.allowed(now))
		}
	}
}

func TestCircuitBreaker_ConcurrencyStaysInBounds(t *testing.T) {
	t.Parallel()
	// Whatever happens, the width stays between one and the most, and a gate that is
	// not closed lets something through.
	rapid.Check(t, func(t *rapid.T) {
		g, now := newCircuitBreaker(rapid.IntRange(1, 64).Draw(t, "most")), time.Unix(0, 0)
		for _, step := range rapid.SliceOf(rapid.IntRange(0, 3)).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 1000).Draw(t, "ms")) * time.Millisecond)
			probe := g.open
			switch step {
			case 0:
				g.recordSuccess()
			case 1:
				g.recordFailure(now, false, probe)
			default:
				g.recordFailure(now, true, probe)
			}
			if g.concurrency < 1 || g.concurrency > g.maxConcurrency || !g.open && g.allowed(now) != g.concurrency || g.nextProbe.Sub(now) > maxProbeDelay {
				t.Fatalf("%+v allows %d", g, g.allowed(now))
			}
		}
	})
}
