// Package jobs runs the jobs that units of work store. Every step has its own queue and workers,
// so that slow steps do not delay others. In each queue the platforms take turns, and a batch is of
// one platform, so that the trouble or the backlog of one does not delay others.
//
// A process submits the jobs that it has just committed to its own workers, which run them without
// reading the database. Any process runs the jobs that it finds due there: retries, jobs due later,
// and those of a process that stopped. What a job does is up to the handler of its step.
//
// A process holds jobs under leases. It renews them while the jobs wait and run, and a handler that
// finishes a job whose lease was lost changes nothing. A run that fails, panics or exceeds its time
// counts as an attempt, unless the store is not available. The job is retried later and later, until
// it is dead and waits for an operator.
package jobs

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

const (
	// leaseDuration is how long jobs are reserved for the process that took them from the
	// database. The lease is renewed while they wait and run.
	leaseDuration = 30 * time.Second
	// renewInterval is how often the leases of running jobs are renewed.
	renewInterval = 8 * time.Second
	// renewBelow is what is left of the lease of a waiting job when it is renewed.
	renewBelow = 10 * time.Second
	// minLease is what must be left of a lease when a job is started, so that it is renewed in
	// time.
	minLease = 2 * time.Second
	// pollInterval is how often a process looks in the database for steps with due jobs.
	pollInterval = 250 * time.Millisecond
	// localLeaseDuration is how long a new job is reserved for the process that stored it.
	// Usually it is finished long before.
	localLeaseDuration = 15 * time.Second
	// statementTimeout is the timeout of each statement of the workers themselves.
	statementTimeout = 5 * time.Second
	// drainTimeout is how long Run lets jobs run on before it cancels them, and cancelTimeout
	// how long it then waits for them. A process must stop within ten seconds.
	drainTimeout  = 4 * time.Second
	cancelTimeout = time.Second
)

// HandlerFunc runs jobs of one step and platform together, and finishes them in the unit of work
// that settles them. Its context has a deadline, and is cancelled some seconds after Run's. It must
// return soon after.
type HandlerFunc func(ctx context.Context, jobs []ports.Job) error

// Handler runs the jobs of one step. Zero fields have defaults.
type Handler struct {
	Step transaction.Step
	Do   HandlerFunc
	// MaxBatch is the maximum number of jobs in one call of Do; 64 if zero.
	MaxBatch int
	// MaxConcurrency is the maximum number of concurrent calls of Do, each for another platform;
	// 8 if zero.
	MaxConcurrency int
	// MaxPerPlatform is the maximum number of concurrent calls for one platform; 1 if zero.
	MaxPerPlatform int
	// Timeout is the maximum duration of one call of Do; 30 seconds if zero.
	Timeout time.Duration
}

func (h Handler) withDefaults() Handler {
	if h.MaxBatch == 0 {
		h.MaxBatch = 64
	}
	if h.MaxConcurrency == 0 {
		h.MaxConcurrency = 8
	}
	if h.MaxPerPlatform == 0 {
		h.MaxPerPlatform = 1
	}
	if h.Timeout == 0 {
		h.Timeout = 30 * time.Second
	}
	return h
}

// Metrics records the results of jobs.
type Metrics interface {
	// Failed is called for each failed attempt; dead: it was the last one.
	Failed(step transaction.Step, dead bool)
}

// Config is what Workers need.
type Config struct {
	Jobs  ports.Jobs
	Clock ports.Clock
	Log   *logrus.Entry
	// MaxDelay is how long a busy queue waits for further jobs, to run more of them together.
	MaxDelay time.Duration
	// Retry says when failed jobs are run again.
	Retry RetryPolicy
	// Metrics may be nil.
	Metrics Metrics
}

// Workers are the job workers of one process.
type Workers struct {
	Config
	queues map[transaction.Step]*stepQueue
	// running is whether Run is running, so that submitted jobs will be run.
	running atomic.Bool
}

// New returns workers for the handlers. They start with Run.
func New(c Config, handlers ...Handler) *Workers {
	w := &Workers{Config: c, queues: map[transaction.Step]*stepQueue{}}
	for _, h := range handlers {
		h = h.withDefaults()
		w.queues[h.Step] = &stepQueue{
			Handler: h, workers: w, schedule: newSchedule(h, c.MaxDelay),
			submitted: make(chan *ports.Job, 1024), due: make(chan struct{}, 1), wake: make(chan func(*schedule), h.MaxConcurrency),
			renewed: make(chan func(*schedule), 1),
		}
	}
	return w
}

