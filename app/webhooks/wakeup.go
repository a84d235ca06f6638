package webhooks

import (
	"context"
	"sync"
	"time"
)

// wakeup wakes the dispatcher. If it does not wait, its next wait returns at once.
type wakeup struct {
	mu        sync.Mutex
	pending   bool
	newEvents bool // woken because there are new events
	cancel    context.CancelFunc
}

func (w *wakeup) wake(newEvents bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending, w.newEvents = true, w.newEvents || newEvents
	if w.cancel != nil {
		w.cancel()
	}
}

// wait calls block with a context that is done after d or when wake is called, and reports whether
// there are new events.
func (w *wakeup) wait(ctx context.Context, d time.Duration, block func(context.Context) error) (newEvents bool, err error) {
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
	newEvents, w.pending, w.newEvents = w.newEvents, false, false
	return newEvents, err
}
