package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/tracing"
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
	Due time.Time
	// Attempts is how often the job was taken since it was added or an operator retried it. A
	// job that continues a failed one is added with the attempts so far.
	Attempts int
	// LastError is why the last attempt failed, in words for operators.
	LastError string
	// Dead jobs have failed too often. They are not due until an operator acts.
	Dead bool
	// Lease identifies the lease under which a process holds the job. It grows whenever a process
	// takes the job. A job that continues one under its id is added with a higher one.
	Lease int
	// Trace is that of the payment of a job of one subject which continues a failed one, for the log. It is not stored.
	Trace tracing.Context
}

// About names what the job is about: ids with their type, or words where that has none.
func (j Job) About() []string {
	kind, names := "", make([]string, len(j.Subjects))
	switch j.Step {
	case transaction.StepSendBack:
		kind = ident.Receipt{}.Prefix() + ":"
	case StepOpenAccounts, StepScreenCustomers:
		kind = ident.Customer{}.Prefix() + ":"
	case StepImportCustomers:
		kind = ident.CustomerImport{}.Prefix() + ":"
	case StepCheckIdentity:
		kind = ident.Verification{}.Prefix() + ":"
		if len(j.Subjects) > 1 {
			owner, of := ident.BeneficialOwner{}.Prefix(), ident.Customer{}.Prefix()
			return []string{owner + ":" + j.Subjects[0].String(), of + ":" + j.Subjects[1].String()}
		}
	case StepCheckLiveness:
		kind, names = ident.ExternalAccount{}.Prefix()+":", names[:min(1, len(names))]
	case StepScreenPlatform:
		kind = "run "
	case StepDeleteBlob:
		kind = "file "
	case StepWriteExport, StepWriteList, StepWriteAuditPack:
		kind = "export "
	case StepSendUMAInvoice:
		kind = ident.UMAInvoice{}.Prefix() + ":"
	case StepSendMail:
		kind = "mail "
	case StepSendSMS, StepSendSMSNotice:
		kind = "text message "
	default:
		kind = ident.Transaction{}.Prefix() + ":"
	}
	for i := range names {
		names[i] = kind + j.Subjects[i].String()
	}
	return names
}

// StepOpenAccounts opens internal accounts for the customers of a platform, in its present
// currencies. Its subject is the last customer that has them; none at the beginning.
const StepOpenAccounts transaction.Step = "open-accounts"

// StepCheckIdentity submits an application to be checked, and asks for its outcome. Its subjects are
// the verification or, for a beneficial owner, the owner and its customer.
const StepCheckIdentity transaction.Step = "check-identity"

// StepCheckLiveness asks the identity provider whether the owner of a wallet was present. Its subjects are the account and the challenge.
const StepCheckLiveness transaction.Step = "check-liveness"

// StepSendUMAInvoice sends a UMA invoice to the provider of its sender. Its subject is the invoice.
const StepSendUMAInvoice transaction.Step = "send-uma-invoice"

// Jobs hands out due jobs to any number of processes.
type Jobs interface {
	// DueSteps returns those of the steps of which a job is due. It leases none.
	DueSteps(ctx context.Context, steps []transaction.Step, now time.Time) ([]transaction.Step, error)
	// TakeJobs leases at most limit due jobs of a step until now+lease, those first that are due
	// longest, and counts an attempt of each. No other call returns them before the lease ends.
	TakeJobs(ctx context.Context, step transaction.Step, now time.Time, lease time.Duration, limit int) ([]Job, error)
	// TakeJobsInTurn is TakeJobs platform by platform, so that none waits for the backlog of
	// another.
	TakeJobsInTurn(ctx context.Context, step transaction.Step, now time.Time, lease time.Duration, turn Turn) ([]Job, error)
	// RenewLeases extends leases until now+lease, and shortens none. A lease that was lost stays lost.
	RenewLeases(ctx context.Context, jobs []Job, now time.Time, lease time.Duration) error
	// FailJobs ends leases: each job is due again at its Due, or dead, and keeps its Attempts and
	// LastError. A job whose lease was lost does not change.
	FailJobs(ctx context.Context, jobs []Job, now time.Time) error
}

// Turn selects the due jobs of several platforms.
type Turn struct {
	// After is the platform after which to begin, in the order of ids.
	After ident.Platform
	// Except are platforms to skip.
	Except []ident.Platform
	// PerPlatform and Limit are the maximum number of jobs of one platform and in all.
	PerPlatform, Limit int
}

// JobState says whether a job fails.
type JobState string

// The states.
const (
	// JobWaiting: it has not failed since it was added. It is due, due later, or running.
	JobWaiting JobState = "waiting"
	// JobFailing: the last attempt failed. It is retried when it is due.
	JobFailing JobState = "failing"
	// JobDead: it failed too often. An operator must act.
	JobDead JobState = "dead"
)

// ListedJob is a job as operators see it.
type ListedJob struct {
	Job
	State   JobState
	AddedAt time.Time
	// FailedAt is when the last attempt failed; zero if none did.
	FailedAt time.Time
}

// JobFilter selects jobs. Empty fields select all.
type JobFilter struct {
	Platform ident.Platform
	Step     transaction.Step
	State    JobState
	ID       uuid.UUID
	// Subject selects the jobs about a transaction or a receipt.
	Subject uuid.UUID
	Limit   int
}

// JobActionKind is what an operator did with a dead job.
type JobActionKind string

// The actions.
const (
	JobRetried   JobActionKind = "RETRY"
	JobDiscarded JobActionKind = "DISCARD"
)

// JobAction is the record of what an operator did with a job, which shows the job as it was.
type JobAction struct {
	ID     uuid.UUID
	Kind   JobActionKind
	Job    Job
	Actor  string
	Person ident.Person // zero if nobody has signed in
	Reason string
	At     time.Time
}
