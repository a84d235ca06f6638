// Package batch runs commands that arrive at the same time as one batch, in one unit of work.
// The cost of a commit and of its round trips is paid once for the whole batch, so a command
// costs less the more of them there are.
//
// The rules: a command that is rejected fails alone; a batch that fails as a whole is run again in
// halves; no caller gets its result before the commit; a command that arrives while nothing runs
// starts at once, unless several ran together just before: then it waits for as many, but not for long;
// a command whose caller has gone is not run; a queue that is full refuses commands; a batch has a
// deadline; and the commands of a platform never wait for, or fail with, those of another.
package batch

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"causeway/app/internal/spans"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ports"
)

// Result is the outcome of one command.
type Result[R any] struct {
	Value R
	Err   error
}

// RunFunc runs the commands of one batch, all of one platform, and returns a result for each, or an
// error for the whole batch. Its context has a deadline, and is not cancelled when a caller's is.
type RunFunc[C, R any] func(ctx context.Context, commands []C) ([]Result[R], error)

// Observer is notified of what happens to the batches of one kind. It must not block.
type Observer interface {
	// Waiting is called with the number of commands of all platforms that are not in a batch.
	Waiting(kind string, commands int)
	// Started is called for each batch, with the time that its first command has waited.
	Started(kind string, commands int, waited time.Duration)
	// Refused is called for each command that a full queue refuses.
	Refused(kind string)
	// Withdrawn is called for each command whose caller was gone before a batch took it.
	Withdrawn(kind string)
}

// Options configures a Batcher. Every field may be zero.
type Options struct {
	// Kind names the commands for the observer.
	Kind string
	// MaxSize is the maximum number of commands in a batch; 256 if zero.
	MaxSize int
	// MaxConcurrency is the maximum number of batches of one platform that run at the same time; 1
	// if zero.
	MaxConcurrency int
	// MaxWaiting is the maximum number of commands of one platform that wait; 2048 if zero.
	MaxWaiting int
	// MaxDelay is how long a batch waits until it has as many commands as were in flight together just before. A
	// command is not delayed if those before it were alone, or ended long ago: ten times as long.
	MaxDelay time.Duration
	// Timeout is the deadline of a batch, including the runs of its halves; 15 seconds if zero.
	Timeout time.Duration
	// Observer may be nil.
	Observer Observer
}

// maxUnavailableSplits is how often a batch is split again if it fails because the database does
// not respond or a row stays locked. One locked row then delays an eighth of the batch, and a
// database that is down gets few attempts. Other failures are split down to single commands.
const maxUnavailableSplits = 3

// idleDelays is how many times MaxDelay a queue without commands expects as many as before.
const idleDelays = 10

// Batcher collects commands that arrive at the same time into batches.
type Batcher[C, R any] struct {
	run RunFunc[C, R]
	Options

	mu      sync.Mutex
	queues  map[ident.Platform]*queue[C, R] // those with commands that wait or run, or that expect several
	waiting int                             // commands in all queues
}

// queue holds the commands of one platform.
type queue[C, R any] struct {
	waiting []*call[C, R]
	running int // goroutines that run its batches
	// expected is how many commands the next batch waits for: those of the last one, whose callers probably come again, and
	// those that arrived while it ran. If fewer come, it falls by half, and if none comes, the queue ends.
	expected int
	complete chan struct{} // so many wait
	idle     *time.Timer   // ends the queue while nothing runs, if it expects several
}

type call[C, R any] struct {
	command   C
	arrivedAt time.Time
	callerErr func() error // not nil once the caller has gone
	done      chan Result[R]
	span      trace.Span // from the arrival to the result
}

