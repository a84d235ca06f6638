// Package payments moves the money of transactions: it takes payments in, hands
// payouts to the rails, settles what they answer, gives back what cannot be
// delivered and ends what nobody paid.
//
// Everything here works on groups, because a database is paid by the commit. What a
// transaction becomes is core/transaction's to decide; this package never prices
// anything and never speaks to the platform itself.
package payments

import (
	"context"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/app/internal/batch"
	"causeway/app/internal/jobs"
	"causeway/core/ident"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

// Config is what the use cases need.
type Config struct {
	Store ports.Store
	Jobs  ports.Jobs
	Rails ports.Rails
	Clock ports.Clock
	IDs   ports.IDs
	Log   *logrus.Entry
	// Committed is called after each commit that told events.
	Committed func()
	// MaxDelay is how long a busy collector waits for company.
	MaxDelay time.Duration
}

// Service are the use cases.
type Service struct {
	Config
	*jobs.Workers
	receiveBatcher     *batch.Batcher[receiveCommand, transaction.Transaction]
	executeBatcher     *batch.Batcher[*executeCommand, quote.WithStatus]
	transferOutBatcher *batch.Batcher[*transferOutCommand, transaction.Transaction]
}

// New makes the use cases. Run has to run somewhere for payments to go on.
func New(c Config) *Service {
	p := &Service{Config: c}
	p.receiveBatcher = batch.New(batch.Options{MaxSize: 256, MaxDelay: c.MaxDelay}, p.receiveBatch)
	p.executeBatcher = batch.New(batch.Options{MaxSize: 256, MaxDelay: c.MaxDelay}, p.executeBatch)
	p.transferOutBatcher = batch.New(batch.Options{MaxSize: 256, MaxDelay: c.MaxDelay}, p.transferOutBatch)
	p.Workers = jobs.New(jobs.Config{Jobs: c.Jobs, Clock: c.Clock, Log: c.Log, MaxDelay: c.MaxDelay},
		jobs.Handler{Step: transaction.StepDeliver, Do: p.deliver},
		jobs.Handler{Step: transaction.StepCollect, Do: p.collect},
		jobs.Handler{Step: transaction.StepCheckReturn, Do: p.checkReturns},
		jobs.Handler{Step: transaction.StepRefund, Do: p.refund},
		jobs.Handler{Step: transaction.StepSendBack, Do: p.sendBack},
		jobs.Handler{Step: transaction.StepExpire, Do: p.expire},
	)
	return p
}

// Get reads one transaction of a platform.
func (p *Service) Get(ctx context.Context, platform ident.Platform, id ident.Transaction) (transaction.Transaction, error) {
	return p.Store.Transaction(ctx, platform, id)
}

// List reads the transactions of a platform that pass the filter.
func (p *Service) List(ctx context.Context, platform ident.Platform, f ports.TransactionFilter) (ports.Page[transaction.Transaction], error) {
	return p.Store.Transactions(ctx, platform, f)
}
