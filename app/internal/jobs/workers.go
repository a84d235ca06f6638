// Package lanes works off jobs: each step of the work has a lane of its own, so that
// slow steps hold up no others.
//
// A job that a process has just committed is handed to its own lanes and done without
// a look into the database; one that is left behind is done by whichever process finds
// it due. It never decides anything: what a job means is its step's to know.
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
	// leaseDuration is how long a process may work on jobs it took.
	leaseDuration = 30 * time.Second
	// pollInterval is how often a process looks for jobs that others left or that became due.
	pollInterval = 250 * time.Millisecond
	// localLeaseDuration is how long a new job is this process's own before any other may take
	// it: usually it is done long before.
	localLeaseDuration = 15 * time.Second
	// maxLocalSubjects is roughly how many subjects are gathered from jobs that were handed over.
	maxLocalSubjects = 512
)

// HandlerFunc works on jobs of one step together, and ends them in the unit of work that
// settles them. It is called with a context that outlives Run's.
type HandlerFunc func(ctx context.Context, jobs []ports.Job) error

// Handler is the work of one step.
type Handler struct {
	Step transaction.Step
	Do   HandlerFunc
	// MaxBatch is how many jobs are done together; 64 when zero.
	MaxBatch int
	// MaxConcurrency is how many groups of jobs run side by side; 1 when zero.
	MaxConcurrency int
}

// Config is what lanes need.
type Config struct {
	Jobs  ports.Jobs
	Clock ports.Clock
	Log   *logrus.Entry
	// MaxDelay is how long a busy lane waits for company.
	MaxDelay time.Duration
}

// Workers are the lanes of one process.
type Workers struct {
	Config
	queues map[transaction.Step]*stepQueue
	// running tells whether Run runs here, so that new work can be handed over.
	running atomic.Bool
}

type stepQueue struct {
	Handler
	local   chan ports.Job
	slots   chan struct{} // one in it for each group that runs
	running sync.WaitGroup
}

// New makes the lanes; Run works in them.
func New(c Config, wanted ...Handler) *Workers {
	l := &Workers{Config: c, queues: map[transaction.Step]*stepQueue{}}
	for _, w := range wanted {
		if w.MaxBatch == 0 {
			w.MaxBatch = 64
		}
		if w.MaxConcurrency == 0 {
			w.MaxConcurrency = 1
		}
		l.queues[w.Step] = &stepQueue{Handler: w, local: make(chan ports.Job, 1024), slots: make(chan struct{}, w.MaxConcurrency)}
	}
	return l
}

// LocalLease is how long a new job has to be kept from other processes; a process that
// does no work keeps none.
func (l *Workers) LocalLease() time.Duration {
	if l.running.Load() {
		return localLeaseDuration
	}
	return 0
}

// Submit gives committed jobs to this process. When too much waits already, a job is
// left to whoever finds it due.
func (l *Workers) Submit(jobs []ports.Job) {
	for _, j := range jobs {
		if lane, ok := l.queues[j.Step]; ok {
			select {
			case lane.local <- j:
			default:
			}
		}
	}
}

// Run works in every lane until ctx ends, and returns when what it had begun is done.
// Any number of processes may run it on one database.
func (l *Workers) Run(ctx context.Context) {
	l.running.Store(true)
	defer l.running.Store(false)
	var all sync.WaitGroup
	for _, lane := range l.queues {
		all.Go(func() { l.runQueue(ctx, lane) })
	}
	all.Wait()
}

func (l *Workers) runQueue(ctx context.Context, lane *stepQueue) {
	// Work that was begun is finished, also when the program is asked to stop.
	working := context.WithoutCancel(ctx)
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	defer lane.running.Wait()
	for {
		select {
		case <-ctx.Done():
			l.drain(working, lane)
			return
		case first := <-lane.local:
			lane.slots <- struct{}{} // company gathers while there is no room
			if l.MaxDelay > 0 && len(lane.local) > 0 {
				time.Sleep(l.MaxDelay) // there is company: more of it makes each cheaper
			}
			l.start(working, lane, lane.gather(first))
		case <-tick.C:
			l.takeDue(working, lane)
		}
	}
}

// drain does what was handed to this process and nobody else would do soon.
func (l *Workers) drain(ctx context.Context, lane *stepQueue) {
	for {
		select {
		case first := <-lane.local:
			lane.slots <- struct{}{}
			l.start(ctx, lane, lane.gather(first))
		default:
			return
		}
	}
}

// gather adds to the first job what else was handed over meanwhile.
func (lane *stepQueue) gather(first ports.Job) []ports.Job {
	jobs, subjects := []ports.Job{first}, len(first.Subjects)
	for len(jobs) < lane.MaxBatch && subjects < maxLocalSubjects {
		select {
		case j := <-lane.local:
			jobs, subjects = append(jobs, j), subjects+len(j.Subjects)
		default:
			return jobs
		}
	}
	return jobs
}

// start does jobs beside others, in a slot that is taken, and gives it back.
func (l *Workers) start(ctx context.Context, lane *stepQueue, jobs []ports.Job) {
	lane.running.Go(func() {
		defer func() { <-lane.slots }()
		l.do(ctx, lane, jobs)
	})
}

// takeDue takes jobs from the database, as many as there is room for, until few are left.
func (l *Workers) takeDue(ctx context.Context, lane *stepQueue) {
	for {
		room := (lane.MaxConcurrency - len(lane.slots)) * lane.MaxBatch
		if room == 0 {
			return
		}
		wanted := min(room, max(lane.MaxBatch, 64))
		jobs, err := l.Jobs.TakeJobs(ctx, lane.Step, l.Clock.Now(), leaseDuration, wanted)
		if err != nil {
			l.Log.WithError(err).WithField("step", lane.Step).Warn("cannot look for due work")
			return
		}
		taken := len(jobs)
		for len(jobs) > 0 {
			n := min(len(jobs), lane.MaxBatch)
			lane.slots <- struct{}{}
			l.start(ctx, lane, jobs[:n:n])
			jobs = jobs[n:]
		}
		if taken < wanted {
			return
		}
	}
}

// do does jobs together. When that fails each is tried alone, and one that fails alone
// becomes due again later, so that a poisoned one holds nobody up.
func (l *Workers) do(ctx context.Context, lane *stepQueue, jobs []ports.Job) {
	err := lane.Do(ctx, jobs)
	if err == nil {
		return
	}
	if len(jobs) > 1 {
		for i := range jobs {
			l.do(ctx, lane, jobs[i:i+1])
		}
		return
	}
	l.Log.WithError(err).WithField("step", lane.Step).WithField("job", jobs[0].ID.String()).
		WithField("attempts", jobs[0].Attempts).Warn("work failed and will be tried again")
	if err := l.Jobs.PostponeJobs(ctx, jobs, l.Clock.Now().Add(backoff(jobs[0].Attempts))); err != nil {
		l.Log.WithError(err).WithField("step", lane.Step).Warn("cannot postpone work; it becomes due when its lease ends")
	}
}

// backoff grows from one second to five minutes with the attempts made.
func backoff(attempts int) time.Duration {
	return min(time.Second<<min(attempts, 10), 5*time.Minute)
}
