package ecb

import (
	"context"
	"time"
)

// RunWithTimer is like Run with the test's timer.
func (r *Rates) RunWithTimer(ctx context.Context, after func(time.Duration) <-chan time.Time) {
	r.run(ctx, after)
}

// CheckRedirect exports checkRedirect.
var CheckRedirect = checkRedirect
