package mail

import (
	"context"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// Store reads the queue of mails.
type Store interface {
	ports.UnitsOfWork
	// WaitingMail returns a mail that waits and the environment of its platform; false if it does not wait
	// any more.
	WaitingMail(ctx context.Context, p ident.Platform, id uuid.UUID) (ports.QueuedMail, platform.Environment, bool, error)
}

// Tx ends mails.
type Tx interface {
	FinishJobs(ctx context.Context, jobs []ports.Job) error
	// EndMail stores the outcome of a mail that waits, and deletes its content.
	EndMail(ctx context.Context, p ident.Platform, id uuid.UUID, o ports.MailOutcome) error
}
