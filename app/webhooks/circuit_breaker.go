package webhooks

import "time"

const (
	// failureThreshold is how many attempts in a row may fail before an endpoint is only probed.
	failureThreshold = 32
	// initialProbeDelay is how long it is left alone before the first probe; it doubles with
	// each that fails.
	initialProbeDelay = 250 * time.Millisecond
	// maxProbeDelay bounds that for one that does not answer at all.
	maxProbeDelay = 30 * time.Second
	// maxProbeDelayAnswered bounds it for one that answers, though never as it should: perhaps
	// only the events it gets just now are not to its liking.
	maxProbeDelayAnswered = time.Second
	// initialConcurrency is how many deliveries run side by side at first; each that succeeds
	// allows one more.
	initialConcurrency = 8
)

// circuitBreaker decides how many deliveries may run side by side to one endpoint. It opens
// slowly and closes quickly: an endpoint that is dead costs one attempt now and then,
// however many events wait for it.
type circuitBreaker struct {
	maxConcurrency int // the width when all is well
	concurrency    int

	failures     int // in a row
	open         bool
	failedProbes int       // failed since it was closed
	nextProbe    time.Time // no probe before, while closed; on the machine's clock
}

func newCircuitBreaker(most int) circuitBreaker {
	return circuitBreaker{maxConcurrency: most, concurrency: min(initialConcurrency, most)}
}

// allowed is how many deliveries may run now.
func (g *circuitBreaker) allowed(now time.Time) int {
	switch {
	case !g.open:
		return g.concurrency
	case now.Before(g.nextProbe):
		return 0
	default:
		return 1
	}
}

// recordSuccess is told of a delivery that was accepted; it tells whether the gate was closed.
func (g *circuitBreaker) recordSuccess() (opened bool) {
	opened = g.open
	if g.open {
		g.concurrency = min(initialConcurrency, g.maxConcurrency)
	}
	g.concurrency = min(g.concurrency+1, g.maxConcurrency)
	g.failures, g.open, g.failedProbes = 0, false, 0
	return opened
}

// recordFailure is told of one that was not, and whether there was an answer at all; probe
// tells that it was begun while the gate was closed. It tells whether the gate closed.
func (g *circuitBreaker) recordFailure(now time.Time, answered, probe bool) (closed bool) {
	g.failures++
	if !answered {
		g.concurrency = max(g.concurrency/2, 1)
	}
	switch {
	case !g.open && g.failures >= failureThreshold:
		g.open, g.failedProbes, g.nextProbe = true, 0, now.Add(initialProbeDelay)
		return true
	case g.open && probe:
		g.failedProbes++
		longest := maxProbeDelay
		if answered {
			longest = maxProbeDelayAnswered
		}
		g.nextProbe = now.Add(min(initialProbeDelay<<min(g.failedProbes, 16), longest))
	}
	return false
}
