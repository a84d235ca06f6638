package customers

import (
	"context"
	"slices"
	"time"

	"causeway/app/internal/jobs"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/screening"
	"causeway/ports"
)

// Screening compares customers and their owners with the sanctions lists: all of them when a list is
// loaded, and those who are new or whose names changed.
type Screening struct {
	*Verifications
	lists   SanctionsLists
	workers *jobs.Workers
	// sessions are kept from one batch to the next: one for each step.
	sessions chan *screening.Session
}

const (
	// screeningBatch is how many customers are screened in one unit of work.
	screeningBatch = 200
	// maxScreeningJobs is how many jobs of new customers are run together. One of an import has hundreds.
	maxScreeningJobs = 4
	// screeningTimeout is enough for a batch of businesses with the maximum of owners: a name takes some
	// milliseconds.
	screeningTimeout = 5 * time.Minute
	// maxScreeningPause is the longest pause after a batch.
	maxScreeningPause = time.Second
)

// NewScreening returns a Screening of the customers of v.
func NewScreening(v *Verifications, lists SanctionsLists) *Screening {
	s := &Screening{Verifications: v, lists: lists, sessions: make(chan *screening.Session, 2)}
	s.workers = jobs.New(jobs.Config{Jobs: v.Jobs, Clock: v.Clock, Log: v.Log, Retry: v.JobRetry, Metrics: v.JobMetrics},
		jobs.Handler{Step: ports.StepScreenCustomers, Do: s.screenCustomers, MaxBatch: maxScreeningJobs, MaxConcurrency: 1,
			Timeout: screeningTimeout},
		jobs.Handler{Step: ports.StepScreenPlatform, Do: s.screenPlatform, MaxBatch: 1, MaxConcurrency: 1, Timeout: screeningTimeout})
	return s
}

// Run screens customers until ctx is done. Any number of processes may run it on one database.
func (s *Screening) Run(ctx context.Context) { s.workers.Run(ctx) }

// ScreenDue runs jobs until none is due.
func (s *Screening) ScreenDue(ctx context.Context) error { return s.workers.RunDue(ctx) }

// Load makes a list the one that is screened against, and begins to screen all customers of the
// platforms. Fault: CONFLICT if the list has far fewer entries than before, unless allowFewer.
func (s *Screening) Load(ctx context.Context, list screening.LoadedList, entries []screening.Entry, platforms []ident.Platform,
	allowFewer bool) error {
	loaded, err := s.lists.SanctionsLists(ctx)
	if err != nil {
		return err
	}
	if err := screening.CheckReplacement(loaded, list); err != nil && !allowFewer {
		return err
	}
	runs := make([]screening.Run, len(platforms))
	for i, p := range platforms {
		runs[i] = screening.Run{ID: s.IDs.New(list.LoadedAt), Platform: p, ListID: list.ID, Status: screening.RunRunning,
			StartedAt: list.LoadedAt, UpdatedAt: list.LoadedAt}
	}
	return s.lists.ReplaceSanctionsList(ctx, list, entries, runs)
}

// Status returns the newest version of each list, and how far each platform is screened, which is not read if no list is loaded.
func (s *Screening) Status(ctx context.Context) (loaded []screening.LoadedList, runs []screening.Run, err error) {
	if loaded, err = s.lists.SanctionsLists(ctx); err != nil || len(loaded) == 0 {
		return nil, nil, err
	}
	runs, err = s.lists.LastScreeningRuns(ctx)
	return loaded, runs, err
}

// screenCustomers screens the customers of jobs. A repeated job records nothing twice.
func (s *Screening) screenCustomers(ctx context.Context, due []ports.Job) error {
	var ids []ident.Customer
	for _, job := range due {
		for _, subject := range job.Subjects {
			var id ident.Customer
			id.SetUUID(subject)
			ids = append(ids, id)
		}
	}
	p := due[0].Platform
	compared, err := s.comparedOf(ctx, p)
	if err != nil {
		return err
	}
	customers, err := s.Store.CustomersByID(ctx, p, ids)
	if err != nil {
		return err
	}
	_, suspects, err := s.compare(ctx, compared, p, customers)
	if err != nil {
		return err
	}
	return ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if err := tx.FinishJobs(ctx, due); err != nil {
			return err
		}
		_, err := s.record(ctx, tx, compared, p, suspects)
		return err
	})
}

