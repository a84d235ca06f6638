package jobs_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"

	"causeway/app/internal/jobs"
	"causeway/core/transaction"
	"causeway/ports"
)

const step = transaction.StepPull

// fakeJobs keeps due jobs in memory.
type fakeJobs struct {
	mu        sync.Mutex
	due       []ports.Job
	limits    []int
	postponed chan ports.Job
}

func (f *fakeJobs) TakeJobs(_ context.Context, s transaction.Step, _ time.Time, _ time.Duration, limit int) ([]ports.Job, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.limits = append(f.limits, limit)
	var taken, left []ports.Job
	for _, j := range f.due {
		if j.Step == s && len(taken) < limit {
			taken = append(taken, j)
		} else {
			left = append(left, j)
		}
	}
	f.due = left
	return taken, nil
}

func (f *fakeJobs) PostponeJobs(_ context.Context, jobs []ports.Job, _ time.Time) error {
	for _, j := range jobs {
		f.postponed <- j
	}
	return nil
}

type fixedClock struct{}

func (fixedClock) Now() time.Time { return time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC) }

func job(n byte) ports.Job { return ports.Job{ID: uuid.UUID{15: n}, Step: step} }

// startWorkers runs workers with one handler until the test ends. stop stops them and returns when
// they have stopped.
func startWorkers(t *testing.T, queue *fakeJobs, handler jobs.Handler) (w *jobs.Workers, stop func()) {
	t.Helper()
	log := logrus.New()
	log.SetOutput(t.Output())
	w = jobs.New(jobs.Config{Jobs: queue, Clock: fixedClock{}, Log: logrus.NewEntry(log)}, handler)
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() { w.Run(ctx); close(stopped) }()
	stop = sync.OnceFunc(func() { cancel(); <-stopped })
	t.Cleanup(stop)
	return w, stop
}

func TestWorkers_RunSubmittedAndDueJobs(t *testing.T) {
	t.Parallel()
	// A submitted job is run, and so is one that is due in the database.
	queue := &fakeJobs{due: []ports.Job{job(1)}}
	done := make(chan uuid.UUID, 9)
	workers, _ := startWorkers(t, queue, jobs.Handler{Step: step, Do: func(_ context.Context, jobs []ports.Job) error {
		for _, j := range jobs {
			done <- j.ID
		}
		return nil
	}})

	workers.Submit([]ports.Job{job(2), {ID: uuid.UUID{15: 3}, Step: "other"}})

	seen := map[uuid.UUID]bool{<-done: true, <-done: true}
	if !seen[job(1).ID] || !seen[job(2).ID] {
		t.Errorf("done: %v", seen)
	}
}

func TestWorkers_FailingJobDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	// If a batch fails, each of its jobs is run alone. The one that fails again is postponed, and
	// the others succeed.
	queue := &fakeJobs{due: []ports.Job{job(1), job(2), job(3)}, postponed: make(chan ports.Job, 9)}
	done := make(chan uuid.UUID, 9)
	startWorkers(t, queue, jobs.Handler{Step: step, Do: func(_ context.Context, jobs []ports.Job) error {
		for _, j := range jobs {
			if j.ID == job(2).ID {
				return errors.New("failure")
			}
		}
		done <- jobs[0].ID
		return nil
	}})

	seen := map[uuid.UUID]bool{<-done: true, <-done: true}
	if failed := <-queue.postponed; failed.ID != job(2).ID || !seen[job(1).ID] || !seen[job(3).ID] {
		t.Errorf("postponed %s, done %v", failed.ID, seen)
	}
}

func TestWorkers_SlowJobDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	// Jobs run beside a slow one, up to MaxConcurrency. No more jobs than that are taken from the
	// database.
	queue := &fakeJobs{due: []ports.Job{job(1), job(2), job(3)}}
	release, started := make(chan struct{}), make(chan uuid.UUID, 9)
	_, stop := startWorkers(t, queue, jobs.Handler{Step: step, MaxBatch: 1, MaxConcurrency: 2, Do: func(_ context.Context, jobs []ports.Job) error {
		started <- jobs[0].ID
		<-release
		return nil
	}})

	first, second := <-started, <-started
	select {
	case third := <-started:
		t.Errorf("%s, %s and %s run at the same time", first, second, third)
	default:
	}
	close(release)
	<-started
	stop()
	queue.mu.Lock()
	defer queue.mu.Unlock()
	for _, limit := range queue.limits {
		if limit > 2 {
			t.Errorf("took up to %d jobs, want at most 2", limit)
		}
	}
}

func TestWorkers_RunFinishesStartedJobs(t *testing.T) {
	t.Parallel()
	// Run returns when the jobs that it started are finished, and their context is not cancelled.
	// Jobs are reserved for this process only while it runs.
	queue := &fakeJobs{}
	started, release, alive := make(chan struct{}), make(chan struct{}), make(chan bool, 1)
	workers, stop := startWorkers(t, queue, jobs.Handler{Step: step, Do: func(ctx context.Context, _ []ports.Job) error {
		close(started)
		<-release
		alive <- ctx.Err() == nil
		return nil
	}})
	workers.Submit([]ports.Job{job(1)})
	<-started
	if workers.LocalLease() <= 0 {
		t.Error("no local lease while the workers run")
	}

	go close(release)
	stop()

	if !<-alive || workers.LocalLease() != 0 {
		t.Errorf("the job was cancelled, or there is still a local lease: %s", workers.LocalLease())
	}
}
