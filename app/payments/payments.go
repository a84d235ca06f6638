// Package payments moves the money of customers: quotes and their execution, payments that fund
// them, payouts, refunds, transfers in and out, and incoming payments with their approval.
//
// core/quote and core/transaction decide what a payment becomes; this package loads what they
// decide on and writes their decisions, each in one unit of work. It handles commands and jobs in
// batches, because the cost of a database is paid per commit.
//
// A payment to a customer of the same platform (on-us) does not go to the rail: the job that
// delivers payouts creates the incoming payment itself, see internal_payment.go.
package payments

import (
	"context"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/app/internal/batch"
	"causeway/app/internal/jobs"
	"causeway/app/internal/prices"
	"causeway/app/internal/spans"
	"causeway/app/internal/strongauth"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/quote"
	"causeway/core/settlement"
	"causeway/core/transaction"
	"causeway/ports"
)

// Config is what the use cases need.
type Config struct {
	Store Store
	Jobs  ports.Jobs
	Rails ports.Rails
	// Simulated is the rail of sandbox platforms, which their tests drive.
	Simulated ports.SimulatedRail
	// Chains move the coins of embedded wallets, and Custody signs for the chain what an owner has
	// authorised. WalletProofs check what owners sign.
	Chains       ports.WalletChains
	Custody      ports.Custody
	WalletProofs ports.WalletProofsByEnvironment
	// Auth asks the customers who pay for proofs.
	Auth *strongauth.Auth
	// Prices are the terms and rates of new quotes.
	Prices *prices.Prices
	// OwnershipLimits are those of payments to wallets whose owners have not proven that they are theirs.
	OwnershipLimits account.OwnershipLimits
	// Timetable says when payouts are expected to settle.
	Timetable *settlement.Timetable
	// Counterparties are the people at other providers who pay customers.
	Counterparties ports.CounterpartiesByEnvironment
	// Lightning issues the invoices of payments from other UMA providers; nil for none.
	Lightning ports.LightningNodes
	// Screening has the sanctions lists that people at other providers are compared with; nil for none.
	Screening Screening
	// Approvals requests the approval of incoming payments from platforms.
	Approvals ports.Approvals
	Clock     ports.Clock
	IDs       ports.IDs
	Log       *logrus.Entry
	// Spans records what jobs do for payments that are traced.
	Spans spans.Tracer
	// Batches are the limits of the batches of commands, and their observer.
	Batches batch.Options
	// JobRetry says when failed jobs are run again.
	JobRetry jobs.RetryPolicy
	// JobMetrics may be nil.
	JobMetrics jobs.Metrics
}

// Service is the use cases of payments.
type Service struct {
	Config
	*jobs.Workers
	quoteBatcher        *batch.Batcher[*quoteCommand, quote.WithStatus]
	executeBatcher      *batch.Batcher[*executeCommand, quote.WithStatus]
	receiveBatcher      *batch.Batcher[receiveCommand, transaction.Transaction]
	depositBatcher      *batch.Batcher[depositCommand, transaction.Transaction]
	fundBatcher         *batch.Batcher[*fundCommand, FundedAccount]
	transferInBatcher   *batch.Batcher[*transferInCommand, transaction.Transaction]
	transferOutBatcher  *batch.Batcher[*transferOutCommand, transaction.Transaction]
	agentQuoteBatcher   *batch.Batcher[*quoteCommand, quote.WithStatus]
	agentBatcher        *batch.Batcher[*agentCommand, AgentAction]
	agentPreviewBatcher *batch.Batcher[*agentCommand, AgentPreview]
	due                 *committedPayouts
	approvalResponses   *approvalResponses
}

// ForgetPayouts drops the payouts that were read before. The database may have lost what made them due.
func (s *Service) ForgetPayouts() { s.due.forget() }

