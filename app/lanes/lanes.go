// Package lanes works off jobs: each step of the work has a lane of its own, so that
// slow steps hold up no others.
//
// A job that a process has just committed is handed to its own lanes and done without
// a look into the database; one that is left behind is done by whichever process finds
// it due. It never decides anything: what a job means is its step's to know.
package lanes

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
	// lease is how long a process may work on jobs it took.
	lease = 30 * time.Second
	// poll is how often a process looks for jobs that others left or that became due.
	poll = 250 * time.Millisecond
	// handover is how long a new job is this process's own before any other may take
	// it: usually it is done long before.
	handover = 15 * time.Second
	// atOnce is roughly how many subjects are gathered from jobs that were handed over.
	atOnce = 512
)

// Do works on jobs of one step together, and ends them in the unit of work that
// settles them. It is called with a context that outlives Run's.
type Do func(ctx context.Context, jobs []ports.Job) error

// Lane is the work of one step.
type Lane struct {
	Step transaction.Step
	Do   Do
	// Most is how many jobs are done together; 64 when zero.
	Most int
	// Width is how many groups of jobs run side by side; 1 when zero.
	Width int
}

// Config is what lanes need.
type Config struct {
	Jobs  ports.Jobs
	Clock ports.Clock
	Log   *logrus.Entry
	// Linger is how long a busy lane waits for company.
	Linger time.Duration
}

// Lanes are the lanes of one process.
type Lanes struct {
	Config
	lanes map[transaction.Step]*lane
	// working tells whether Run runs here, so that new work can be handed over.
	working atomic.Bool
}

type lane struct {
	Lane
	mine  chan ports.Job
	slots chan struct{} // one in it for each group that runs
	all   sync.WaitGroup
}

// New makes the lanes; Run works in them.
func New(c Config, wanted ...Lane) *Lanes {
	l := &Lanes{Config: c, lanes: map[transaction.Step]*lane{}}
	for _, w := range wanted {
		if w.Most == 0 {
			w.Most = 64
		}
		if w.Width == 0 {
			w.Width = 1
		}
		l.lanes[w.Step] = &lane{Lane: w, mine: make(chan ports.Job, 1024), slots: make(chan struct{}, w.Width)}
	}
	return l
}

// Handover is how long a new job has to be kept from other processes; a process that
// does no work keeps none.
func (l *Lanes) Handover() time.Duration {
	if l.working.Load() {
		return handover
	}
	return 0
}

// HandOver gives committed jobs to this process. When too much waits already, a job is
// left to whoever finds it due.
func (l *Lanes) HandOver(jobs []ports.Job) {
	for _, j := range jobs {
		if lane, ok := l.lanes[j.Step]; ok {
			select {
			case lane.mine <- j:
			default:
			}
		}
	}
}

// Run works in every lane until ctx ends, and returns when what it had begun is done.
// Any number of processes may run it on one database.
func (l *Lanes) Run(ctx context.Context) {
	l.working.Store(true)
	defer l.working.Store(false)
	var all sync.WaitGroup
	for _, lane := range l.lanes {
		all.Go(func() { l.run(ctx, lane) })
	}
	all.Wait()
}

func (l *Lanes) run(ctx context.Context, lane *lane) {
	// Work that was begun is finished, also when the program is asked to stop.
	working := context.WithoutCancel(ctx)
	tick := time.NewTicker(poll)
	defer tick.Stop()
	defer lane.all.Wait()
	for {
		select {
		case <-ctx.Done():
			l.rest(working, lane)
			return
		case first := <-lane.mine:
			lane.slots <- struct{}{} // company gathers while there is no room
			if l.Linger > 0 && len(lane.mine) > 0 {
				time.Sleep(l.Linger) // there is company: more of it makes each cheaper
			}
			l.start(working, lane, lane.gather(first))
		case <-tick.C:
			l.due(working, lane)
		}
	}
}

// rest does what was handed to this process and nobody else would do soon.
func (l *Lanes) rest(ctx context.Context, lane *lane) {
	for {
		select {
		case first := <-lane.mine:
			lane.slots <- struct{}{}
			l.start(ctx, lane, lane.gather(first))
		default:
			return
		}
	}
}

// gather adds to the first job what else was handed over meanwhile.
func (lane *lane) gather(first ports.Job) []ports.Job {
	jobs, subjects := []ports.Job{first}, len(first.Subjects)
	for len(jobs) < lane.Most && subjects < atOnce {
		select {
		case j := <-lane.mine:
			jobs, subjects = append(jobs, j), subjects+len(j.Subjects)
		default:
			return jobs
		}
	}
	return jobs
}

// start does jobs beside others, in a slot that is taken, and gives it back.
func (l *Lanes) start(ctx context.Context, lane *lane, jobs []ports.Job) {
	lane.all.Go(func() {
		defer func() { <-lane.slots }()
		l.do(ctx, lane, jobs)
	})
}

// due takes jobs from the database, as many as there is room for, until few are left.
func (l *Lanes) due(ctx context.Context, lane *lane) {
	for {
		room := (lane.Width - len(lane.slots)) * lane.Most
		if room == 0 {
			return
		}
		wanted := min(room, max(lane.Most, 64))
		jobs, err := l.Jobs.TakeJobs(ctx, lane.Step, l.Clock.Now(), lease, wanted)
		if err != nil {
			l.Log.WithError(err).WithField("step", lane.Step).Warn("cannot look for due work")
			return
		}
		taken := len(jobs)
		for len(jobs) > 0 {
			n := min(len(jobs), lane.Most)
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
func (l *Lanes) do(ctx context.Context, lane *lane, jobs []ports.Job) {
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
	if err := l.Jobs.PostponeJobs(ctx, jobs, l.Clock.Now().Add(patience(jobs[0].Attempts))); err != nil {
		l.Log.WithError(err).WithField("step", lane.Step).Warn("cannot postpone work; it becomes due when its lease ends")
	}
}

// patience grows from one second to five minutes with the attempts made.
func patience(attempts int) time.Duration {
	return min(time.Second<<min(attempts, 10), 5*time.Minute)
}
