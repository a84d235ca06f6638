package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/transaction"
)

// Job is work to be done later for one platform: one step for one or more subjects.
// Payments that were decided together share a job.
type Job struct {
	ID       uuid.UUID
	Platform ident.Platform
	Step     transaction.Step
	// Subjects are ids of transactions, or of receipts for StepSendBack.
	Subjects []uuid.UUID
	// Due is when the job may be taken. A taken job is due again when its lease ends, so
	// that another process runs it if the first one died.
	Due      time.Time
	Attempts int
}

// StepOpenAccounts opens internal accounts for the customers of a platform, in its present
// currencies. Its subject is the last customer that has them; none at the beginning.
const StepOpenAccounts transaction.Step = "open-accounts"

// JobWriter adds and finishes jobs in the unit of work that decides so.
type JobWriter interface {
	AddJobs(ctx context.Context, jobs []Job) error
	// FinishJobs deletes jobs. Finishing a job that does not exist does nothing.
	FinishJobs(ctx context.Context, jobs []Job) error
}

// Jobs hands out due jobs to any number of processes.
type Jobs interface {
	// TakeJobs leases at most limit due jobs of a step until now+lease, and counts an
	// attempt of each. No other call returns them before the lease ends.
	TakeJobs(ctx context.Context, step transaction.Step, now time.Time, lease time.Duration, limit int) ([]Job, error)
	// PostponeJobs makes jobs due at the given time.
	PostponeJobs(ctx context.Context, jobs []Job, due time.Time) error
}
