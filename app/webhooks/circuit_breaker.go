package webhooks

import "time"

const (
	// failureThreshold is how many attempts in a row may fail before the circuit breaker opens.
	failureThreshold = 32
	// initialProbeDelay is how long an open circuit breaker waits before the first probe. The
	// delay doubles with each failed probe.
	initialProbeDelay = 250 * time.Millisecond
	// maxProbeDelay is the maximum delay for an endpoint that does not respond at all.
	maxProbeDelay = 30 * time.Second
	// maxProbeDelayResponding is the maximum delay for an endpoint that responds with errors: it may
	// only reject the events it is sent just now.
	maxProbeDelayResponding = time.Second
	// initialConcurrency is how many deliveries run at the same time at first. Each that succeeds
	// allows one more.
	initialConcurrency = 8
	// internalErrorThreshold is how many attempts in a row may fail in this service before it
	// makes only one in each internalErrorDelay. Unlike an open circuit breaker this says nothing
	// about the endpoint.
	internalErrorThreshold = 4
	internalErrorDelay     = time.Second
)

// circuitBreaker decides how many deliveries to one endpoint may run at the same time. It starts low,
// grows with every success, and allows single probes only while it is open: an endpoint that is
// down costs one attempt now and then, however many events wait for it.
type circuitBreaker struct {
	maxConcurrency int // limit for concurrency
	concurrency    int

	failures     int // in a row
	open         bool
	failedProbes int       // since it opened
	nextProbe    time.Time // time of the next probe while open, on the machine clock

	internalErrors int       // in a row
	nextAttempt    time.Time // after internalErrorThreshold of them, on the machine clock
}

func newCircuitBreaker(maxConcurrency int) circuitBreaker {
	return circuitBreaker{maxConcurrency: maxConcurrency, concurrency: min(initialConcurrency, maxConcurrency)}
}

// allowed returns how many deliveries may run now.
func (b *circuitBreaker) allowed(now time.Time) int {
	switch {
	case b.open && now.Before(b.nextProbe), b.internalErrors >= internalErrorThreshold && now.Before(b.nextAttempt):
		return 0
	case b.open, b.internalErrors >= internalErrorThreshold:
		return 1
	default:
		return b.concurrency
	}
}

// recordSuccess records an accepted delivery and closes the circuit breaker. It reports whether it
// was open.
func (b *circuitBreaker) recordSuccess() (wasOpen bool) {
	wasOpen = b.open
	if b.open {
		b.concurrency = min(initialConcurrency, b.maxConcurrency)
	}
	b.concurrency = min(b.concurrency+1, b.maxConcurrency)
	b.failures, b.open, b.failedProbes, b.internalErrors = 0, false, 0, 0
	return wasOpen
}

// recordFailure records a failed delivery. responded is whether there was a response, and probe
// whether the delivery started while the circuit breaker was open. It reports whether the failure
// opened the circuit breaker.
func (b *circuitBreaker) recordFailure(now time.Time, responded, probe bool) (opened bool) {
	b.failures++
	b.internalErrors = 0
	if !responded {
		b.concurrency = max(b.concurrency/2, 1)
	}
	switch {
	case !b.open && b.failures >= failureThreshold:
		b.open, b.failedProbes, b.nextProbe = true, 0, now.Add(initialProbeDelay)
		return true
	case b.open && probe:
		b.failedProbes++
		maxDelay := maxProbeDelay
		if responded {
			maxDelay = maxProbeDelayResponding
		}
		b.nextProbe = now.Add(min(initialProbeDelay<<min(b.failedProbes, 16), maxDelay))
	}
	return false
}

// recordInternalError records a delivery that failed in this service. It reports whether it is the
// first in a row.
func (b *circuitBreaker) recordInternalError(now time.Time) (first bool) {
	b.internalErrors++
	b.nextAttempt = now.Add(internalErrorDelay)
	return b.internalErrors == 1
}
