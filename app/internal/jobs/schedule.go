package jobs

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/ports"
)

const (
	// maxSubjects is about how many subjects are run together.
	maxSubjects = 512
	// maxWaiting is the maximum number of waiting jobs of a platform. Further ones are run when
	// their leases end.
	maxWaiting = 1024
	// slowAfter is how long a platform's jobs may run before no more of its due jobs are taken
	// until they end.
	slowAfter = 2 * time.Second
	// aloneAfter is the number of attempts after which a job is run alone, so that a failing job
	// does not fail others again and again.
	aloneAfter = 3
)

// schedule decides which waiting jobs of a step run next. The platforms take turns.
type schedule struct {
	Handler
	maxDelay  time.Duration
	platforms map[ident.Platform]*platformQueue
	turns     []*platformQueue // those with waiting jobs, in the order of their turns
	running   int
	waiting   int
}

type platformQueue struct {
	platform ident.Platform
	jobs     []ports.Job // waiting
	taken    int         // those of them that were taken from the database
	running  int
	since    time.Time // of the last start
	// delay is set while the queue waits for further jobs.
	delay delay
}

// delay is how far the wait for further jobs is.
type delay int

const (
	noDelay delay = iota
	delayWanted
	delayStarted
	delayOver
)

func newSchedule(h Handler, maxDelay time.Duration) *schedule {
	return &schedule{Handler: h, maxDelay: maxDelay, platforms: map[ident.Platform]*platformQueue{}}
}

func (s *schedule) add(jobs ...ports.Job) {
	for _, j := range jobs {
		p, known := s.platforms[j.Platform]
		if !known {
			p = &platformQueue{platform: j.Platform}
			s.platforms[j.Platform] = p
		}
		if len(p.jobs) == maxWaiting {
			continue
		}
		if len(p.jobs) == 0 {
			s.turns = append(s.turns, p)
		}
		p.jobs = append(p.jobs, j)
		s.count(p, j, 1)
	}
}

// count adds n to the number of waiting jobs like j.
func (s *schedule) count(p *platformQueue, j ports.Job, n int) {
	s.waiting += n
	if j.Lease > 0 {
		p.taken += n
	}
}

// next returns the next batch to run, and counts it as running; nil if none may run now.
func (s *schedule) next(now time.Time) []ports.Job {
	for i := 0; i < len(s.turns) && s.running < s.MaxConcurrency; i++ {
		p := s.turns[i]
		if p.running >= s.MaxPerPlatform || s.mustDelay(p) {
			continue
		}
		s.turns = slices.Delete(s.turns, i, i+1)
		batch := s.gather(p, now)
		if len(p.jobs) > 0 {
			s.turns = append(s.turns, p)
		}
		if len(batch) == 0 { // their leases are ending
			s.forget(p)
			i--
			continue
		}
		p.running++
		p.since = now
		s.running++
		return batch
	}
	return nil
}

// mustDelay reports whether a platform's jobs wait for further ones.
func (s *schedule) mustDelay(p *platformQueue) bool {
	if s.maxDelay == 0 || p.delay == delayOver || p.delay == noDelay && (len(p.jobs) == 1 || len(p.jobs) >= s.MaxBatch) {
		return false
	}
	if p.delay == noDelay {
		p.delay = delayWanted
	}
	return true
}

// startDelays returns the platforms whose delay begins now. The caller calls delayed for each when
// it is over.
func (s *schedule) startDelays() []ident.Platform {
	var starting []ident.Platform
	for _, p := range s.turns {
		if p.delay == delayWanted {
			p.delay = delayStarted
			starting = append(starting, p.platform)
		}
	}
	return starting
}

func (s *schedule) delayed(p ident.Platform) { s.platforms[p].delay = delayOver }

// gather removes a batch from the waiting jobs of a platform. It drops jobs whose lease is ending:
// they are due again soon.
func (s *schedule) gather(p *platformQueue, now time.Time) []ports.Job {
	var batch []ports.Job
	subjects := 0
	p.delay = noDelay
	for len(p.jobs) > 0 && len(batch) < s.MaxBatch && subjects < maxSubjects {
		j := p.jobs[0]
		alone := j.Attempts > aloneAfter
		if alone && len(batch) > 0 {
			break
		}
		p.jobs = p.jobs[1:]
		s.count(p, j, -1)
		if j.Due.Sub(now) < minLease {
			continue
		}
		batch, subjects = append(batch, j), subjects+len(j.Subjects)
		if alone {
			break
		}
	}
	if len(p.jobs) == 0 {
		p.jobs = nil // so that the array can be collected
	}
	return batch
}

// ending returns the waiting jobs whose leases end soon: those taken from the database, and
// submitted ones that run next. A lease that has almost ended is left to end: another process may
// take the job before it is renewed.
func (s *schedule) ending(now time.Time) []ports.Job {
	var ending []ports.Job
	for _, p := range s.turns {
		for i, j := range p.jobs {
			if left := j.Due.Sub(now); (j.Lease > 0 || i < s.MaxBatch) && minLease <= left && left < renewBelow {
				ending = append(ending, j)
			}
		}
	}
	return ending
}

// renewed is called when the leases of waiting jobs were renewed, at the latest at a time. Some may run
// by now. A lease that had ended by then may be lost.
func (s *schedule) renewed(jobs []ports.Job, at, until time.Time) {
	ids := map[uuid.UUID]bool{}
	for _, j := range jobs {
		ids[j.ID] = true
	}
	for _, p := range s.turns {
		for i := range p.jobs {
			if ids[p.jobs[i].ID] && p.jobs[i].Due.After(at) {
				p.jobs[i].Due = until
			}
		}
	}
}

// finished is called when a batch of a platform has run.
func (s *schedule) finished(platform ident.Platform) {
	p := s.platforms[platform]
	p.running--
	s.running--
	s.forget(p)
}

func (s *schedule) forget(p *platformQueue) {
	if p.running == 0 && len(p.jobs) == 0 && p.delay == noDelay {
		delete(s.platforms, p.platform)
	}
}

// busy reports whether jobs wait or run.
func (s *schedule) busy() bool { return s.waiting > 0 || s.running > 0 }

// capacity returns how many due jobs to take: what free workers can run at once, and one batch when
// all are at work, so that taken jobs are not starved by submitted ones. Jobs that wait for others of
// their platform take no capacity from other platforms.
func (s *schedule) capacity() int {
	free := max(s.MaxBatch*(s.MaxConcurrency-s.running), s.MaxBatch)
	free = min(free, max(s.MaxBatch, 64))
	for _, p := range s.turns {
		if p.running < s.MaxPerPlatform {
			free -= p.taken
		}
	}
	return free
}

// slow returns the platforms whose jobs run long or wait in numbers: to take more of them would only
// let their leases end.
func (s *schedule) slow(now time.Time) []ident.Platform {
	var slow []ident.Platform
	for _, p := range s.platforms {
		if len(p.jobs) >= s.MaxBatch || p.running >= s.MaxPerPlatform && now.Sub(p.since) > slowAfter {
			slow = append(slow, p.platform)
		}
	}
	return slow
}
