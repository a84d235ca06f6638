package main

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// work is one piece of load: a ramp, or a quote alone.
type work func(w *worker, ctx context.Context, due time.Time) (moments, error)

// pace says when the next piece of work is due; no more work is false.
type pace func() (due time.Time, more bool)

// asFast makes every worker begin again as soon as it is done, until stop is closed.
func asFast(stop <-chan struct{}) pace {
	return func() (time.Time, bool) {
		select {
		case <-stop:
			return time.Time{}, false
		default:
			return time.Now(), true
		}
	}
}

// every makes work due at a fixed rate, whether or not earlier work is done: what
// begins late because the service was slow has been waiting since it was due.
func every(interval time.Duration, stop <-chan struct{}) pace {
	begin := time.Now()
	var next atomic.Int64
	return func() (time.Time, bool) {
		select {
		case <-stop:
			return time.Time{}, false
		default:
			return begin.Add(time.Duration(next.Add(1)-1) * interval), true
		}
	}
}

// upTo makes a number of pieces of work, and no more.
func upTo(n int64) pace {
	var next atomic.Int64
	return func() (time.Time, bool) { return time.Now(), next.Add(1) <= n }
}

// stuck is how long nothing may be finished before the run is given up.
const stuck = 30 * time.Second

// crew does work with n workers at the pace, and returns the moments of all of it,
// in no order. The first mistake ends it.
func crew(ctx context.Context, n int, hire func(ctx context.Context, number int) (*worker, error), p pace, do work) ([]moments, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workers := make([]*worker, n)
	for i := range workers {
		w, err := hire(ctx, i)
		if err != nil {
			return nil, cmp.Or(context.Cause(ctx), fmt.Errorf("worker %d: %w", i, err))
		}
		defer w.client.close()
		workers[i] = w
	}
	done := make([][]moments, n)
	var finished atomic.Int64
	var all sync.WaitGroup
	for i, w := range workers {
		all.Go(func() {
			for {
				due, more := p()
				if !more {
					return
				}
				err := w.pause(ctx, due)
				var m moments
				if err == nil {
					m, err = do(w, ctx, due)
				}
				if err != nil {
					cancel(err)
					return
				}
				done[i] = append(done[i], m)
				finished.Add(1)
			}
		})
	}
	watching := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() { watch(ctx, cancel, &finished, watching) })
	all.Wait()
	close(watching)
	watcher.Wait()

	var results []moments
	for _, some := range done {
		results = append(results, some...)
	}
	return results, context.Cause(ctx)
}

// watch gives up when nothing is finished any more.
func watch(ctx context.Context, cancel context.CancelCauseFunc, finished *atomic.Int64, over <-chan struct{}) {
	look := time.NewTicker(stuck)
	defer look.Stop()
	last := int64(-1)
	for {
		select {
		case <-over:
			return
		case <-ctx.Done():
			return
		case <-look.C:
			now := finished.Load()
			if now == last {
				cancel(fmt.Errorf("nothing was finished for %s", stuck))
				return
			}
			last = now
		}
	}
}