// Steps returns the steps that have a handler.
func (w *Workers) Steps() []transaction.Step { return slices.Sorted(maps.Keys(w.queues)) }

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
			case q.submitted <- &j:
			default:
			}
		}
	}
}

// Run runs jobs until ctx is done, and returns when the jobs that it started and those submitted
// before are finished, or cancelled because they take too long. Any number of processes may run it
// on one database.
func (w *Workers) Run(ctx context.Context) {
	w.running.Store(true)
	// Jobs that were started are finished, also when the program is asked to stop.
	jobCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		var running sync.WaitGroup
		running.Go(func() { w.untilStopped(ctx, "search for due jobs", func() { w.findDue(ctx) }) })
		for _, q := range w.queues {
			running.Go(func() { q.runUntilStopped(ctx, jobCtx) })
		}
		running.Wait()
	}()
	<-ctx.Done()
	w.running.Store(false) // new jobs are for other processes
	for _, wait := range []time.Duration{drainTimeout, cancelTimeout} {
		select {
		case <-stopped:
			return
		case <-time.After(wait):
			cancel()
		}
	}
	w.Log.Error("jobs did not stop when they were cancelled; other processes run them when their leases end")
}

// findDue tells the queues of steps with due jobs, again and again. One statement asks for all steps: most have none.
func (w *Workers) findDue(ctx context.Context) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	steps := w.Steps()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		statement, cancel := context.WithTimeout(ctx, statementTimeout)
		due, err := w.Jobs.DueSteps(statement, steps, w.Clock.Now())
		cancel()
		if err != nil && ctx.Err() == nil {
			w.Log.WithError(err).Warn("cannot look for due jobs; will retry")
		}
		for _, step := range due {
			select {
			case w.queues[step].due <- struct{}{}:
			default: // it has not looked since the last time
			}
		}
	}
}

// untilStopped calls run, and again after a panic, until ctx is done.
func (w *Workers) untilStopped(ctx context.Context, name string, run func()) {
	for !w.recovered(name, run) && ctx.Err() == nil {
		time.Sleep(pollInterval)
	}
}

// RunDue runs the due jobs one batch after the other, until none is due. It is for programs without
// running workers.
func (w *Workers) RunDue(ctx context.Context) error {
	for found := true; found; {
		found = false
		for _, q := range w.queues {
			jobs, err := w.Jobs.TakeJobs(ctx, q.Step, w.Clock.Now(), leaseDuration, q.MaxBatch)
			if err != nil {
				return err
			}
			found = found || len(jobs) > 0
			schedule := newSchedule(q.Handler, 0)
			schedule.add(w.buryUnfinished(ctx, jobs)...)
			for batch := schedule.next(w.Clock.Now()); batch != nil; batch = schedule.next(w.Clock.Now()) {
				w.runBatch(ctx, q.Handler, batch)
				schedule.finished(batch[0].Platform)
			}
		}
	}
	return nil
}

// stepQueue is the queue of one step. Its schedule belongs to the goroutine of run.
type stepQueue struct {
	Handler
	workers  *Workers
	schedule *schedule
	// submitted are jobs on their way to the schedule, and wake are changes of it.
	submitted chan *ports.Job // pointers, since a queue is mostly empty
	wake      chan func(*schedule)
	// due says that the database has due jobs.
	due chan struct{}
	// renewed is the change after a renewal of leases, of which one runs at a time.
	renewed  chan func(*schedule)
	renewing bool
	running  sync.WaitGroup
	// backlog is whether the last jobs taken were not all that are due: then the platforms take
	// turns, and cursor is the last one that had its turn.
	backlog bool
	cursor  ident.Platform
}

// runUntilStopped runs the queue, also after a panic.
func (q *stepQueue) runUntilStopped(ctx, jobCtx context.Context) {
	defer q.running.Wait()
	q.workers.untilStopped(ctx, "queue of step "+string(q.Step), func() { q.run(ctx, jobCtx) })
}

