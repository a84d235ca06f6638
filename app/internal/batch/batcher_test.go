package batch_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/batch"
	"causeway/core/fault"
	"causeway/core/ident"
)

var here, there = newPlatform(1), newPlatform(2)

func newPlatform(n byte) (p ident.Platform) {
	p.SetUUID(uuid.UUID{15: n})
	return p
}

func TestBatcher_SingleCommandRunsAtOnce(t *testing.T) {
	t.Parallel()
	// A command that arrives while nothing runs is a batch of one.
	var sizes []int
	batcher := batch.New(batch.Options{}, func(_ context.Context, in []int) ([]batch.Result[int], error) {
		sizes = append(sizes, len(in))
		return []batch.Result[int]{{Value: in[0] * 2}}, nil
	})

	got, err := batcher.Do(t.Context(), here, 21)

	if err != nil || got != 42 || len(sizes) != 1 || sizes[0] != 1 {
		t.Fatalf("got %d, %v in batches of %v; want 42 in one batch of one", got, err, sizes)
	}
}

func TestBatcher_ConcurrentCommandsShareBatch(t *testing.T) {
	t.Parallel()
	// Commands that arrive while a batch runs wait, and then run as one batch.
	const concurrent = 50
	b := newBlocked(t, batch.Options{}, echo)

	for i := range concurrent {
		b.start(i)
	}
	b.release()

	for i := range concurrent {
		if got := b.result(i); got.Err != nil || got.Value != i {
			t.Errorf("command %d returned %+v", i, got)
		}
	}
	if !slices.Equal(b.sizes, []int{1, concurrent}) {
		t.Fatalf("batches of %v; want one of 1 and one of %d", b.sizes, concurrent)
	}
}

func TestBatcher_BatchWaitsForAsManyAsBefore(t *testing.T) {
	t.Parallel()
	// Commands of clients that send the next one after the result of the last are soon run together, although they do not
	// arrive at once: the batch starts with the last of them. When one client goes on alone, it soon waits for nobody.
	synctest.Test(t, func(t *testing.T) {
		const clients, rounds, took, apart, delay = 8, 10, 5 * time.Millisecond, 100 * time.Microsecond, 2 * time.Millisecond
		var sizes []int
		var starts []time.Time
		batcher := batch.New(batch.Options{MaxDelay: delay}, func(_ context.Context, in []int) ([]batch.Result[int], error) {
			sizes, starts = append(sizes, len(in)), append(starts, time.Now())
			time.Sleep(took)
			return echo(in)
		})
		do := func(command int) {
			if _, err := batcher.Do(t.Context(), here, command); err != nil {
				t.Error(err)
			}
		}
		var callers sync.WaitGroup
		for i := range clients {
			callers.Go(func() {
				for range rounds {
					time.Sleep(time.Duration(i) * apart)
					do(i)
				}
			})
		}
		callers.Wait()

		if want := append(append([]int{1}, slices.Repeat([]int{clients}, rounds-1)...), clients-1); !slices.Equal(sizes, want) {
			t.Errorf("batches of %v, want %v", sizes, want)
		}
		if got, want := starts[rounds-1].Sub(starts[rounds-2]), took+(clients-1)*apart; got != want {
			t.Errorf("a batch started %s after the one before, want %s", got, want)
		}
		var waited []time.Duration
		for range 5 {
			sent := time.Now()
			do(0)
			waited = append(waited, time.Since(sent)-took)
		}
		if want := []time.Duration{delay, delay, delay, 0, 0}; !slices.Equal(waited, want) {
			t.Errorf("one client alone waited %s, want %s", waited, want)
		}
	})
}

