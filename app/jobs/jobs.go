// Package jobs implements what operators do with jobs: they list them, retry dead ones, and discard
// those that strand no money. Package app/internal/jobs runs them.
package jobs

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

// Config is what the use cases need.
type Config struct {
	Store Store
	Jobs  JobLister
	Clock ports.Clock
	IDs   ports.IDs
}

// Service implements the use cases.
type Service struct{ Config }

// New returns a Service.
func New(c Config) *Service { return &Service{c} }

// List returns the jobs that match, oldest first, at most f.Limit.
func (s *Service) List(ctx context.Context, f ports.JobFilter) ([]ports.ListedJob, error) {
	return s.Jobs.ListJobs(ctx, f)
}

// By is who acts, and why.
type By struct {
	Actor  string
	Person ident.Person // who has signed in; zero if nobody has
	Reason string
}

// Retry makes jobs due now, with all their attempts, and records who did it. Either all are retried
// or none. Faults: INVALID_INPUT, NOT_FOUND.
func (s *Service) Retry(ctx context.Context, ids []uuid.UUID, by By) ([]ports.ListedJob, error) {
	return s.act(ctx, ids, ports.JobRetried, by, func(ctx context.Context, tx Tx, jobs []ports.Job) error {
		return tx.RestartJobs(ctx, jobs, s.Clock.Now())
	})
}

// Discard deletes dead jobs, and records who did it and why. Either all are discarded or none.
// Faults: INVALID_INPUT, NOT_FOUND, and CONFLICT for a job that is not dead or would strand money.
func (s *Service) Discard(ctx context.Context, ids []uuid.UUID, by By) ([]ports.ListedJob, error) {
	if by.Reason == "" {
		return nil, fault.Invalid(fault.Field{Field: "reason", Message: "must say why the job is not needed"})
	}
	return s.act(ctx, ids, ports.JobDiscarded, by, func(ctx context.Context, tx Tx, jobs []ports.Job) error {
		for _, j := range jobs {
			if err := checkDiscard(ctx, tx, j); err != nil {
				return err
			}
		}
		return tx.FinishJobs(ctx, jobs)
	})
}

// act locks jobs, acts on them and records it.
func (s *Service) act(ctx context.Context, ids []uuid.UUID, kind ports.JobActionKind, by By,
	do func(context.Context, Tx, []ports.Job) error) ([]ports.ListedJob, error) {
	if by.Actor == "" {
		return nil, fault.Invalid(fault.Field{Field: "actor", Message: "must name who acts"})
	}
	var listed []ports.ListedJob
	err := ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) (err error) {
		if listed, err = tx.LockJobs(ctx, ids); err != nil {
			return err
		}
		if err := checkFound(ids, listed); err != nil {
			return err
		}
		now := s.Clock.Now()
		jobs, actions := make([]ports.Job, len(listed)), make([]ports.JobAction, len(listed))
		for i, j := range listed {
			jobs[i] = j.Job
			actions[i] = ports.JobAction{ID: s.IDs.New(now), Kind: kind, Job: j.Job, Actor: by.Actor, Person: by.Person, Reason: by.Reason, At: now}
		}
		if err := do(ctx, tx, jobs); err != nil {
			return err
		}
		return tx.RecordJobActions(ctx, actions)
	})
	return listed, err
}

func checkFound(ids []uuid.UUID, found []ports.ListedJob) error {
	for _, id := range ids {
		if !slices.ContainsFunc(found, func(j ports.ListedJob) bool { return j.ID == id }) {
			return fault.New(fault.NotFound, "There is no job %s. It may have been finished; list the jobs again.", id)
		}
	}
	return nil
}

// checkDiscard returns a fault if a job must not be discarded.
func checkDiscard(ctx context.Context, tx Tx, j ports.Job) error {
	if !j.Dead {
		return fault.New(fault.Conflict, "Job %s is not dead: it is retried by itself.", j.ID)
	}
	keys := make([]ports.TransactionKey, len(j.Subjects))
	for i, subject := range j.Subjects {
		keys[i].Platform = j.Platform
		keys[i].ID.SetUUID(subject)
	}
	locked, err := tx.LockTransactions(ctx, keys)
	if err != nil {
		return err
	}
	subjects := make([]transaction.Transaction, 0, len(locked))
	for _, t := range locked {
		subjects = append(subjects, t)
	}
	if !j.Step.CanDiscard(subjects) {
		return &fault.Error{Code: fault.Conflict, Reason: "Money would be stranded",
			Message: fmt.Sprintf("Job %s (%s) is the next step of money that has not arrived. Remove the cause of the failure, then retry it.",
				j.ID, j.Step)}
	}
	return nil
}
