package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// workFunc does one piece of work, such as a ramp.
type workFunc func(w *worker, ctx context.Context, due time.Time) (stepTimes, error)

// schedule returns when the next piece of work is due, and whether there is one.
type schedule func() (due time.Time, more bool)

// newSchedule makes work due at a fixed rate until stop is closed, whether or not earlier work
// is done: work that starts late because the service is slow has been waiting since it was
// due. With no interval every worker starts again as soon as it is done.
func newSchedule(interval time.Duration, stop <-chan struct{}) schedule {
	begin := time.Now()
	var next atomic.Int64
	return func() (time.Time, bool) {
		select {
		case <-stop:
			return time.Time{}, false
		default:
		}
		if interval == 0 {
			return time.Now(), true
		}
		return begin.Add(time.Duration(next.Add(1)-1) * interval), true
	}
}

// stallTimeout is how long no work may finish before the run fails.
const stallTimeout = 30 * time.Second

// runWorkers does work with n workers on a schedule, and returns the times of all of it in no
// order. The first error ends it, as does a stall.
func runWorkers(ctx context.Context, n int, newWorker func(ctx context.Context, number int) (*worker, error), next schedule, do workFunc) (all []stepTimes, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workers := make([]*worker, n)
	for i := range workers {
		if workers[i], err = newWorker(ctx, i); err != nil {
			return nil, cmp.Or(context.Cause(ctx), fmt.Errorf("worker %d: %w", i, err))
		}
		defer workers[i].client.close()
	}
	stall := time.AfterFunc(stallTimeout, func() { cancel(fmt.Errorf("no work has finished for %s", stallTimeout)) })
	defer stall.Stop()
	done := make([][]stepTimes, n)
	var running sync.WaitGroup
	for i, w := range workers {
		running.Go(func() {
			for due, more := next(); more; due, more = next() {
				err := sleep(ctx, time.Until(due))
				var times stepTimes
				if err == nil {
					times, err = do(w, ctx, due)
				}
				if err != nil {
					cancel(err)
					return
				}
				done[i] = append(done[i], times)
				stall.Reset(stallTimeout)
			}
		})
	}
	running.Wait()
	return slices.Concat(done...), context.Cause(ctx)
}
