package webhooks

import (
	"context"
	"sync"
	"time"

	"causeway/core/ident"
)

// wakeup wakes the dispatcher. If it does not wait, its next wait returns at once.
type wakeup struct {
	mu        sync.Mutex
	pending   bool
	newEvents map[ident.Platform]bool // platforms that may have new events
	cancel    context.CancelFunc
}

// wake wakes the dispatcher, and names the platforms that may have new events.
func (w *wakeup) wake(newEvents ...ident.Platform) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = true
	for _, p := range newEvents {
		if w.newEvents == nil {
			w.newEvents = map[ident.Platform]bool{}
		}
		w.newEvents[p] = true
	}
	if w.cancel != nil {
		w.cancel()
	}
}

// wait calls block with a context that is done after d or when wake is called, and returns the platforms
// that may have new events.
func (w *wakeup) wait(ctx context.Context, d time.Duration,
	block func(context.Context) error) (newEvents map[ident.Platform]bool, err error) {
	w.mu.Lock()
	if !w.pending {
		var waitCtx context.Context
		waitCtx, w.cancel = context.WithTimeout(ctx, d)
		w.mu.Unlock()
		err = block(waitCtx)
		w.mu.Lock()
		w.cancel()
		w.cancel = nil
	}
	defer w.mu.Unlock()
	newEvents, w.pending, w.newEvents = w.newEvents, false, nil
	return newEvents, err
}
