package webhooks

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestGateOpensSlowly(t *testing.T) {
	t.Parallel()
	// An endpoint starts with a few deliveries side by side; each success allows one more.
	g, now := newGate(20), time.Unix(0, 0)
	for i := range 30 {
		if got, want := g.allows(now), min(firstWidth+i, 20); got != want {
			t.Errorf("after %d successes %d, want %d", i, got, want)
		}
		g.succeeded()
	}
}

func TestGateCloses(t *testing.T) {
	t.Parallel()
	// Failures in a row close the gate; then one probe at a time is allowed, each after
	// a longer rest, up to a bound that depends on whether anybody answers; one success
	// opens it, with the width of the beginning.
	for _, answered := range []bool{false, true} {
		g, now := newGate(64), time.Unix(0, 0)
		for range 64 {
			g.succeeded()
		}
		for i := range tolerance {
			if g.allows(now) == 0 || g.closed {
				t.Fatalf("closed after %d failures", i)
			}
			if closed := g.failed(now, answered, false); closed != (i == tolerance-1) {
				t.Fatalf("failure %d: closed %v", i+1, closed)
			}
		}
		// What was on its way when it closed does not count as a probe.
		if g.failed(now, answered, false); g.allows(now) != 0 || g.allows(now.Add(firstRest)) != 1 {
			t.Errorf("no probe after the first rest")
		}
		longest := time.Duration(0)
		for range 20 {
			rest := time.Duration(0)
			for g.allows(now.Add(rest)) == 0 {
				rest += firstRest
			}
			longest = max(longest, rest)
			now = now.Add(rest)
			g.failed(now, answered, true)
		}
		want := longestRest
		if answered {
			want = longestPace
		}
		if longest < want || longest > want+firstRest {
			t.Errorf("answered %v: rests up to %v, want %v", answered, longest, want)
		}
		if !g.succeeded() || g.allows(now) != firstWidth+1 {
			t.Errorf("after a success %d", g.allows(now))
		}
	}
}

func TestGateWidth(t *testing.T) {
	t.Parallel()
	// Whatever happens, the width stays between one and the most, and a gate that is
	// not closed lets something through.
	rapid.Check(t, func(t *rapid.T) {
		g, now := newGate(rapid.IntRange(1, 64).Draw(t, "most")), time.Unix(0, 0)
		for _, step := range rapid.SliceOf(rapid.IntRange(0, 3)).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 1000).Draw(t, "ms")) * time.Millisecond)
			probe := g.closed
			switch step {
			case 0:
				g.succeeded()
			case 1:
				g.failed(now, false, probe)
			default:
				g.failed(now, true, probe)
			}
			if g.width < 1 || g.width > g.most || !g.closed && g.allows(now) != g.width || g.until.Sub(now) > longestRest {
				t.Fatalf("%+v allows %d", g, g.allows(now))
			}
		}
	})
}
