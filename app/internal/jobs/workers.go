// Package jobs runs the jobs that units of work store. Every step has its own queue and workers,
// so that slow steps do not delay others.
//
// A process submits the jobs that it has just committed to its own workers, which run them without
// reading the database. Any process runs the jobs that it finds due there: retries, jobs due later,
// and those of a process that stopped. What a job does is up to the handler of its step.
package jobs

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/core/transaction"
	"causeway/ports"
)

const (
	// leaseDuration is how long a process may work on jobs that it took from the database.
	leaseDuration = 30 * time.Second
	// pollInterval is how often a process looks for due jobs in the database.
	pollInterval = 250 * time.Millisecond
	// localLeaseDuration is how long a new job is reserved for the process that stored it.
	// Usually it is finished long before.
	localLeaseDuration = 15 * time.Second
	// maxLocalSubjects is about how many subjects of submitted jobs are run together.
	maxLocalSubjects = 512
)

// HandlerFunc runs jobs of one step together, and finishes them in the unit of work that settles
// them. Its context is not cancelled when Run's is.
type HandlerFunc func(ctx context.Context, jobs []ports.Job) error

// Handler runs the jobs of one step.
type Handler struct {
	Step transaction.Step
	Do   HandlerFunc
	// MaxBatch is the maximum number of jobs in one call of Do; 64 if zero.
	MaxBatch int
	// MaxConcurrency is the maximum number of concurrent calls of Do; 1 if zero.
	MaxConcurrency int
}

// Config is what Workers need.
type Config struct {
	Jobs  ports.Jobs
	Clock ports.Clock
	Log   *logrus.Entry
	// MaxDelay is how long a busy queue waits for further jobs, to run more of them together.
	MaxDelay time.Duration
}

// Workers are the job workers of one process.
type Workers struct {
	Config
	queues map[transaction.Step]*stepQueue
	// running is whether Run is running, so that submitted jobs will be run.
	running atomic.Bool
}

type stepQueue struct {
	Handler
	local   chan ports.Job
	slots   chan struct{} // holds one element for each running call of Do
	running sync.WaitGroup
}

// New returns workers for the handlers. They start with Run.
func New(c Config, handlers ...Handler) *Workers {
	w := &Workers{Config: c, queues: map[transaction.Step]*stepQueue{}}
	for _, h := range handlers {
		if h.MaxBatch == 0 {
			h.MaxBatch = 64
		}
		if h.MaxConcurrency == 0 {
			h.MaxConcurrency = 1
		}
		w.queues[h.Step] = &stepQueue{Handler: h, local: make(chan ports.Job, 1024), slots: make(chan struct{}, h.MaxConcurrency)}
	}
	return w
}

// LocalLease returns how long a new job is to be reserved for this process; zero if Run is not
// running.
func (w *Workers) LocalLease() time.Duration {
	if w.running.Load() {
		return localLeaseDuration
	}
	return 0
}

// Submit queues committed jobs in this process. If the queue of a step is full, the job is run when
// its local lease ends, by any process.
func (w *Workers) Submit(jobs []ports.Job) {
	for _, j := range jobs {
		if q, ok := w.queues[j.Step]; ok {
			select {
			case q.local <- j:
			default:
			}
		}
	}
}

// Run runs jobs until ctx is done, and returns when the jobs that it started and those submitted
// before are finished. Any number of processes may run it on one database.
func (w *Workers) Run(ctx context.Context) {
	w.running.Store(true)
	defer w.running.Store(false)
	var running sync.WaitGroup
	for _, q := range w.queues {
		running.Go(func() { w.runQueue(ctx, q) })
	}
	running.Wait()
}

func (w *Workers) runQueue(ctx context.Context, q *stepQueue) {
	// Jobs that were started are finished, also when the program is asked to stop.
	jobCtx := context.WithoutCancel(ctx)
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	defer q.running.Wait()
	for {
		select {
		case <-ctx.Done():
			w.drain(jobCtx, q)
			return
		case first := <-q.local:
			q.slots <- struct{}{} // further jobs arrive while all slots are taken
			if w.MaxDelay > 0 && len(q.local) > 0 {
				time.Sleep(w.MaxDelay) // the queue is busy: more jobs together cost less each
			}
			w.start(jobCtx, q, q.gather(first))
		case <-tick.C:
			w.takeDue(jobCtx, q)
		}
	}
}

// drain starts the submitted jobs, which another process would run only after their local lease.
func (w *Workers) drain(ctx context.Context, q *stepQueue) {
	for {
		select {
		case first := <-q.local:
			q.slots <- struct{}{}
			w.start(ctx, q, q.gather(first))
		default:
			return
		}
	}
}

// gather adds to the first job what else is submitted already.
func (q *stepQueue) gather(first ports.Job) []ports.Job {
	jobs, subjects := []ports.Job{first}, len(first.Subjects)
	for len(jobs) < q.MaxBatch && subjects < maxLocalSubjects {
		select {
		case j := <-q.local:
			jobs, subjects = append(jobs, j), subjects+len(j.Subjects)
		default:
			return jobs
		}
	}
	return jobs
}

// start runs jobs in the background. The caller has taken a slot; start releases it.
func (w *Workers) start(ctx context.Context, q *stepQueue, jobs []ports.Job) {
	q.running.Go(func() {
		defer func() { <-q.slots }()
		w.do(ctx, q, jobs)
	})
}

// takeDue takes due jobs from the database, as many as there are free slots for, until fewer are
// due than it asks for.
func (w *Workers) takeDue(ctx context.Context, q *stepQueue) {
	for {
		capacity := (q.MaxConcurrency - len(q.slots)) * q.MaxBatch
		if capacity == 0 {
			return
		}
		limit := min(capacity, max(q.MaxBatch, 64))
		jobs, err := w.Jobs.TakeJobs(ctx, q.Step, w.Clock.Now(), leaseDuration, limit)
		if err != nil {
			w.Log.WithError(err).WithField("step", q.Step).Warn("cannot claim due jobs")
			return
		}
		taken := len(jobs)
		for len(jobs) > 0 {
			n := min(len(jobs), q.MaxBatch)
			q.slots <- struct{}{}
			w.start(ctx, q, jobs[:n:n])
			jobs = jobs[n:]
		}
		if taken < limit {
			return
		}
	}
}

// do runs jobs together. If that fails it runs each alone, and postpones one that fails alone, so
// that a failing job does not block the others.
func (w *Workers) do(ctx context.Context, q *stepQueue, jobs []ports.Job) {
	err := q.Do(ctx, jobs)
	if err == nil {
		return
	}
	if len(jobs) > 1 {
		for i := range jobs {
			w.do(ctx, q, jobs[i:i+1])
		}
		return
	}
	w.Log.WithError(err).WithField("step", q.Step).WithField("job", jobs[0].ID.String()).
		WithField("attempts", jobs[0].Attempts).Warn("job failed; will retry")
	if err := w.Jobs.PostponeJobs(ctx, jobs, w.Clock.Now().Add(backoff(jobs[0].Attempts))); err != nil {
		w.Log.WithError(err).WithField("step", q.Step).Warn("cannot postpone the job; it is due again when its lease ends")
	}
}

// backoff returns the delay before the next attempt: one second, doubled with every attempt, at
// most five minutes.
func backoff(attempts int) time.Duration {
	return min(time.Second<<min(attempts, 10), 5*time.Minute)
}
