// Package receiving takes in the money that comes to internal accounts: deposits,
// transfers from external accounts, and payments from people at other providers,
// about which the platform is asked first.
//
// An account is credited when its money is here and taken, and never before. What
// becomes of a transaction is core/transaction's to decide; this package converts
// nothing and pays nobody.
package receiving

import (
	"context"

	"time"

	"github.com/sirupsen/logrus"

	"causeway/app/internal/batch"
	"causeway/app/internal/jobs"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/core/transfer"
	"causeway/ports"
)

// IncomingConfig is what the use cases need.
type IncomingConfig struct {
	Store           ports.Store
	Jobs            ports.Jobs
	Rails           ports.Rails
	Counterparties  ports.CounterpartiesByEnvironment
	RequestApproval ApprovalRequestFunc
	TransferOut     TransferOutFunc
	Clock           ports.Clock
	IDs             ports.IDs
	Log             *logrus.Entry
	// Committed is called after each commit that told events.
	Committed func()
	// MaxDelay is how long a busy collector waits for company.
	MaxDelay time.Duration
}

// ApprovalRequestFunc sends an event to the platform's endpoint once, at once, and says what the
// answer was. The error is WEBHOOK_ENDPOINT_NOT_SET, or one of our own.
type ApprovalRequestFunc func(ctx context.Context, e event.Event) (ports.WebhookResponse, error)

// TransferOutFunc sends money on by a transfer with this id, once however often it is asked.
// Its faults are those of a transfer out.
type TransferOutFunc func(ctx context.Context, id ident.Transaction, out transfer.Out) error

// IncomingService are the use cases.
type IncomingService struct {
	IncomingConfig
	*jobs.Workers
	fundBatcher       *batch.Batcher[fundCommand, FundedAccount]
	transferInBatcher *batch.Batcher[transferInCommand, transaction.Transaction]
}

// NewIncomingService makes the use cases. Run has to run somewhere for transfers and approvals to go
// on.
func NewIncomingService(c IncomingConfig) *IncomingService {
	r := &IncomingService{IncomingConfig: c}
	r.fundBatcher = batch.New(batch.Options{MaxSize: 256, MaxDelay: c.MaxDelay}, r.fundBatch)
	r.transferInBatcher = batch.New(batch.Options{MaxSize: 256, MaxDelay: c.MaxDelay}, r.transferInBatch)
	r.Workers = jobs.New(jobs.Config{Jobs: c.Jobs, Clock: c.Clock, Log: c.Log, MaxDelay: c.MaxDelay},
		jobs.Handler{Step: transaction.StepPull, Do: r.collect},
		// An endpoint may take its ten seconds; the others need not wait for it.
		jobs.Handler{Step: transaction.StepRequestApproval, Do: r.requestApprovals, MaxBatch: 1, MaxConcurrency: 128},
		jobs.Handler{Step: transaction.StepTimeOut, Do: r.timeOut},
		jobs.Handler{Step: transaction.StepForward, Do: r.forward},
	)
	return r
}
