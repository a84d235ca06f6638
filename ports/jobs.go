package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/transaction"
)

// Job is one thing to be done later about some payments of one platform. A
// group of payments that were decided together makes one job.
type Job struct {
	ID       uuid.UUID
	Platform ident.Platform
	Step     transaction.Step
	// Subjects are transactions, or receipts for StepSendBack.
	Subjects []uuid.UUID
	// Due is when it may be taken. A job that is taken becomes due again when its
	// lease ends, so one that died with its process is done by another.
	Due      time.Time
	Attempts int
}

// StepOpenAccounts opens internal accounts for the customers of a platform, in the
// currencies it has now. Its one subject is the last customer that is done with; none
// at the beginning.
const StepOpenAccounts transaction.Step = "open-accounts"

// JobWriter adds and ends jobs in the unit of work that decided so.
type JobWriter interface {
	AddJobs(ctx context.Context, jobs []Job) error
	FinishJobs(ctx context.Context, jobs []Job) error
}

// Jobs hands out due work.
type Jobs interface {
	// TakeJobs leases up to limit due jobs of a step until now+lease; nobody else
	// is given them before.
	TakeJobs(ctx context.Context, step transaction.Step, now time.Time, lease time.Duration, limit int) ([]Job, error)
	// PostponeJobs returns jobs due again at the given time.
	PostponeJobs(ctx context.Context, jobs []Job, due time.Time) error
}
