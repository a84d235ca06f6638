package webhooks

import (
	"context"
	"sync"
	"time"
)

// bell wakes the desk. Rung while nobody waits, it is heard by the next who does.
type bell struct {
	mu     sync.Mutex
	rung   bool
	events bool // rung because there are new events
	cancel context.CancelFunc
}

func (b *bell) ring(events bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rung, b.events = true, b.events || events
	if b.cancel != nil {
		b.cancel()
	}
}

// wait calls `by` with a context that ends after d or when the bell rings, and tells
// whether there are new events.
func (b *bell) wait(ctx context.Context, d time.Duration, by func(context.Context) error) (events bool, err error) {
	b.mu.Lock()
	if !b.rung {
		var until context.Context
		until, b.cancel = context.WithTimeout(ctx, d)
		b.mu.Unlock()
		err = by(until)
		b.mu.Lock()
		b.cancel()
		b.cancel = nil
	}
	defer b.mu.Unlock()
	events, b.rung, b.events = b.events, false, false
	return events, err
}
