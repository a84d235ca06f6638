package jobs

import (
	"math/rand/v2"
	"time"
)

// DefaultMaxAttempts of a job take about four hours.
const DefaultMaxAttempts = 30

const (
	minRetryDelay = time.Second
	maxRetryDelay = 15 * time.Minute
	// outageDelay is the delay while the store is not available. It does not grow, and no attempt is
	// counted.
	outageDelay = 5 * time.Second
)

// RetryPolicy says when failed jobs are run again. The zero value has defaults.
type RetryPolicy struct {
	// MaxAttempts is the number of attempts after which a job is dead; DefaultMaxAttempts if zero.
	MaxAttempts int
	// Random returns a number from 0 to 1, to spread the attempts; nil for the usual generator.
	Random func() float64
}

func (p RetryPolicy) maxAttempts() int {
	if p.MaxAttempts == 0 {
		return DefaultMaxAttempts
	}
	return p.MaxAttempts
}

// Next returns when a job is due again after so many attempts, or that it is dead. The delay is
// about one second after the first attempt, doubles with every further one up to 15 minutes, and is
// shortened at random by up to half, so that jobs that failed together are not retried together.
func (p RetryPolicy) Next(attempts int, now time.Time) (due time.Time, dead bool) {
	if attempts >= p.maxAttempts() {
		return time.Time{}, true
	}
	return now.Add(p.shorten(min(minRetryDelay<<min(max(attempts-1, 0), 20), maxRetryDelay))), false
}

// afterOutage returns when a job is due again that failed because the store was not available.
func (p RetryPolicy) afterOutage(now time.Time) time.Time { return now.Add(p.shorten(outageDelay)) }

// shorten shortens a delay at random by up to half.
func (p RetryPolicy) shorten(delay time.Duration) time.Duration {
	random := rand.Float64
	if p.Random != nil {
		random = p.Random
	}
	return delay - time.Duration(random()*float64(delay)/2)
}
