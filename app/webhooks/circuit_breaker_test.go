package webhooks

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestCircuitBreaker_SuccessRaisesConcurrency(t *testing.T) {
	t.Parallel()
	// An endpoint starts with a few concurrent deliveries; each success allows one more.
	breaker, now := newCircuitBreaker(20), time.Unix(0, 0)
	for i := range 30 {
		if got, want := breaker.allowed(now), min(initialConcurrency+i, 20); got != want {
			t.Errorf("after %d successes %d, want %d", i, got, want)
		}
		breaker.recordSuccess()
	}
}

func TestCircuitBreaker_OpensAfterFailures(t *testing.T) {
	t.Parallel()
	// Failures in a row open the circuit breaker. Then one probe at a time is allowed, each after
	// a longer delay, up to a maximum that depends on whether the endpoint responds. One success
	// closes it, with the initial concurrency.
	for _, responded := range []bool{false, true} {
		breaker, now := newCircuitBreaker(64), time.Unix(0, 0)
		for range 64 {
			breaker.recordSuccess()
		}
		for i := range failureThreshold {
			if breaker.allowed(now) == 0 || breaker.open {
				t.Fatalf("open after %d failures", i)
			}
			if opened := breaker.recordFailure(now, responded, false); opened != (i == failureThreshold-1) {
				t.Fatalf("failure %d: opened %v", i+1, opened)
			}
		}
		// A delivery that started before it opened does not count as a probe.
		if breaker.recordFailure(now, responded, false); breaker.allowed(now) != 0 || breaker.allowed(now.Add(initialProbeDelay)) != 1 {
			t.Errorf("no probe after the first delay")
		}
		maxDelay := time.Duration(0)
		for range 20 {
			delay := time.Duration(0)
			for breaker.allowed(now.Add(delay)) == 0 {
				delay += initialProbeDelay
			}
			maxDelay = max(maxDelay, delay)
			now = now.Add(delay)
			breaker.recordFailure(now, responded, true)
		}
		want := maxProbeDelay
		if responded {
			want = maxProbeDelayResponding
		}
		if maxDelay < want || maxDelay > want+initialProbeDelay {
			t.Errorf("responded %v: delays up to %v, want %v", responded, maxDelay, want)
		}
		if !breaker.recordSuccess() || breaker.allowed(now) != initialConcurrency+1 {
			t.Errorf("after a success %d", breaker.allowed(now))
		}
	}
}

func TestCircuitBreaker_ConcurrencyStaysInBounds(t *testing.T) {
	t.Parallel()
	// After any successes and failures the concurrency is between one and its maximum, and a closed
	// circuit breaker allows deliveries.
	rapid.Check(t, func(t *rapid.T) {
		breaker, now := newCircuitBreaker(rapid.IntRange(1, 64).Draw(t, "maximum")), time.Unix(0, 0)
		for _, step := range rapid.SliceOf(rapid.IntRange(0, 3)).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 1000).Draw(t, "ms")) * time.Millisecond)
			probe := breaker.open
			switch step {
			case 0:
				breaker.recordSuccess()
			case 1:
				breaker.recordFailure(now, false, probe)
			default:
				breaker.recordFailure(now, true, probe)
			}
			if breaker.concurrency < 1 || breaker.concurrency > breaker.maxConcurrency || !breaker.open &&
				breaker.allowed(now) != breaker.concurrency || breaker.nextProbe.Sub(now) > maxProbeDelay {
				t.Fatalf("%+v allows %d", breaker, breaker.allowed(now))
			}
		}
	})
}

func TestCircuitBreaker_InternalErrorsSlowDownAndDoNotOpen(t *testing.T) {
	t.Parallel()
	// Attempts that fail in this service never open the circuit breaker. After some in a row one at a
	// time is made each second, until the endpoint responds in any way.
	for name, respond := range map[string]func(*circuitBreaker, time.Time){
		"accepted": func(b *circuitBreaker, _ time.Time) { b.recordSuccess() },
		"refused":  func(b *circuitBreaker, now time.Time) { b.recordFailure(now, true, false) },
	} {
		breaker, now := newCircuitBreaker(64), time.Unix(0, 0)
		for i := range 2 * failureThreshold {
			if slow := breaker.allowed(now) == 0; slow != (i >= internalErrorThreshold) {
				t.Fatalf("%s: after %d errors %d attempts are allowed", name, i, breaker.allowed(now))
			}
			if first := breaker.recordInternalError(now); first != (i == 0) || breaker.open || breaker.failures != 0 {
				t.Fatalf("%s: error %d: first %v, %+v", name, i, first, breaker)
			}
		}
		if now = now.Add(internalErrorDelay); breaker.allowed(now) != 1 {
			t.Errorf("%s: after the delay %d attempts are allowed, want 1", name, breaker.allowed(now))
		}
		if respond(&breaker, now); breaker.allowed(now) < initialConcurrency || breaker.internalErrors != 0 {
			t.Errorf("%s: afterwards %+v", name, breaker)
		}
	}
}
