package webhooks

import "time"

const (
	// tolerance is how many attempts in a row may fail before an endpoint is only probed.
	tolerance = 32
	// firstRest is how long it is left alone before the first probe; it doubles with
	// each that fails.
	firstRest = 250 * time.Millisecond
	// longestRest bounds that for one that does not answer at all.
	longestRest = 30 * time.Second
	// longestPace bounds it for one that answers, though never as it should: perhaps
	// only the events it gets just now are not to its liking.
	longestPace = time.Second
	// firstWidth is how many deliveries run side by side at first; each that succeeds
	// allows one more.
	firstWidth = 8
)

// gate decides how many deliveries may run side by side to one endpoint. It opens
// slowly and closes quickly: an endpoint that is dead costs one attempt now and then,
// however many events wait for it.
type gate struct {
	most  int // the width when all is well
	width int

	failures int // in a row
	closed   bool
	probes   int       // failed since it was closed
	until    time.Time // no probe before, while closed; on the machine's clock
}

func newGate(most int) gate { return gate{most: most, width: min(firstWidth, most)} }

// allows is how many deliveries may run now.
func (g *gate) allows(now time.Time) int {
	switch {
	case !g.closed:
		return g.width
	case now.Before(g.until):
		return 0
	default:
		return 1
	}
}

// succeeded is told of a delivery that was accepted; it tells whether the gate was closed.
func (g *gate) succeeded() (opened bool) {
	opened = g.closed
	if g.closed {
		g.width = min(firstWidth, g.most)
	}
	g.width = min(g.width+1, g.most)
	g.failures, g.closed, g.probes = 0, false, 0
	return opened
}

// failed is told of one that was not, and whether there was an answer at all; probe
// tells that it was begun while the gate was closed. It tells whether the gate closed.
func (g *gate) failed(now time.Time, answered, probe bool) (closed bool) {
	g.failures++
	if !answered {
		g.width = max(g.width/2, 1)
	}
	switch {
	case !g.closed && g.failures >= tolerance:
		g.closed, g.probes, g.until = true, 0, now.Add(firstRest)
		return true
	case g.closed && probe:
		g.probes++
		longest := longestRest
		if answered {
			longest = longestPace
		}
		g.until = now.Add(min(firstRest<<min(g.probes, 16), longest))
	}
	return false
}