func (q *stepQueue) run(ctx, jobCtx context.Context) {
	tick := time.NewTicker(time.Second) // several times in renewBelow
	defer tick.Stop()
	look := false // in the database
	for {
		q.startBatches(jobCtx)
		if look && ctx.Err() == nil {
			if limit := q.schedule.capacity(); limit > 0 {
				look = q.takeDue(ctx, limit)
				continue
			}
		}
		select {
		case <-ctx.Done():
			q.drain(jobCtx)
			return
		case j := <-q.submitted:
			q.schedule.add(*j)
			q.addSubmitted()
		case change := <-q.wake:
			change(q.schedule)
			look = look || q.backlog
		case change := <-q.renewed:
			change(q.schedule)
			q.renewing = false
		case <-q.due:
			look = true
		case <-tick.C:
			q.renewWaiting(jobCtx)
		}
	}
}

// addSubmitted adds what was submitted so far.
func (q *stepQueue) addSubmitted() {
	for {
		select {
		case j := <-q.submitted:
			q.schedule.add(*j)
		default:
			return
		}
	}
}

// startBatches starts all batches that may run now.
func (q *stepQueue) startBatches(ctx context.Context) {
	for {
		now := q.workers.Clock.Now()
		batch := q.schedule.next(now)
		if batch == nil {
			break
		}
		q.running.Go(func() {
			q.workers.recovered("jobs of step "+string(q.Step), func() { q.workers.runBatch(ctx, q.Handler, batch) })
			q.wake <- func(s *schedule) { s.finished(batch[0].Platform) }
		})
	}
	// A platform with several jobs waits a moment for more: together they cost less each.
	for _, p := range q.schedule.startDelays() {
		q.running.Go(func() {
			time.Sleep(q.workers.MaxDelay)
			q.wake <- func(s *schedule) { s.delayed(p) }
		})
	}
}

// renewWaiting renews the leases of waiting jobs that end soon.
func (q *stepQueue) renewWaiting(ctx context.Context) {
	now := q.workers.Clock.Now()
	ending := q.schedule.ending(now)
	if q.renewing || len(ending) == 0 {
		return
	}
	q.renewing = true
	q.running.Go(func() {
		change := func(*schedule) {} // if it fails
		q.workers.recovered("renewal of leases", func() {
			if q.workers.renewOnce(ctx, ending, now) {
				at := q.workers.Clock.Now()
				change = func(s *schedule) { s.renewed(ending, at, now.Add(leaseDuration)) }
			}
		})
		q.renewed <- change
	})
}

// takeDue takes due jobs from the database and reports whether to look for more at once.
func (q *stepQueue) takeDue(ctx context.Context, limit int) bool {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	w, now := q.workers, q.workers.Clock.Now()
	slow := q.schedule.slow(now)
	var jobs []ports.Job
	var err error
	inTurn := q.backlog || len(slow) > 0
	if inTurn {
		jobs, err = w.Jobs.TakeJobsInTurn(ctx, q.Step, now, leaseDuration, ports.Turn{After: q.cursor, Except: slow,
			PerPlatform: q.MaxBatch, Limit: limit})
	} else {
		jobs, err = w.Jobs.TakeJobs(ctx, q.Step, now, leaseDuration, limit)
	}
	if err != nil {
		if ctx.Err() == nil || errors.Is(ctx.Err(), context.DeadlineExceeded) {
			w.Log.WithError(err).WithField("step", q.Step).Warn("cannot claim due jobs; will retry")
		}
		return false
	}
	full, began := len(jobs) == limit, q.cursor
	q.cursor = ident.Platform{}
	if inTurn && full {
		q.cursor = slices.MaxFunc(jobs, func(a, b ports.Job) int { return a.Platform.Compare(b.Platform) }).Platform
	}
	q.backlog = full || !began.IsZero() || len(slow) > 0 && q.backlog
	q.schedule.add(w.buryUnfinished(ctx, jobs)...)
	return full || !began.IsZero()
}

// drain runs the jobs that wait, which another process would run only after their lease.
func (q *stepQueue) drain(ctx context.Context) {
	q.addSubmitted()
	for q.startBatches(ctx); q.schedule.busy(); q.startBatches(ctx) {
		(<-q.wake)(q.schedule)
	}
}
