package main

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// workFunc does one piece of work, such as a ramp.
type workFunc func(w *worker, ctx context.Context, due time.Time) (stepTimes, error)

// schedule returns when the next piece of work is due, and whether there is one.
type schedule func() (due time.Time, more bool)

// withoutPause makes every worker start again as soon as it is done, until stop is closed.
func withoutPause(stop <-chan struct{}) schedule {
	return func() (time.Time, bool) {
		select {
		case <-stop:
			return time.Time{}, false
		default:
			return time.Now(), true
		}
	}
}

// atFixedRate makes work due at a fixed rate, whether or not earlier work is done. Work that
// starts late because the service is slow has been waiting since it was due.
func atFixedRate(interval time.Duration, stop <-chan struct{}) schedule {
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

// limitedTo makes n pieces of work due now.
func limitedTo(n int64) schedule {
	var next atomic.Int64
	return func() (time.Time, bool) { return time.Now(), next.Add(1) <= n }
}

// stallTimeout is how long no work may finish before the run fails.
const stallTimeout = 30 * time.Second

// runWorkers does work with n workers on a schedule, and returns the times of all of it in no
// order. The first error ends it.
func runWorkers(ctx context.Context, n int, newWorker func(ctx context.Context, number int) (*worker, error), next schedule, do workFunc) ([]stepTimes, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workers := make([]*worker, n)
	for i := range workers {
		w, err := newWorker(ctx, i)
		if err != nil {
			return nil, cmp.Or(context.Cause(ctx), fmt.Errorf("worker %d: %w", i, err))
		}
		defer w.client.close()
		workers[i] = w
	}
	done := make([][]stepTimes, n)
	var finished atomic.Int64
	var all sync.WaitGroup
	for i, w := range workers {
		all.Go(func() {
			for {
				due, more := next()
				if !more {
					return
				}
				err := w.waitUntil(ctx, due)
				var m stepTimes
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
	watcher.Go(func() { cancelOnStall(ctx, cancel, &finished, watching) })
	all.Wait()
	close(watching)
	watcher.Wait()

	var results []stepTimes
	for _, times := range done {
		results = append(results, times...)
	}
	return results, context.Cause(ctx)
}

// cancelOnStall cancels the run if no work finishes any more.
func cancelOnStall(ctx context.Context, cancel context.CancelCauseFunc, finished *atomic.Int64, over <-chan struct{}) {
	poll := time.NewTicker(stallTimeout)
	defer poll.Stop()
	last := int64(-1)
	for {
		select {
		case <-over:
			return
		case <-ctx.Done():
			return
		case <-poll.C:
			now := finished.Load()
			if now == last {
				cancel(fmt.Errorf("no work has finished for %s", stallTimeout))
				return
			}
			last = now
		}
	}
}
