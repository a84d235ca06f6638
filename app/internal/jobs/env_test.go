package jobs_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"

	"causeway/app/internal/jobs"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

const step = transaction.StepPull

// fakeJobs keeps jobs in memory, in the order of their due times.
type fakeJobs struct {
	mu      sync.Mutex
	jobs    []ports.Job
	limits  []int
	renewed int
	// panics is how many further calls of each kind panic.
	panics struct{ take, renew, fail int }
	// stall is how long the next renewal takes, before it changes anything.
	stall time.Duration
}

func (f *fakeJobs) DueSteps(_ context.Context, steps []transaction.Step, now time.Time) (due []transaction.Step, _ error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range steps {
		if slices.ContainsFunc(f.jobs, func(j ports.Job) bool { return j.Step == s && !j.Dead && !j.Due.After(now) }) {
			due = append(due, s)
		}
	}
	return due, nil
}

func (f *fakeJobs) TakeJobs(_ context.Context, s transaction.Step, now time.Time, lease time.Duration, limit int) ([]ports.Job, error) {
	return f.take(s, now, lease, limit, func(ports.Job) bool { return true })
}

func (f *fakeJobs) TakeJobsInTurn(_ context.Context, s transaction.Step, now time.Time, lease time.Duration,
	turn ports.Turn) ([]ports.Job, error) {
	perPlatform := map[ident.Platform]int{}
	return f.take(s, now, lease, turn.Limit, func(j ports.Job) bool {
		if j.Platform.Compare(turn.After) <= 0 && !turn.After.IsZero() || slices.Contains(turn.Except, j.Platform) ||
			perPlatform[j.Platform] == turn.PerPlatform {
			return false
		}
		perPlatform[j.Platform]++
		return true
	})
}

func (f *fakeJobs) take(s transaction.Step, now time.Time, lease time.Duration, limit int,
	wanted func(ports.Job) bool) (taken []ports.Job, _ error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	countdown(&f.panics.take)
	f.limits = append(f.limits, limit)
	for i := range f.jobs {
		if j := &f.jobs[i]; j.Step == s && !j.Dead && !j.Due.After(now) && len(taken) < limit && wanted(*j) {
			j.Due, j.Attempts, j.Lease = now.Add(lease), j.Attempts+1, j.Lease+1
			taken = append(taken, *j)
		}
	}
	return taken, nil
}

func (f *fakeJobs) RenewLeases(_ context.Context, held []ports.Job, now time.Time, lease time.Duration) error {
	f.panic(&f.panics.renew)
	f.mu.Lock()
	stall := f.stall
	f.stall = 0
	f.mu.Unlock()
	time.Sleep(stall)
	f.each(held, func(stored *ports.Job, _ ports.Job) { stored.Due = now.Add(lease); f.renewed++ })
	return nil
}

func (f *fakeJobs) FailJobs(_ context.Context, failed []ports.Job, _ time.Time) error {
	f.panic(&f.panics.fail)
	f.each(failed, func(stored *ports.Job, j ports.Job) { *stored = j })
	f.mu.Lock()
	defer f.mu.Unlock()
	slices.SortStableFunc(f.jobs, func(a, b ports.Job) int { return a.Due.Compare(b.Due) })
	return nil
}

// panic panics if left is not zero, and counts it down.
func (f *fakeJobs) panic(left *int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	countdown(left)
}

func countdown(left *int) {
	if *left > 0 {
		*left--
		panic("out of order")
	}
}

// finish deletes jobs, or returns ErrLeaseLost.
func (f *fakeJobs) finish(held ...ports.Job) error {
	found := 0
	f.each(held, func(stored *ports.Job, _ ports.Job) { found++; stored.Step = "finished" })
	if found < len(held) {
		return ports.ErrLeaseLost
	}
	return nil
}

// each calls fn for each job whose lease is held.
func (f *fakeJobs) each(held []ports.Job, fn func(stored *ports.Job, job ports.Job)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range held {
		for i := range f.jobs {
			if stored := &f.jobs[i]; stored.ID == h.ID && stored.Lease == h.Lease && stored.Step == h.Step {
				fn(stored, h)
			}
		}
	}
}

// get returns a stored job.
func (f *fakeJobs) get(id uuid.UUID) ports.Job {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.jobs[slices.IndexFunc(f.jobs, func(j ports.Job) bool { return j.ID == id })]
}

// renewals returns how many leases were renewed.
func (f *fakeJobs) renewals() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.renewed
}

// allLimits returns the limits of all calls that took jobs.
func (f *fakeJobs) allLimits() []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.limits
}

// systemClock is the fake time of a test in a bubble.
type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

// failures counts failed attempts, and those after which the job was dead.
type failures struct {
	mu sync.Mutex
	counts
}

type counts struct{ failed, dead int }

func (f *failures) Failed(_ transaction.Step, dead bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed++
	if dead {
		f.dead++
	}
}

func (f *failures) get() counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts
}

// job is a job that is due at once.
func job(n byte) ports.Job { return jobOf(1, n) }

func jobOf(platform, n byte) ports.Job {
	j := ports.Job{ID: uuid.UUID{14: platform, 15: n}, Step: step, Due: time.Now(), Subjects: []uuid.UUID{{15: n}}}
	j.Platform.SetUUID(uuid.UUID{15: platform})
	return j
}

// workers are workers with one handler on fake jobs, in a bubble with fake time.
type workers struct {
	*jobs.Workers
	queue    *fakeJobs
	failures failures
	stop     func()
}

// run runs a test in a bubble, with workers that have the handler. The handler's jobs are finished
// when it returns nil.
func run(t *testing.T, handler jobs.Handler, due []ports.Job, test func(*workers)) {
	t.Helper()
	log := logrus.New()
	log.SetOutput(t.Output())
	synctest.Test(t, func(*testing.T) {
		now := time.Now()
		for i := range due { // the fake time of the bubble
			due[i].Due = now.Add(time.Duration(i))
		}
		w := &workers{queue: &fakeJobs{jobs: due}}
		do := handler.Do
		handler.Step = step
		handler.Do = func(ctx context.Context, batch []ports.Job) error {
			if err := do(ctx, batch); err != nil {
				return err
			}
			return w.queue.finish(batch...)
		}
		w.Workers = jobs.New(jobs.Config{Jobs: w.queue, Clock: systemClock{}, Log: logrus.NewEntry(log), Metrics: &w.failures,
			Retry: jobs.RetryPolicy{MaxAttempts: 6}}, handler)
		ctx, cancel := context.WithCancel(context.Background())
		stopped := make(chan struct{})
		go func() { w.Run(ctx); close(stopped) }()
		w.stop = sync.OnceFunc(func() { cancel(); <-stopped })
		defer w.stop()
		synctest.Wait()
		test(w)
	})
}

// submit stores jobs as a unit of work of this process does, and submits them.
func (w *workers) submit(list ...ports.Job) {
	w.queue.mu.Lock()
	for i := range list {
		list[i].Due = time.Now().Add(w.LocalLease())
	}
	w.queue.jobs = append(w.queue.jobs, list...)
	w.queue.mu.Unlock()
	w.Submit(list)
}

// sleep lets time pass, and waits until the workers have done what was due.
func (w *workers) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
