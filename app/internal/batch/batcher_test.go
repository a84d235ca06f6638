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
	// With nothing running, a command is a group of one and is answered.
	var sizes []int
	c := batch.New(batch.Options{}, func(_ context.Context, in []int) ([]batch.Result[int], error) {
		sizes = append(sizes, len(in))
		return []batch.Result[int]{{Value: in[0] * 2}}, nil
	})

	got, err := c.Do(t.Context(), 21)

	if err != nil || got != 42 || len(sizes) != 1 || sizes[0] != 1 {
		t.Fatalf("got %d, %v in groups of %v; want 42 in one group of one", got, err, sizes)
	}
}

func TestBatcher_ConcurrentCommandsShareBatch(t *testing.T) {
	t.Parallel()
	// While one group runs, what comes in waits and then runs as one group.
	const company = 50
	started, release := make(chan struct{}), make(chan struct{})
	var sizes []int
	c := batch.New(batch.Options{}, func(_ context.Context, in []int) ([]batch.Result[int], error) {
		sizes = append(sizes, len(in))
		if len(sizes) == 1 {
			close(started)
			<-release
		}
		return echo(in), nil
	})
	var all sync.WaitGroup
	all.Go(func() { _, _ = c.Do(t.Context(), 0) })
	<-started
	for i := range company {
		all.Go(func() {
			if got, err := c.Do(t.Context(), i); err != nil || got != i {
				t.Errorf("command %d was answered %d, %v", i, got, err)
			}
		})
	}
	for c.Waiting() < company {
		runtime.Gosched() // the callers above are on their way in
	}

	close(release)
	all.Wait()

	if len(sizes) != 2 || sizes[1] != company {
		t.Fatalf("groups of %v; want one of 1 and one of %d", sizes, company)
	}
}

func TestBatcher_FailedBatchRunsOneByOne(t *testing.T) {
	t.Parallel()
	// A poisoned command takes nobody with it: the others succeed on their own.
	poison := errors.New("poison")
	started, release := make(chan struct{}), make(chan struct{})
	first := true
	c := batch.New(batch.Options{}, func(_ context.Context, in []int) ([]batch.Result[int], error) {
		if first {
			first = false
			close(started)
			<-release
			return echo(in), nil
		}
		for _, n := range in {
			if n == 3 {
				return nil, poison
			}
		}
		return echo(in), nil
	})
	var all sync.WaitGroup
	all.Go(func() { _, _ = c.Do(t.Context(), 0) })
	<-started
	for i := range 6 {
		all.Go(func() {
			got, err := c.Do(t.Context(), i)
			if i == 3 && !errors.Is(err, poison) {
				t.Errorf("the poisoned command was answered %d, %v", got, err)
			}
			if i != 3 && (err != nil || got != i) {
				t.Errorf("command %d was answered %d, %v", i, got, err)
			}
		})
	}
	for c.Waiting() < 6 {
		runtime.Gosched()
	}
	close(release)
	all.Wait()
}

func TestBatcher_CancelledCallerDoesNotStopCommand(t *testing.T) {
	t.Parallel()
	// A caller whose context ends is told so; the command runs to its end.
	ran, release := make(chan struct{}), make(chan struct{})
	c := batch.New(batch.Options{}, func(ctx context.Context, in []int) ([]batch.Result[int], error) {
		<-release
		if ctx.Err() == nil {
			close(ran)
		}
		return echo(in), nil
	})
	ctx, leave := context.WithCancel(t.Context())
	leave()

	_, err := c.Do(ctx, 1)

	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want the caller's own cancellation", err)
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
