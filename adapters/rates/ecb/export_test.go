package ecb

import (
	"context"
	"time"
)

// RunWithTimer is Run with a clock of the test's.
func (r *Rates) RunWithTimer(ctx context.Context, after func(time.Duration) <-chan time.Time) {
	r.run(ctx, after)
}

// CheckRedirect is the rule for redirects.
var CheckRedirect = checkRedirect
