package lanes_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"

	"causeway/app/lanes"
	"causeway/core/transaction"
	"causeway/ports"
)

const step = transaction.StepPull

// table is the jobs of a database, by hand.
type table struct {
	mu        sync.Mutex
	due       []ports.Job
	limits    []int
	postponed chan ports.Job
}

func (t *table) TakeJobs(_ context.Context, s transaction.Step, _ time.Time, _ time.Duration, limit int) ([]ports.Job, error) {
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

func (t *table) PostponeJobs(_ context.Context, jobs []ports.Job, _ time.Time) error {
	for _, j := range jobs {
		t.postponed <- j
	}
	return nil
}

type now struct{}

func (now) Now() time.Time { return time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC) }

func job(n byte) ports.Job { return ports.Job{ID: uuid.UUID{15: n}, Step: step} }

// open begins work in a lane; close ends it, and returns when it has ended.
func open(t *testing.T, jobs *table, lane lanes.Lane) (l *lanes.Lanes, end func()) {
	t.Helper()
	log := logrus.New()
	log.SetOutput(t.Output())
	l = lanes.New(lanes.Config{Jobs: jobs, Clock: now{}, Log: logrus.NewEntry(log)}, lane)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { l.Run(ctx); close(ended) }()
	end = sync.OnceFunc(func() { stop(); <-ended })
	t.Cleanup(end)
	return l, end
}

func TestJobsAreDoneWhoeverLeftThem(t *testing.T) {
	t.Parallel()
	// A job that is handed over is done, and one that lies in the database is too.
	jobs := &table{due: []ports.Job{job(1)}}
	done := make(chan uuid.UUID, 9)
	l, _ := open(t, jobs, lanes.Lane{Step: step, Do: func(_ context.Context, jobs []ports.Job) error {
		for _, j := range jobs {
			done <- j.ID
		}
		return nil
	}})

	l.HandOver([]ports.Job{job(2), {ID: uuid.UUID{15: 3}, Step: "another lane's"}})

	seen := map[uuid.UUID]bool{<-done: true, <-done: true}
	if !seen[job(1).ID] || !seen[job(2).ID] {
		t.Errorf("done: %v", seen)
	}
}

func TestOneBadJobHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	// When a group fails each of its jobs is tried alone; the one that fails then is put
	// off, and the others are done.
	jobs := &table{due: []ports.Job{job(1), job(2), job(3)}, postponed: make(chan ports.Job, 9)}
	done := make(chan uuid.UUID, 9)
	open(t, jobs, lanes.Lane{Step: step, Do: func(_ context.Context, jobs []ports.Job) error {
		for _, j := range jobs {
			if j.ID == job(2).ID {
				return errors.New("poisoned")
			}
		}
		done <- jobs[0].ID
		return nil
	}})

	seen := map[uuid.UUID]bool{<-done: true, <-done: true}
	if bad := <-jobs.postponed; bad.ID != job(2).ID || !seen[job(1).ID] || !seen[job(3).ID] {
		t.Errorf("put off %s, done %v", bad.ID, seen)
	}
}

func TestASlowJobLeavesRoom(t *testing.T) {
	t.Parallel()
	// In a wide lane jobs run beside one that takes its time, as many as there is room
	// for and no more; no more than that is taken from the database.
	jobs := &table{due: []ports.Job{job(1), job(2), job(3)}}
	release, begun := make(chan struct{}), make(chan uuid.UUID, 9)
	_, end := open(t, jobs, lanes.Lane{Step: step, Most: 1, Width: 2, Do: func(_ context.Context, jobs []ports.Job) error {
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
	jobs.mu.Lock()
	defer jobs.mu.Unlock()
	for _, limit := range jobs.limits {
		if limit > 2 {
			t.Errorf("%d jobs were asked for", limit)
		}
	}
}

func TestWorkThatWasBegunIsFinished(t *testing.T) {
	t.Parallel()
	// Run returns when what it had begun is done, with a context that is still alive; and
	// it keeps jobs from other processes only while it runs.
	jobs := &table{}
	begun, release, alive := make(chan struct{}), make(chan struct{}), make(chan bool, 1)
	l, end := open(t, jobs, lanes.Lane{Step: step, Do: func(ctx context.Context, _ []ports.Job) error {
		close(begun)
		<-release
		alive <- ctx.Err() == nil
		return nil
	}})
	l.HandOver([]ports.Job{job(1)})
	<-begun
	if l.Handover() <= 0 {
		t.Error("jobs are not kept while there is work")
	}

	go close(release)
	end()

	if !<-alive || l.Handover() != 0 {
		t.Errorf("the work was cut off, or jobs are still kept: %s", l.Handover())
	}
}
