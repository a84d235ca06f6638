// Package batch runs commands that arrive at the same time as one batch, in one unit of work.
// The cost of a commit and of its round trips is paid once for the whole batch, so a command
// costs less the more of them there are.
//
// The rules: a command that is rejected fails alone; a batch that fails as a whole is run again
// one command at a time; no caller gets its result before the commit; and a command that arrives
// while nothing runs starts at once.
package batch

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"causeway/ports"
)

// Result is the outcome of one command.
type Result[R any] struct {
	Value R
	Err   error
}

// RunFunc runs the commands of one batch and returns a result for each, or an error for the whole
// batch. Its context is not cancelled when a caller's is.
type RunFunc[C, R any] func(ctx context.Context, commands []C) ([]Result[R], error)

// Batcher collects commands that arrive at the same time into batches.
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

// Options configures a Batcher. Every field may be zero.
type Options struct {
	// MaxSize is the maximum number of commands in a batch; 128 if zero.
	MaxSize int
	// MaxConcurrency is the maximum number of batches that run at the same time; 1 if zero.
	MaxConcurrency int
	// MaxDelay is how long to wait for further commands if some arrived while the last batch
	// ran. A single command is never delayed.
	MaxDelay time.Duration
}

// New returns a Batcher that runs its batches with run.
func New[C, R any](o Options, run RunFunc[C, R]) *Batcher[C, R] {
	if o.MaxSize == 0 {
		o.MaxSize = 128
	}
	if o.MaxConcurrency == 0 {
		o.MaxConcurrency = 1
	}
	return &Batcher[C, R]{run: run, maxSize: o.MaxSize, maxConcurrency: o.MaxConcurrency, maxDelay: o.MaxDelay}
}

// Do runs one command as part of a batch and returns its result. If ctx is done first, Do returns
// the error of ctx, and the command still runs to completion.
func (b *Batcher[C, R]) Do(ctx context.Context, command C) (R, error) {
	own := call[C, R]{command, make(chan Result[R], 1)}
	b.mu.Lock()
	b.waiting = append(b.waiting, own)
	start := b.running < b.maxConcurrency
	if start {
		b.running++
	}
	b.mu.Unlock()
	if start {
		// A batch may hold commands of several platforms.
		go b.runBatches(ports.ForAllPlatforms(context.WithoutCancel(ctx)))
	}
	select {
	case result := <-own.done:
		return result.Value, result.Err
	case <-ctx.Done():
		var none R
		return none, ctx.Err()
	}
}

// runBatches runs batches until no command waits.
func (b *Batcher[C, R]) runBatches(ctx context.Context) {
	for first := true; ; first = false {
		if !first && b.maxDelay > 0 && !b.readyToRun() {
			time.Sleep(b.maxDelay)
		}
		calls := b.take()
		if len(calls) == 0 {
			return
		}
		b.runBatch(ctx, calls)
	}
}

func (b *Batcher[C, R]) readyToRun() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiting) == 0 || len(b.waiting) >= b.maxSize
}

func (b *Batcher[C, R]) take() []call[C, R] {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(len(b.waiting), b.maxSize)
	if n == 0 {
		b.running--
		return nil
	}
	calls := b.waiting[:n:n]
	b.waiting = b.waiting[n:]
	if len(b.waiting) == 0 {
		b.waiting = nil // so that the array can be collected
	}
	return calls
}

func (b *Batcher[C, R]) runBatch(ctx context.Context, calls []call[C, R]) {
	commands := make([]C, len(calls))
	for i := range calls {
		commands[i] = calls[i].command
	}
	results, err := b.runRecovered(ctx, commands)
	switch {
	case err == nil:
		for i := range calls {
			calls[i].done <- results[i]
		}
	case len(calls) == 1:
		calls[0].done <- Result[R]{Err: err}
	default:
		for i := range calls {
			b.runBatch(ctx, calls[i:i+1])
		}
	}
}

// runRecovered runs a batch and returns a panic as an error, because the callers wait in other
// goroutines.
func (b *Batcher[C, R]) runRecovered(ctx context.Context, commands []C) (results []Result[R], err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a batch of %d commands: %v\n%s", len(commands), p, debug.Stack())
		}
	}()
	return b.run(ctx, commands)
}

// Waiting returns the number of commands that are not in a batch yet.
func (b *Batcher[C, R]) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiting)
}