// screenPlatform screens the next customers of a run, and enqueues a job for those after them. Its
// position is committed with what it records, so an interrupted job is repeated and nothing is lost or
// counted twice. It then pauses for half of the time that took, which it leaves to payments.
func (s *Screening) screenPlatform(ctx context.Context, due []ports.Job) error {
	started := time.Now()
	p, id := due[0].Platform, due[0].Subjects[0]
	run, found, err := s.Store.ScreeningRun(ctx, p, id)
	if err != nil {
		return err
	}
	var compared screening.Compared
	var customers []customer.Customer
	var owners int
	var suspects []ident.Customer
	if found && run.Status == screening.RunRunning {
		if compared, err = s.comparedOf(ctx, p); err != nil {
			return err
		}
		if customers, err = s.Store.CustomersAfter(ctx, p, run.After, screeningBatch); err != nil {
			return err
		}
		if owners, suspects, err = s.compare(ctx, compared, p, customers); err != nil {
			return err
		}
	}
	var next []ports.Job
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		next = nil
		if err := tx.FinishJobs(ctx, due); err != nil {
			return err
		}
		locked, found, err := tx.LockScreeningRun(ctx, p, id)
		if err != nil || !found || locked.Status != screening.RunRunning || locked.After != run.After {
			return err
		}
		hits, err := s.record(ctx, tx, compared, p, suspects)
		if err != nil {
			return err
		}
		locked = locked.Proceed(customers, screeningBatch, owners, hits, s.Clock.Now())
		if locked.Status == screening.RunRunning {
			now := s.Clock.Now()
			next = []ports.Job{{ID: s.IDs.New(now), Platform: p, Step: ports.StepScreenPlatform, Subjects: due[0].Subjects,
				Due: now.Add(s.workers.LocalLease())}}
			if err := tx.AddJobs(ctx, next); err != nil {
				return err
			}
		}
		return tx.UpdateScreeningRun(ctx, locked)
	})
	if err != nil || len(next) == 0 {
		return err
	}
	pause(ctx, min(time.Since(started)/2, maxScreeningPause))
	s.workers.Submit(next)
	return nil
}

// compare returns how many owners customers have, and those customers who resemble an entry or whose
// owners do.
func (s *Screening) compare(ctx context.Context, compared screening.Compared, p ident.Platform,
	customers []customer.Customer) (owners int, suspects []ident.Customer, err error) {
	if len(customers) == 0 || compared.Index == nil {
		return 0, nil, nil
	}
	session := s.session(compared.Index)
	defer s.keep(session)
	var businesses []ident.Customer
	for _, c := range customers {
		if c.Type == customer.Business {
			businesses = append(businesses, c.ID)
		}
	}
	var all []customer.BeneficialOwner
	if len(businesses) > 0 {
		if all, err = s.Store.BeneficialOwnersOf(ctx, p, businesses...); err != nil {
			return 0, nil, err
		}
	}
	for _, c := range customers {
		of := slices.DeleteFunc(slices.Clone(all), func(o customer.BeneficialOwner) bool { return o.Customer != c.ID })
		if err := ctx.Err(); err != nil {
			return 0, nil, err
		}
		if slices.ContainsFunc(screening.Parties(c, of), func(p screening.Party) bool { return len(session.Screen(p.Subject)) > 0 }) {
			suspects = append(suspects, c.ID)
		}
	}
	return len(all), suspects, nil
}

// session returns a session of an index that was kept, or a new one.
func (s *Screening) session(index *screening.Index) *screening.Session {
	select {
	case kept := <-s.sessions:
		if kept.Index() == index {
			return kept
		}
	default:
	}
	return index.NewSession()
}

func (s *Screening) keep(session *screening.Session) {
	select {
	case s.sessions <- session:
	default:
	}
}

// record locks customers, compares them again as they are then, records the hits that are new or open
// again, and stops the payments of those with open hits. It returns how many hits were recorded.
func (s *Screening) record(ctx context.Context, tx Tx, compared screening.Compared, p ident.Platform,
	customers []ident.Customer) (recorded int, err error) {
	for _, id := range customers {
		work, err := s.lock(ctx, tx, nil, p, id)
		if fault.Is(err, fault.UserNotFound) {
			continue
		}
		if err != nil {
			return recorded, err
		}
		if !screening.Concerns(work.customer) {
			continue
		}
		hits, n, err := work.recordHits(ctx, compared, screening.Parties(work.customer, work.owners)...)
		if err != nil {
			return recorded, err
		}
		recorded += n
		if len(screening.OpenHits(hits)) > 0 {
			if err := work.become(ctx, work.customer.Hold(work.now)); err != nil {
				return recorded, err
			}
		}
	}
	return recorded, nil
}