func TestBatcher_ExpectationEnds(t *testing.T) {
	t.Parallel()
	// After a batch of several, the next command waits for as many if it comes soon; not if nothing came for ten times the delay, which
	// begins anew with each batch.
	synctest.Test(t, func(t *testing.T) {
		const clients, delay = 64, 2 * time.Millisecond
		batcher := batch.New(batch.Options{MaxDelay: delay}, func(_ context.Context, in []int) ([]batch.Result[int], error) {
			time.Sleep(time.Millisecond)
			return echo(in)
		})
		waited := func() time.Duration {
			sent := time.Now()
			if _, err := batcher.Do(t.Context(), here, 0); err != nil {
				t.Error(err)
			}
			return time.Since(sent) - time.Millisecond
		}
		var callers sync.WaitGroup
		for range clients {
			callers.Go(func() { waited() })
		}
		callers.Wait()
		for _, step := range []struct{ pause, want time.Duration }{
			{9 * delay, delay}, {9 * delay, delay}, {11 * delay, 0}, {0, 0},
		} {
			time.Sleep(step.pause)
			if got := waited(); got != step.want {
				t.Errorf("after %s a command waited %s, want %s", step.pause, got, step.want)
			}
		}
	})
}

func TestBatcher_FailedBatchIsSplitInHalves(t *testing.T) {
	t.Parallel()
	// A command that makes its batch fail does not make the others fail: the batch is run again in
	// halves until the command is alone, so the runs grow with the logarithm of the batch.
	failure := errors.New("failure")
	b := newBlocked(t, batch.Options{MaxSize: 256}, func(in []int) ([]batch.Result[int], error) {
		if slices.Contains(in, 3) {
			return nil, failure
		}
		return echo(in)
	})

	for i := range 256 {
		b.start(i)
	}
	b.release()

	for i := range 256 {
		got := b.result(i)
		if i == 3 && !errors.Is(got.Err, failure) {
			t.Errorf("the failing command returned %+v", got)
		}
		if i != 3 && (got.Err != nil || got.Value != i) {
			t.Errorf("command %d returned %+v", i, got)
		}
	}
	if runs := len(b.sizes) - 1; runs != 17 { // the batch, and two halves at each of 8 levels
		t.Errorf("%d runs for one failing command of 256, in batches of %v", runs, b.sizes)
	}
}

func TestBatcher_UnavailableDatabaseIsNotTriedForEachCommand(t *testing.T) {
	t.Parallel()
	// If the database does not respond, or a row stays locked, a batch is split a few times only.
	// The callers get 503 and not the error of another command.
	locked := &fault.Error{Code: fault.ServiceUnavailable, Reason: "Locked"}
	for name, c := range map[string]struct {
		fails    func([]int) bool
		runs, ok int
	}{
		"database is down": {func([]int) bool { return true }, 15, 0},
		"row is locked":    {func(in []int) bool { return slices.Contains(in, 3) }, 7, 224},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBlocked(t, batch.Options{MaxSize: 256}, func(in []int) ([]batch.Result[int], error) {
				if c.fails(in) {
					return nil, locked
				}
				return echo(in)
			})
			for i := range 256 {
				b.start(i)
			}
			b.release()

			ok := 0
			for i := range 256 {
				got := b.result(i)
				if got.Err == nil {
					ok++
				} else if f, isFault := fault.As(got.Err); !isFault || f.Code != fault.ServiceUnavailable || f.RetryAfter == 0 ||
					f.Reason == locked.Reason {
					t.Errorf("command %d: %v", i, got.Err)
				}
			}
			if runs := len(b.sizes) - 1; runs != c.runs || ok != c.ok {
				t.Errorf("%d runs, %d commands succeeded; want %d and %d", runs, ok, c.runs, c.ok)
			}
		})
	}
}

func TestBatcher_CommandOfGoneCallerIsWithdrawn(t *testing.T) {
	t.Parallel()
	// Each of many callers goes at some time around the start of the batch: its command is either
	// run, or its caller was gone before; never is a command run that was withdrawn. Nothing remains.
	for range 50 {
		var mu sync.Mutex
		ran := map[int]bool{}
		observed := &counts{}
		b := newBlocked(t, batch.Options{Observer: observed}, func(in []int) ([]batch.Result[int], error) {
			mu.Lock()
			defer mu.Unlock()
			for _, n := range in {
				ran[n] = true
			}
			return echo(in)
		})
		for i := range 20 {
			b.start(i)
		}
		var going sync.WaitGroup
		for i := range 10 {
			going.Go(b.cancels[i])
		}
		for i := range 5 { // gone before the batch begins, without a doubt
			if got := b.result(i); !errors.Is(got.Err, context.Canceled) {
				t.Fatalf("a caller that has gone got %+v", got)
			}
		}
		b.release()
		going.Wait()

		for i := range 20 {
			var got batch.Result[int]
			if i >= 5 {
				got = b.result(i)
			}
			mu.Lock()
			if i < 5 && ran[i] {
				t.Errorf("command %d ran after its caller had gone", i)
			}
			if i >= 5 && got.Err == nil && !ran[i] || i >= 10 && got.Err != nil {
				t.Errorf("command %d returned %+v, ran: %t", i, got, ran[i])
			}
			mu.Unlock()
		}
		if n := b.Waiting(); n != 0 {
			t.Errorf("%d commands still wait", n)
		}
	}
}

