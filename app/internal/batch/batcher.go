// Package group decides many commands in one unit of work. What a database asks
// for a commit it asks once for the whole group, so the more there is to do, the
// less each of it costs.
//
// The rules: a command that is refused fails alone; a group that fails as a whole
// is run again one by one; nobody is answered before the commit; and a command
// that comes while nothing runs starts at once.
package batch

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// Result is what became of one command.
type Result[R any] struct {
	Value R
	Err   error
}

// RunFunc decides the commands of one group and returns a result for each, or an error
// for the group. It is called with a context that no single caller can cancel.
type RunFunc[C, R any] func(ctx context.Context, commands []C) ([]Result[R], error)

// Batcher gathers commands that come at the same time into groups.
type Batcher[C, R any] struct {
	run            RunFunc[C, R]
	maxSize        int
	maxConcurrency int
	maxDelay       time.Duration

	mu      sync.Mutex
	waiting []call[C, R]
	running int
}

type call[C, R any] struct {
	command C
	done    chan Result[R]
}

// Options shape a collector. The zero value of each is usable.
type Options struct {
	// MaxSize commands in a group; 128 when zero.
	MaxSize int
	// MaxConcurrency is how many groups may run side by side; 1 when zero.
	MaxConcurrency int
	// MaxDelay is how long a lane waits for company when commands came in while its
	// last group ran. A lone command never waits.
	MaxDelay time.Duration
}

// New makes a collector in front of run.
func New[C, R any](o Options, run RunFunc[C, R]) *Batcher[C, R] {
	if o.MaxSize == 0 {
		o.MaxSize = 128
	}
	if o.MaxConcurrency == 0 {
		o.MaxConcurrency = 1
	}
	return &Batcher[C, R]{run: run, maxSize: o.MaxSize, maxConcurrency: o.MaxConcurrency, maxDelay: o.MaxDelay}
}

// Do hands one command in and waits for its result. When ctx ends first the
// command still runs to its end, and the caller does not learn what became of it.
func (c *Batcher[C, R]) Do(ctx context.Context, command C) (R, error) {
	mine := call[C, R]{command, make(chan Result[R], 1)}
	c.mu.Lock()
	c.waiting = append(c.waiting, mine)
	start := c.running < c.maxConcurrency
	if start {
		c.running++
	}
	c.mu.Unlock()
	if start {
		go c.runBatches(context.WithoutCancel(ctx))
	}
	select {
	case result := <-mine.done:
		return result.Value, result.Err
	case <-ctx.Done():
		var none R
		return none, ctx.Err()
	}
}

// runBatches runs groups until nothing waits.
func (c *Batcher[C, R]) runBatches(ctx context.Context) {
	for first := true; ; first = false {
		if !first && c.maxDelay > 0 && !c.readyToRun() {
			time.Sleep(c.maxDelay)
		}
		calls := c.take()
		if len(calls) == 0 {
			return
		}
		c.runBatch(ctx, calls)
	}
}

func (c *Batcher[C, R]) readyToRun() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting) == 0 || len(c.waiting) >= c.maxSize
}

func (c *Batcher[C, R]) take() []call[C, R] {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(c.waiting), c.maxSize)
	if n == 0 {
		c.running--
		return nil
	}
	calls := c.waiting[:n:n]
	c.waiting = c.waiting[n:]
	if len(c.waiting) == 0 {
		c.waiting = nil // let the old array go with its calls
	}
	return calls
}

func (c *Batcher[C, R]) runBatch(ctx context.Context, calls []call[C, R]) {
	commands := make([]C, len(calls))
	for i := range calls {
		commands[i] = calls[i].command
	}
	results, err := c.runRecovered(ctx, commands)
	switch {
	case err == nil:
		for i := range calls {
			calls[i].done <- results[i]
		}
	case len(calls) == 1:
		calls[0].done <- Result[R]{Err: err}
	default:
		for i := range calls {
			c.runBatch(ctx, calls[i:i+1])
		}
	}
}

// runRecovered turns a panic in the group into an error for its callers: they sit in
// other goroutines, where nobody else could tell them.
func (c *Batcher[C, R]) runRecovered(ctx context.Context, commands []C) (results []Result[R], err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a group of %d: %v\n%s", len(commands), p, debug.Stack())
		}
	}()
	return c.run(ctx, commands)
}

// Waiting is how many commands have not been taken into a group yet.
func (c *Batcher[C, R]) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting)
}
