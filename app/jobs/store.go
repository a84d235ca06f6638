package jobs

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/transaction"
	"causeway/ports"
)

// Store runs units of work.
type Store interface {
	ports.UnitsOfWork
}

// Tx changes jobs for operators.
type Tx interface {
	FinishJobs(ctx context.Context, jobs []ports.Job) error
	// LockJobs returns the jobs with these ids, and locks them.
	LockJobs(ctx context.Context, ids []uuid.UUID) ([]ports.ListedJob, error)
	// RestartJobs makes jobs due at the given time, with all their attempts.
	RestartJobs(ctx context.Context, jobs []ports.Job, due time.Time) error
	// RecordJobActions records what an operator did.
	RecordJobActions(ctx context.Context, actions []ports.JobAction) error
	LockTransactions(ctx context.Context, keys []ports.TransactionKey) (map[ports.TransactionKey]transaction.Transaction, error)
}

// JobLister lists jobs for operators.
type JobLister interface {
	// ListJobs returns the jobs that match, oldest first, at most Limit.
	ListJobs(ctx context.Context, f ports.JobFilter) ([]ports.ListedJob, error)
}
