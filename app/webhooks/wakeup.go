package webhooks

import (
	"context"
	"sync"
	"time"
)

// wakeup wakes the desk. Rung while nobody waits, it is heard by the next who does.
type wakeup struct {
	mu        sync.Mutex
	pending   bool
	newEvents bool // rung because there are new events
	cancel    context.CancelFunc
}

func (b *wakeup) wake(events bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending, b.newEvents = true, b.newEvents || events
	if b.cancel != nil {
		b.cancel()
	}
}

// wait calls `by` with a context that ends after d or when the bell rings, and tells
// whether there are new events.
func (b *wakeup) wait(ctx context.Context, d time.Duration, by func(context.Context) error) (events bool, err error) {
	b.mu.Lock()
	if !b.pending {
		var until context.Context
		until, b.cancel = context.WithTimeout(ctx, d)
		b.mu.Unlock()
		err = by(until)
		b.mu.Lock()
		b.cancel()
		b.cancel = nil
	}
	defer b.mu.Unlock()
	events, b.pending, b.newEvents = b.newEvents, false, false
	return events, err
}
