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

// fakeJobs is the jobs of a database, by hand.
type fakeJobs struct {
	mu        sync.Mutex
	due       []ports.Job
	limits    []int
	postponed chan ports.Job
}

func (t *fakeJobs) TakeJobs(_ context.Context, s transaction.Step, _ time.Time, _ time.Duration, limit int) ([]ports.Job, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.limits = append(t.limits, limit)
	var taken, left []ports.Job
	for _, j := range t.due {
		if j.Step == s && len(taken) < limit {
			taken = append(taken, j)
		} else {
			left = append(left, j)
		}
	}
	t.due = left
	return taken, nil
}

func (t *fakeJobs) PostponeJobs(_ context.Context, jobs []ports.Job, _ time.Time) error {
	for _, j := range jobs {
		t.postponed <- j
	}
	return nil
}

type fixedClock struct{}

func (fixedClock) Now() time.Time { return time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC) }

func job(n byte) ports.Job { return ports.Job{ID: uuid.UUID{15: n}, Step: step} }

// startWorkers begins work in a lane; close ends it, and returns when it has ended.
func startWorkers(t *testing.T, queue *fakeJobs, lane jobs.Handler) (l *jobs.Workers, end func()) {
	t.Helper()
	log := logrus.New()
	log.SetOutput(t.Output())
	l = jobs.New(jobs.Config{Jobs: queue, Clock: fixedClock{}, Log: logrus.NewEntry(log)}, lane)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { l.Run(ctx); close(ended) }()
	end = sync.OnceFunc(func() { stop(); <-ended })
	t.Cleanup(end)
	return l, end
}

func TestWorkers_RunSubmittedAndDueJobs(t *testing.T) {
	t.Parallel()
	// A job that is handed over is done, and one that lies in the database is too.
	queue := &fakeJobs{due: []ports.Job{job(1)}}
	done := make(chan uuid.UUID, 9)
	l, _ := startWorkers(t, queue, jobs.Handler{Step: step, Do: func(_ context.Context, jobs []ports.Job) error {
		for _, j := range jobs {
			done <- j.ID
		}
		return nil
	}})

	l.Submit([]ports.Job{job(2), {ID: uuid.UUID{15: 3}, Step: "another lane's"}})

	seen := map[uuid.UUID]bool{<-done: true, <-done: true}
	if !seen[job(1).ID] || !seen[job(2).ID] {
		t.Errorf("done: %v", seen)
	}
}

func TestWorkers_FailingJobDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	// When a group fails each of its jobs is tried alone; the one that fails then is put
	// off, and the others are done.
	queue := &fakeJobs{due: []ports.Job{job(1), job(2), job(3)}, postponed: make(chan ports.Job, 9)}
	done := make(chan uuid.UUID, 9)
	startWorkers(t, queue, jobs.Handler{Step: step, Do: func(_ context.Context, jobs []ports.Job) error {
		for _, j := range jobs {
			if j.ID == job(2).ID {
				return errors.New("poisoned")
			}
		}
		done <- jobs[0].ID
		return nil
	}})

	seen := map[uuid.UUID]bool{<-done: true, <-done: true}
	if bad := <-queue.postponed; bad.ID != job(2).ID || !seen[job(1).ID] || !seen[job(3).ID] {
		t.Errorf("put off %s, done %v", bad.ID, seen)
	}
}

func TestWorkers_SlowJobDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	// In a wide lane jobs run beside one that takes its time, as many as there is room
	// for and no more; no more than that is taken from the database.
	queue := &fakeJobs{due: []ports.Job{job(1), job(2), job(3)}}
	release, begun := make(chan struct{}), make(chan uuid.UUID, 9)
	_, end := startWorkers(t, queue, jobs.Handler{Step: step, MaxBatch: 1, MaxConcurrency: 2, Do: func(_ context.Context, jobs []ports.Job) error {
		begun <- jobs[0].ID
		<-release
		return nil
	}})

	first, second := <-begun, <-begun
	select {
	case third := <-begun:
		t.Errorf("%s, %s and %s run side by side", first, second, third)
	default:
	}
	close(release)
	<-begun
	end()
	queue.mu.Lock()
	defer queue.mu.Unlock()
	for _, limit := range queue.limits {
		if limit > 2 {
			t.Errorf("%d jobs were asked for", limit)
		}
	}
}

func TestWorkers_RunFinishesStartedJobs(t *testing.T) {
	t.Parallel()
	// Run returns when what it had begun is done, with a context that is still alive; and
	// it keeps jobs from other processes only while it runs.
	queue := &fakeJobs{}
	begun, release, alive := make(chan struct{}), make(chan struct{}), make(chan bool, 1)
	l, end := startWorkers(t, queue, jobs.Handler{Step: step, Do: func(ctx context.Context, _ []ports.Job) error {
		close(begun)
		<-release
		alive <- ctx.Err() == nil
		return nil
	}})
	l.Submit([]ports.Job{job(1)})
	<-begun
	if l.LocalLease() <= 0 {
		t.Error("jobs are not kept while there is work")
	}

	go close(release)
	end()

	if !<-alive || l.LocalLease() != 0 {
		t.Errorf("the work was cut off, or jobs are still kept: %s", l.LocalLease())
	}
}