func TestBatcher_GoneCallerDoesNotStopRunningBatch(t *testing.T) {
	t.Parallel()
	// A caller that goes while its batch runs gets its error at once. The batch runs to completion,
	// because it belongs to other callers too.
	b := newBlocked(t, batch.Options{}, echo)

	b.firstCancel()

	if got := <-b.first; !errors.Is(got.Err, context.Canceled) {
		t.Errorf("the caller that went got %+v", got)
	}
	b.release()
	<-b.ended
	if b.firstErr != nil {
		t.Errorf("its batch was cancelled: %v", b.firstErr)
	}
}

func TestBatcher_FullQueueRefusesOnePlatform(t *testing.T) {
	t.Parallel()
	// When a platform's queue is full, its next command is refused at once; another platform is
	// not affected, and runs although the batch of the first is stuck.
	observed := &counts{}
	b := newBlocked(t, batch.Options{MaxWaiting: 3, Observer: observed}, echo)
	for i := range 3 {
		b.start(i)
	}

	_, err := b.Do(t.Context(), here, 99)
	other, otherErr := b.Do(t.Context(), there, 7)

	if f, ok := fault.As(err); !ok || f.Code != fault.ServiceUnavailable || f.RetryAfter == 0 || observed.refused != 1 {
		t.Errorf("the command beyond the limit: %v, %d refused", err, observed.refused)
	}
	if otherErr != nil || other != 7 {
		t.Errorf("the command of another platform: %d, %v", other, otherErr)
	}
	b.release()
	for i := range 3 {
		if got := b.result(i); got.Err != nil {
			t.Errorf("command %d: %v", i, got.Err)
		}
	}
	if observed.most < 3 || observed.most > 4 { // with the one of the other platform
		t.Errorf("at most %d commands were observed waiting, want 3 or 4", observed.most)
	}
}

func TestBatcher_BatchesAreOfOnePlatform(t *testing.T) {
	t.Parallel()
	// Commands of two platforms that wait together run in different batches.
	release := make(chan struct{})
	var mixed atomic.Bool
	batcher := batch.New(batch.Options{MaxSize: 8}, func(_ context.Context, in []ident.Platform) ([]batch.Result[ident.Platform], error) {
		<-release
		for _, p := range in {
			if p != in[0] {
				mixed.Store(true)
			}
		}
		return make([]batch.Result[ident.Platform], len(in)), nil
	})
	var callers sync.WaitGroup
	for i := range 40 {
		callers.Go(func() {
			if _, err := batcher.Do(t.Context(), []ident.Platform{here, there}[i%2], []ident.Platform{here, there}[i%2]); err != nil {
				t.Error(err)
			}
		})
	}
	for batcher.Waiting() < 24 { // the others are in the first batch of each platform
		runtime.Gosched()
	}
	close(release)
	callers.Wait()
	if mixed.Load() {
		t.Error("a batch had commands of two platforms")
	}
}