// New returns the use cases. In at least one process Run must be running, because payments
// continue in jobs.
func New(c Config) *Service {
	s := &Service{Config: c, approvalResponses: &approvalResponses{}, due: &committedPayouts{}}
	options := func(kind string) batch.Options {
		o := c.Batches
		o.Kind = kind
		return o
	}
	s.quoteBatcher = batch.New(options("create quote"), s.createQuoteBatch)
	s.executeBatcher = batch.New(options("execute quote"), s.executeBatch)
	s.receiveBatcher = batch.New(options("receive payment"), s.receiveBatch)
	s.depositBatcher = batch.New(options("deposit payment"), s.depositBatch)
	s.fundBatcher = batch.New(options("fund account"), s.fundBatch)
	s.transferInBatcher = batch.New(options("transfer in"), s.transferInBatch)
	s.transferOutBatcher = batch.New(options("transfer out"), s.transferOutBatch)
	// The requests of agents wait for the locks of agents, and so have batches of their own.
	s.agentQuoteBatcher = batch.New(options("create agent quote"), s.createQuoteBatch)
	s.agentBatcher = batch.New(options("agent payment"), s.runAgentBatch)
	previews := options("agent preview")
	previews.MaxDelay = 0 // a read has no commit to share
	s.agentPreviewBatcher = batch.New(previews, s.previewAgentBatch)
	s.Workers = jobs.New(jobs.Config{Jobs: c.Jobs, Clock: c.Clock, Log: c.Log, MaxDelay: c.Batches.MaxDelay, Retry: c.JobRetry,
		Metrics: c.JobMetrics},
		jobs.Handler{Step: transaction.StepDeliver, Do: s.deliver},
		jobs.Handler{Step: transaction.StepCheckReturn, Do: s.checkReturns},
		jobs.Handler{Step: transaction.StepCheckCollection, Do: s.checkCollections},
		jobs.Handler{Step: transaction.StepCallAgain, Do: s.callAboutNews},
		jobs.Handler{Step: transaction.StepCollect, Do: s.collect},
		jobs.Handler{Step: transaction.StepPull, Do: s.pull},
		jobs.Handler{Step: transaction.StepDebitWallet, Do: s.debitWallets},
		jobs.Handler{Step: transaction.StepCreditWallet, Do: s.creditWallets},
		jobs.Handler{Step: transaction.StepSettleWallet, Do: s.settleWallets},
		jobs.Handler{Step: transaction.StepRefund, Do: s.refund},
		jobs.Handler{Step: transaction.StepSendBack, Do: s.sendBack},
		jobs.Handler{Step: transaction.StepExpire, Do: s.expire},
		// An endpoint may take ten seconds to respond, and must not delay the others.
		jobs.Handler{Step: transaction.StepRequestApproval, Do: s.requestApprovals, MaxBatch: 1, MaxConcurrency: 128, MaxPerPlatform: 64},
		jobs.Handler{Step: transaction.StepTimeOut, Do: s.timeOut},
		jobs.Handler{Step: transaction.StepForward, Do: s.forward},
		jobs.Handler{Step: transaction.StepReportChannels, Do: s.reportChannels, MaxBatch: 1}, // another provider may be slow
	)
	return s
}

// GetTransaction reads a transaction of a platform.
func (s *Service) GetTransaction(ctx context.Context, platform ident.Platform, id ident.Transaction) (transaction.Transaction, error) {
	return s.Store.Transaction(ctx, platform, id)
}

// ListTransactions reads a page of the transactions of a platform that match the filter.
func (s *Service) ListTransactions(ctx context.Context, platform ident.Platform,
	f ports.TransactionFilter) (ports.Page[transaction.Transaction], error) {
	return s.Store.Transactions(ctx, platform, f)
}

// CountTransactions counts the transactions of a platform that were created since a time, by status: each to one above
// ports.MaxTotal.
func (s *Service) CountTransactions(ctx context.Context, platform ident.Platform, since time.Time) (map[transaction.Status]int64, error) {
	return s.Store.CountTransactions(ctx, platform, since)
}

// CountTransactionsByStatus counts the transactions of a platform that match a filter by status, whatever statuses it has.
func (s *Service) CountTransactionsByStatus(ctx context.Context, p ident.Platform, f ports.TransactionFilter) (ports.StatusCounts, error) {
	return s.Store.CountTransactionsByStatus(ctx, p, f)
}

// TimeCount is the number of transactions of a day in UTC, or of an hour, by status: each to one above ports.MaxTotal.
type TimeCount struct {
	From   time.Time
	Counts map[transaction.Status]int64
}

// MaxCounted is the largest number of days or hours that are counted at once.
const MaxCounted = 31

// CountTransactionsByDay counts the transactions of a platform of the last days, the present one included, oldest first. A transaction
// belongs to the day of its id, which is that of its quote.
func (s *Service) CountTransactionsByDay(ctx context.Context, p ident.Platform, days int) ([]TimeCount, error) {
	return s.countFrom(ctx, p, days, 24*time.Hour)
}

// CountTransactionsByHour is CountTransactionsByDay for hours.
func (s *Service) CountTransactionsByHour(ctx context.Context, p ident.Platform, hours int) ([]TimeCount, error) {
	return s.countFrom(ctx, p, hours, time.Hour)
}

func (s *Service) countFrom(ctx context.Context, p ident.Platform, n int, length time.Duration) ([]TimeCount, error) {
	n = min(max(n, 1), MaxCounted)
	last := s.Clock.Now().UTC().Truncate(length)
	starts := make([]time.Time, n)
	for i := range starts {
		starts[i] = last.Add(time.Duration(i-n+1) * length)
	}
	counts, err := s.Store.CountTransactionsFrom(ctx, p, starts, length)
	if err != nil {
		return nil, err
	}
	counted := make([]TimeCount, n)
	for i, from := range starts {
		counted[i] = TimeCount{from, counts[i]}
	}
	return counted, nil
}
