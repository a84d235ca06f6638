package payments

import (
	"context"
	"sync"
	"time"

	"causeway/core/transaction"
	"causeway/ports"
)

const (
	// lease is how long a process may work on jobs it took.
	lease = 30 * time.Second
	// poll is how often a process looks for jobs that others left or that became due.
	poll = 250 * time.Millisecond
	// atOnce is how many jobs, and roughly how many transactions, are done together.
	atOnce       = 64
	transactions = 512
)

// do works on jobs of one step, and ends them in the unit of work that settles them.
type do func(ctx context.Context, jobs []ports.Job) error

// lane is the work of one step in this process.
type lane struct {
	do   do
	mine chan ports.Job
}

func newLane(do do) *lane {
	return &lane{do: do, mine: make(chan ports.Job, 1024)}
}

// handOver gives a fresh job to this process. When too much waits already, the job
// is left to whoever finds it due.
func (l *lane) handOver(j ports.Job) {
	select {
	case l.mine <- j:
	default:
	}
}

// Run works on every step until ctx ends, and returns when what it had begun is
// done. Any number of processes may run it on one database.
func (p *Payments) Run(ctx context.Context) {
	p.working.Store(true)
	defer p.working.Store(false)
	var all sync.WaitGroup
	for step, l := range p.steps {
		all.Go(func() { p.runLane(ctx, step, l) })
	}
	all.Wait()
}

func (p *Payments) runLane(ctx context.Context, step transaction.Step, l *lane) {
	// Work that was begun is finished, also when the program is asked to stop.
	working := context.WithoutCancel(ctx)
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			p.doRest(working, step, l)
			return
		case first := <-l.mine:
			if p.Linger > 0 && len(l.mine) > 0 {
				time.Sleep(p.Linger) // there is company: more of it makes each cheaper
			}
			p.doJobs(working, step, l, l.gather(first))
		case <-tick.C:
			p.doDue(working, step, l)
		}
	}
}

// doRest does what was handed to this process and nobody else would do soon.
func (p *Payments) doRest(ctx context.Context, step transaction.Step, l *lane) {
	for {
		select {
		case first := <-l.mine:
			p.doJobs(ctx, step, l, l.gather(first))
		default:
			return
		}
	}
}

// gather adds to the first job what else was handed over meanwhile.
func (l *lane) gather(first ports.Job) []ports.Job {
	jobs, subjects := []ports.Job{first}, len(first.Subjects)
	for len(jobs) < atOnce && subjects < transactions {
		select {
		case j := <-l.mine:
			jobs, subjects = append(jobs, j), subjects+len(j.Subjects)
		default:
			return jobs
		}
	}
	return jobs
}

// doDue takes jobs from the database until few are left.
func (p *Payments) doDue(ctx context.Context, step transaction.Step, l *lane) {
	for {
		jobs, err := p.Jobs.TakeJobs(ctx, step, p.Clock.Now(), lease, atOnce)
		if err != nil {
			p.Log.WithError(err).WithField("step", step).Warn("cannot look for due work")
			return
		}
		if len(jobs) > 0 {
			p.doJobs(ctx, step, l, jobs)
		}
		if len(jobs) < atOnce {
			return
		}
	}
}

// doJobs does jobs together. When that fails each is tried alone, and one that
// fails alone becomes due again later, so that a poisoned one holds nobody up.
func (p *Payments) doJobs(ctx context.Context, step transaction.Step, l *lane, jobs []ports.Job) {
	err := l.do(ctx, jobs)
	if err == nil {
		return
	}
	if len(jobs) > 1 {
		for i := range jobs {
			p.doJobs(ctx, step, l, jobs[i:i+1])
		}
		return
	}
	p.Log.WithError(err).WithField("step", step).WithField("job", jobs[0].ID.String()).
		WithField("attempts", jobs[0].Attempts).Warn("work failed and will be tried again")
	if err := p.Jobs.PostponeJobs(ctx, jobs, p.Clock.Now().Add(patience(jobs[0].Attempts))); err != nil {
		p.Log.WithError(err).WithField("step", step).Warn("cannot postpone work; it becomes due when its lease ends")
	}
}

// patience grows from one second to five minutes with the attempts made.
func patience(attempts int) time.Duration {
	return min(time.Second<<min(attempts, 10), 5*time.Minute)
}