// New returns a Batcher that runs its batches with run.
func New[C, R any](o Options, run RunFunc[C, R]) *Batcher[C, R] {
	setDefault(&o.MaxSize, 256)
	setDefault(&o.MaxConcurrency, 1)
	setDefault(&o.MaxWaiting, 2048)
	setDefault(&o.Timeout, 15*time.Second)
	return &Batcher[C, R]{run: run, Options: o, queues: map[ident.Platform]*queue[C, R]{}}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Do runs one command of a platform as part of a batch and returns its result. If ctx is done
// first, Do returns the error of ctx, and the command is withdrawn, unless a batch has already
// taken it: then it may be committed.
//
// It returns a SERVICE_UNAVAILABLE fault if too many commands of the platform wait, or if the batch
// was not finished by its deadline.
func (b *Batcher[C, R]) Do(ctx context.Context, platform ident.Platform, command C) (R, error) {
	var none R
	if err := ctx.Err(); err != nil {
		return none, err
	}
	own := &call[C, R]{command: command, arrivedAt: time.Now(), callerErr: ctx.Err, done: make(chan Result[R], 1)}
	_, own.span = spans.Start(ctx, "batch", b.Kind)
	result := b.wait(ctx, platform, own)
	spans.End(own.span, result.Err)
	return result.Value, result.Err
}

// wait returns the result of one command.
func (b *Batcher[C, R]) wait(ctx context.Context, platform ident.Platform, own *call[C, R]) Result[R] {
	if err := b.enqueue(platform, own); err != nil {
		return Result[R]{Err: err}
	}
	select {
	case result := <-own.done:
		return result
	case <-ctx.Done():
		b.withdraw(platform, own)
		return Result[R]{Err: ctx.Err()}
	}
}

// enqueue adds a command to the queue of its platform, and starts a goroutine for the queue if one
// is needed.
func (b *Batcher[C, R]) enqueue(platform ident.Platform, own *call[C, R]) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.queues[platform]
	if q == nil {
		q = &queue[C, R]{expected: 1, complete: make(chan struct{}, 1)}
		b.queues[platform] = q
	}
	if len(q.waiting) >= b.MaxWaiting {
		if b.Observer != nil {
			b.Observer.Refused(b.Kind)
		}
		return &fault.Error{Code: fault.ServiceUnavailable, Reason: "Queue full", RetryAfter: time.Second,
			Message: "Too many requests of this platform are waiting. Nothing was done; send the request again later."}
	}
	q.waiting = append(q.waiting, own)
	b.countWaiting(1)
	if len(q.waiting) == q.expected {
		select {
		case q.complete <- struct{}{}:
		default:
		}
	}
	if q.running < b.MaxConcurrency {
		if q.idle != nil {
			q.idle.Stop()
		}
		q.running++
		go b.runQueue(platform, q)
	}
	return nil
}

// withdraw removes a command that no batch has taken.
func (b *Batcher[C, R]) withdraw(platform ident.Platform, own *call[C, R]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.queues[platform]
	if q == nil {
		return
	}
	if i := slices.Index(q.waiting, own); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		b.countWaiting(-1)
		if b.Observer != nil {
			b.Observer.Withdrawn(b.Kind)
		}
	}
}

func (b *Batcher[C, R]) countWaiting(change int) {
	b.waiting += change
	if b.Observer != nil {
		b.Observer.Waiting(b.Kind, b.waiting)
	}
}

// runQueue runs batches of one platform until none of its commands wait.
func (b *Batcher[C, R]) runQueue(platform ident.Platform, q *queue[C, R]) {
	for ran := 0; ; {
		if b.MaxDelay > 0 && !b.isComplete(q, ran) {
			select {
			case <-q.complete:
			case <-time.After(b.MaxDelay):
			}
		}
		calls := b.take(platform, q)
		if len(calls) == 0 {
			return
		}
		ran = len(calls)
		if b.Observer != nil {
			b.Observer.Started(b.Kind, len(calls), time.Since(calls[0].arrivedAt))
		}
		for _, c := range calls {
			if c.span.IsRecording() {
				c.span.AddEvent("taken", trace.WithAttributes(attribute.Int("causeway.batch.size", len(calls))))
			}
		}
		// The batch belongs to several callers, so it has the context of none.
		ctx, cancel := context.WithTimeout(ports.ForPlatform(context.Background(), platform), b.Timeout)
		b.runCalls(ctx, calls, 0)
		cancel()
	}
}