func TestBatcher_BatchHasDeadline(t *testing.T) {
	t.Parallel()
	// A batch that does not finish ends at its deadline, with its halves: nothing is tried again
	// after it, its callers get 503, also that of a single command, and the next batch runs.
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		stuck := true
		batcher := batch.New(batch.Options{Timeout: 15 * time.Second}, func(ctx context.Context, in []int) ([]batch.Result[int], error) {
			if !stuck {
				return echo(in)
			}
			runs++
			<-ctx.Done()
			return nil, ctx.Err()
		})
		begin := time.Now()
		var callers sync.WaitGroup
		for i := range 8 {
			callers.Go(func() {
				_, err := batcher.Do(context.Background(), here, i)
				if f, ok := fault.As(err); !ok || f.Code != fault.ServiceUnavailable || f.RetryAfter == 0 || errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("command %d: %v", i, err)
				}
			})
		}
		callers.Wait()
		if took := time.Since(begin); took > 30*time.Second || runs > 2 {
			t.Errorf("two batches took %s in %d runs", took, runs)
		}
		stuck = false
		if _, err := batcher.Do(context.Background(), here, 1); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

func TestBatcher_PanicFailsTheBatch(t *testing.T) {
	t.Parallel()
	// A panic, and a result that is missing, are errors of the command, not of the process.
	batcher := batch.New(batch.Options{}, func(_ context.Context, in []int) ([]batch.Result[int], error) {
		if in[0] == 1 {
			panic("bad luck")
		}
		return nil, nil
	})
	for i := range 2 {
		if _, err := batcher.Do(t.Context(), here, i); err == nil {
			t.Errorf("command %d succeeded", i)
		}
	}
}

// blocked is a batcher whose first batch, of one command of here, runs until release.
type blocked struct {
	*batch.Batcher[int, int]
	t           *testing.T
	sizes       []int // of the batches of here, the first included
	first       chan batch.Result[int]
	firstCancel context.CancelFunc
	firstErr    error // of the context of the first batch at its end
	unblock     chan struct{}
	ended       chan struct{} // the first batch has
	cancels     map[int]context.CancelFunc
	results     map[int]chan batch.Result[int]
}

func newBlocked(t *testing.T, o batch.Options, run func([]int) ([]batch.Result[int], error)) *blocked {
	t.Helper()
	const firstCommand = -1
	started := make(chan struct{})
	b := &blocked{t: t, first: make(chan batch.Result[int], 1), unblock: make(chan struct{}), ended: make(chan struct{}),
		cancels: map[int]context.CancelFunc{}, results: map[int]chan batch.Result[int]{}}
	b.Batcher = batch.New(o, func(ctx context.Context, in []int) ([]batch.Result[int], error) {
		if in[0] == firstCommand {
			b.sizes = append(b.sizes, 1)
			close(started)
			<-b.unblock
			b.firstErr = ctx.Err()
			close(b.ended)
			return echo(in)
		}
		select {
		case <-b.unblock:
			<-b.ended
			b.sizes = append(b.sizes, len(in))
		default: // another platform
		}
		return run(in)
	})
	ctx, cancel := context.WithCancel(t.Context())
	b.firstCancel = cancel
	go func() {
		value, err := b.Do(ctx, here, firstCommand)
		b.first <- batch.Result[int]{Value: value, Err: err}
	}()
	<-started
	return b
}

// start submits a command of here and returns when it waits.
func (b *blocked) start(command int) {
	b.t.Helper()
	before := b.Waiting()
	ctx, cancel := context.WithCancel(b.t.Context())
	result := make(chan batch.Result[int], 1)
	b.cancels[command], b.results[command] = cancel, result
	go func() {
		value, err := b.Do(ctx, here, command)
		result <- batch.Result[int]{Value: value, Err: err}
	}()
	for b.Waiting() == before {
		runtime.Gosched()
	}
}

func (b *blocked) release() { close(b.unblock) }

func (b *blocked) result(command int) batch.Result[int] { return <-b.results[command] }

// counts counts what a batcher reports. The batcher calls it under its own lock or from one
// goroutine, except Started.
type counts struct{ most, refused, withdrawn int }

func (c *counts) Waiting(_ string, commands int)     { c.most = max(c.most, commands) }
func (c *counts) Started(string, int, time.Duration) {}
func (c *counts) Refused(string)                     { c.refused++ }
func (c *counts) Withdrawn(string)                   { c.withdrawn++ }

func echo(in []int) ([]batch.Result[int], error) {
	out := make([]batch.Result[int], len(in))
	for i, n := range in {
		out[i].Value = n
	}
	return out, nil
}
