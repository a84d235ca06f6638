// Package group decides many commands in one unit of work. What a database asks
// for a commit it asks once for the whole group, so the more there is to do, the
// less each of it costs.
//
// The rules: a command that is refused fails alone; a group that fails as a whole
// is run again one by one; nobody is answered before the commit; and a command
// that comes while nothing runs starts at once.
package group

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

// Run decides the commands of one group and returns a result for each, or an error
// for the group. It is called with a context that no single caller can cancel.
type Run[C, R any] func(ctx context.Context, commands []C) ([]Result[R], error)

// Collector gathers commands that come at the same time into groups.
type Collector[C, R any] struct {
	run    Run[C, R]
	most   int
	lanes  int
	linger time.Duration

	mu      sync.Mutex
	waiting []call[C, R]
	busy    int
}

type call[C, R any] struct {
	command C
	done    chan Result[R]
}

// Options shape a collector. The zero value of each is usable.
type Options struct {
	// Most commands in a group; 128 when zero.
	Most int
	// Lanes is how many groups may run side by side; 1 when zero.
	Lanes int
	// Linger is how long a lane waits for company when commands came in while its
	// last group ran. A lone command never waits.
	Linger time.Duration
}

// New makes a collector in front of run.
func New[C, R any](o Options, run Run[C, R]) *Collector[C, R] {
	if o.Most == 0 {
		o.Most = 128
	}
	if o.Lanes == 0 {
		o.Lanes = 1
	}
	return &Collector[C, R]{run: run, most: o.Most, lanes: o.Lanes, linger: o.Linger}
}

// Do hands one command in and waits for its result. When ctx ends first the
// command still runs to its end, and the caller does not learn what became of it.
func (c *Collector[C, R]) Do(ctx context.Context, command C) (R, error) {
	mine := call[C, R]{command, make(chan Result[R], 1)}
	c.mu.Lock()
	c.waiting = append(c.waiting, mine)
	start := c.busy < c.lanes
	if start {
		c.busy++
	}
	c.mu.Unlock()
	if start {
		go c.lane(context.WithoutCancel(ctx))
	}
	select {
	case result := <-mine.done:
		return result.Value, result.Err
	case <-ctx.Done():
		var none R
		return none, ctx.Err()
	}
}

// lane runs groups until nothing waits.
func (c *Collector[C, R]) lane(ctx context.Context) {
	for first := true; ; first = false {
		if !first && c.linger > 0 && !c.full() {
			time.Sleep(c.linger)
		}
		calls := c.take()
		if len(calls) == 0 {
			return
		}
		c.settle(ctx, calls)
	}
}

func (c *Collector[C, R]) full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting) == 0 || len(c.waiting) >= c.most
}

func (c *Collector[C, R]) take() []call[C, R] {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(c.waiting), c.most)
	if n == 0 {
		c.busy--
		return nil
	}
	calls := c.waiting[:n:n]
	c.waiting = c.waiting[n:]
	if len(c.waiting) == 0 {
		c.waiting = nil // let the old array go with its calls
	}
	return calls
}

func (c *Collector[C, R]) settle(ctx context.Context, calls []call[C, R]) {
	commands := make([]C, len(calls))
	for i := range calls {
		commands[i] = calls[i].command
	}
	results, err := c.safely(ctx, commands)
	switch {
	case err == nil:
		for i := range calls {
			calls[i].done <- results[i]
		}
	case len(calls) == 1:
		calls[0].done <- Result[R]{Err: err}
	default:
		for i := range calls {
			c.settle(ctx, calls[i:i+1])
		}
	}
}

// safely turns a panic in the group into an error for its callers: they sit in
// other goroutines, where nobody else could tell them.
func (c *Collector[C, R]) safely(ctx context.Context, commands []C) (results []Result[R], err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a group of %d: %v\n%s", len(commands), p, debug.Stack())
		}
	}()
	return c.run(ctx, commands)
}

// Waiting is how many commands have not been taken into a group yet.
func (c *Collector[C, R]) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting)
}