// isComplete reports whether the next batch need not wait for further commands. ran is how many the last one of this
// goroutine had.
func (b *Batcher[C, R]) isComplete(q *queue[C, R], ran int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ran > 0 && len(q.waiting) > 0 {
		q.expected = min(b.MaxSize, max(q.expected, ran+len(q.waiting)))
	}
	select {
	case <-q.complete: // it was about the last batch
	default:
	}
	return len(q.waiting) == 0 || len(q.waiting) >= q.expected
}

// take removes the commands of the next batch from the queue. If there are none, the goroutine of
// the caller is no longer counted.
func (b *Batcher[C, R]) take(platform ident.Platform, q *queue[C, R]) []*call[C, R] {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(len(q.waiting), b.MaxSize)
	if n == 0 {
		if q.running--; q.running > 0 {
			return nil
		}
		if q.expected == 1 {
			delete(b.queues, platform)
		} else {
			q.idle = time.AfterFunc(idleDelays*b.MaxDelay, func() { b.endIdle(platform, q) })
		}
		return nil
	}
	if b.MaxDelay > 0 {
		q.expected = max(n, (q.expected+n)/2)
	}
	calls := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	b.countWaiting(-n)
	return calls
}

// endIdle removes a queue, and what it expects, unless commands have come meanwhile.
func (b *Batcher[C, R]) endIdle(platform ident.Platform, q *queue[C, R]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q.running == 0 && b.queues[platform] == q {
		delete(b.queues, platform)
	}
}

// runCalls runs commands as one batch, and answers their callers. splits is how often the batch was
// split before.
func (b *Batcher[C, R]) runCalls(ctx context.Context, calls []*call[C, R], splits int) {
	calls = withCallers(calls)
	if len(calls) == 0 {
		return
	}
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
	case len(calls) == 1 && (ctx.Err() == nil || isFault(err)):
		calls[0].done <- Result[R]{Err: err}
	case ctx.Err() != nil || isUnavailable(err) && splits >= maxUnavailableSplits:
		for i := range calls {
			calls[i].done <- Result[R]{Err: unavailable(err)}
		}
	default:
		middle := len(calls) / 2
		b.runCalls(ctx, calls[:middle], splits+1)
		b.runCalls(ctx, calls[middle:], splits+1)
	}
}

// withCallers answers the calls whose callers have gone, and returns the others.
func withCallers[C, R any](calls []*call[C, R]) []*call[C, R] {
	return slices.DeleteFunc(calls, func(c *call[C, R]) bool {
		err := c.callerErr()
		if err != nil {
			c.done <- Result[R]{Err: err}
		}
		return err != nil
	})
}

// runRecovered runs a batch and returns a panic as an error, because the callers wait in other
// goroutines.
func (b *Batcher[C, R]) runRecovered(ctx context.Context, commands []C) (results []Result[R], err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a batch of %d commands: %v\n%s", len(commands), p, debug.Stack())
		}
	}()
	results, err = b.run(ctx, commands)
	if err == nil && len(results) != len(commands) {
		err = fmt.Errorf("%d results of %d commands", len(results), len(commands))
	}
	return results, err
}

func isFault(err error) bool {
	_, ok := fault.As(err)
	return ok
}

func isUnavailable(err error) bool { return fault.Is(err, fault.ServiceUnavailable) }

// unavailable returns the fault for every command of a batch that failed with err, which may be
// about another command of the batch, unless the store is not available.
func unavailable(err error) error {
	if isUnavailable(err) && errors.Is(err, ports.ErrStoreUnavailable) {
		return err
	}
	return fmt.Errorf("%w The batch failed: %v", &fault.Error{Code: fault.ServiceUnavailable, RetryAfter: time.Second,
		Message: "The request could not be finished in time. Send it again with the same Idempotency-Key."},
		err) //nolint:errorlint // not the error of this command
}

// Waiting returns the number of commands of all platforms that are not in a batch yet.
func (b *Batcher[C, R]) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiting
}
