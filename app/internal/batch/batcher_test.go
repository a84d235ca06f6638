package batch_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"

	"causeway/app/internal/batch"
)

func TestBatcher_SingleCommandRunsAtOnce(t *testing.T) {
	t.Parallel()
	// A command that arrives while nothing runs is a batch of one.
	var sizes []int
	batcher := batch.New(batch.Options{}, func(_ context.Context, in []int) ([]batch.Result[int], error) {
		sizes = append(sizes, len(in))
		return []batch.Result[int]{{Value: in[0] * 2}}, nil
	})

	got, err := batcher.Do(t.Context(), 21)

	if err != nil || got != 42 || len(sizes) != 1 || sizes[0] != 1 {
		t.Fatalf("got %d, %v in batches of %v; want 42 in one batch of one", got, err, sizes)
	}
}

func TestBatcher_ConcurrentCommandsShareBatch(t *testing.T) {
	t.Parallel()
	// Commands that arrive while a batch runs wait, and then run as one batch.
	const concurrent = 50
	started, release := make(chan struct{}), make(chan struct{})
	var sizes []int
	batcher := batch.New(batch.Options{}, func(_ context.Context, in []int) ([]batch.Result[int], error) {
		sizes = append(sizes, len(in))
		if len(sizes) == 1 {
			close(started)
			<-release
		}
		return echo(in), nil
	})
	var callers sync.WaitGroup
	callers.Go(func() { _, _ = batcher.Do(t.Context(), 0) })
	<-started
	for i := range concurrent {
		callers.Go(func() {
			if got, err := batcher.Do(t.Context(), i); err != nil || got != i {
				t.Errorf("command %d returned %d, %v", i, got, err)
			}
		})
	}
	for batcher.Waiting() < concurrent {
		runtime.Gosched() // until every caller above has submitted its command
	}

	close(release)
	callers.Wait()

	if len(sizes) != 2 || sizes[1] != concurrent {
		t.Fatalf("batches of %v; want one of 1 and one of %d", sizes, concurrent)
	}
}

func TestBatcher_FailedBatchRunsOneByOne(t *testing.T) {
	t.Parallel()
	// A command that makes its batch fail does not make the others fail: they are run again one
	// at a time.
	failure := errors.New("failure")
	started, release := make(chan struct{}), make(chan struct{})
	first := true
	batcher := batch.New(batch.Options{}, func(_ context.Context, in []int) ([]batch.Result[int], error) {
		if first {
			first = false
			close(started)
			<-release
			return echo(in), nil
		}
		for _, n := range in {
			if n == 3 {
				return nil, failure
			}
		}
		return echo(in), nil
	})
	var callers sync.WaitGroup
	callers.Go(func() { _, _ = batcher.Do(t.Context(), 0) })
	<-started
	for i := range 6 {
		callers.Go(func() {
			got, err := batcher.Do(t.Context(), i)
			if i == 3 && !errors.Is(err, failure) {
				t.Errorf("the failing command returned %d, %v", got, err)
			}
			if i != 3 && (err != nil || got != i) {
				t.Errorf("command %d returned %d, %v", i, got, err)
			}
		})
	}
	for batcher.Waiting() < 6 {
		runtime.Gosched()
	}
	close(release)
	callers.Wait()
}

func TestBatcher_CancelledCallerDoesNotStopCommand(t *testing.T) {
	t.Parallel()
	// A caller whose context is cancelled gets its error. The command runs to completion.
	ran, release := make(chan struct{}), make(chan struct{})
	batcher := batch.New(batch.Options{}, func(ctx context.Context, in []int) ([]batch.Result[int], error) {
		<-release
		if ctx.Err() == nil {
			close(ran)
		}
		return echo(in), nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	_, err := batcher.Do(ctx, 1)

	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want context.Canceled", err)
	}
	close(release)
	<-ran
}

func echo(in []int) []batch.Result[int] {
	out := make([]batch.Result[int], len(in))
	for i, n := range in {
		out[i].Value = n
	}
	return out
}
