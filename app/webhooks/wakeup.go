package webhooks

import (
	"context"
	"sync"
	"time"

	"causeway/core/ident"
	"causeway/ports"
)

// maxHandedOver bounds the events that are handed over and not taken yet, with their bodies of some kB. Others are fetched.
const maxHandedOver = 2048

// wakeup wakes the dispatcher. If it does not wait, its next wait returns at once.
type wakeup struct {
	mu      sync.Mutex
	pending bool
	news
	cancel context.CancelFunc
}

// news is what the dispatcher is to look at.
type news struct {
	newEvents map[ident.Platform]bool // platforms that may have new events
	committed []ports.CommittedWebhook
	changed   bool // the database is another one
}

// mayHave notes that a platform may have new events.
func (n *news) mayHave(p ident.Platform) {
	if n.newEvents == nil {
		n.newEvents = map[ident.Platform]bool{}
	}
	n.newEvents[p] = true
}

// wake wakes the dispatcher, and names the platforms that may have new events.
func (w *wakeup) wake(newEvents ...ident.Platform) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range newEvents {
		w.mayHave(p)
	}
	w.notify()
}

// handOver wakes the dispatcher with committed events.
func (w *wakeup) handOver(committed []ports.CommittedWebhook) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range committed {
		if len(w.committed) < maxHandedOver {
			w.committed = append(w.committed, e)
		} else {
			w.mayHave(e.Platform)
		}
	}
	w.notify()
}

// forget drops what was handed over, and wakes the dispatcher to do the same.
func (w *wakeup) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.news = news{changed: true}
	w.notify()
}

func (w *wakeup) notify() {
	w.pending = true
	if w.cancel != nil {
		w.cancel()
	}
}

// wait calls block with a context that is done after d or when the dispatcher is woken, and returns why.
func (w *wakeup) wait(ctx context.Context, d time.Duration, block func(context.Context) error) (latest news, err error) {
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
	latest, w.pending, w.news = w.news, false, news{}
	return latest, err
}
