package ecb

import (
	"context"
	"time"
)

// RunAt is Run with a clock of the test's.
func (r *Rates) RunAt(ctx context.Context, after func(time.Duration) <-chan time.Time) {
	r.run(ctx, after)
}

// NoWeaker is the rule for redirects.
var NoWeaker = noWeaker
