package audit

import (
	"context"
	"time"

	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/core/treasury"
	"causeway/ports"
)

// AgentAudit reads what is stored of the payments of agents, including damage, to check it: that of
// one platform or, if it is zero, of all.
type AgentAudit interface {
	// EachAgentUsage calls visit for each agent, day and currency that has a counter, or transactions that an agent
	// has started. Both are of the same moment.
	EachAgentUsage(ctx context.Context, of ident.Platform, visit func(ports.UsageLine) error) error
	// EachLimitUsage calls visit for each scope of limits, day and currency that has a counter, or transactions that count.
	EachLimitUsage(ctx context.Context, of ident.Platform, visit func(ports.UsageLine) error) error
	// EachAgentPayment calls visit for each approved action, and for each transaction that an agent has started
	// without one. Both are of the same moment.
	EachAgentPayment(ctx context.Context, of ident.Platform, visit func(ports.AgentPaymentLine) error) error
}

// PaymentAudit reads what is stored beside payments, including damage, to check it: that of one platform or, if it is zero, of
// all.
type PaymentAudit interface {
	// EachTransactionWithoutPostings passes the transactions without postings of one platform or, if it is zero, of all.
	EachTransactionWithoutPostings(ctx context.Context, of ident.Platform,
		each func(ports.TransactionKey, transaction.Flow, transaction.State) error) error
	// StatusMismatches counts the transactions, and passes those that the lists by status lack, and what these have beside the
	// transactions. All is of the same moment.
	StatusMismatches(ctx context.Context, of ident.Platform, each func(ports.StatusMismatch) error) (transactions int64, err error)
	// ChangedReplies counts the replies of rails that were compared with their seal, and those that could not be, because there
	// is no master key. It passes those that are not what was recorded.
	ChangedReplies(ctx context.Context, of ident.Platform, each func(ports.ChangedReply) error) (compared, withoutKey int64, err error)
	// MissingReplies passes the transactions whose postings since a time follow from a reply of a rail that is not stored.
	MissingReplies(ctx context.Context, of ident.Platform, since time.Time, each func(ports.MissingReply) error) error
}

// PriceAudit reads what the check of prices compares.
type PriceAudit interface {
	// PricesAndChanges returns all overrides and the whole history, oldest first, of one moment. Terms that cannot be read
	// are money.ErrInvalidRate.
	PricesAndChanges(ctx context.Context) ([]ports.CorridorOverride, []ports.CorridorChange, error)
}

// ReceivableAudit reads receivables, including damage, to check them.
type ReceivableAudit interface {
	// AuditedReceivables calls each for every receivable of a platform, with its changes in the order of their numbers,
	// and for changes without a receivable, whose id alone is set. All are read from one snapshot.
	AuditedReceivables(ctx context.Context, p ident.Platform, each func(ports.ReceivableDetails) error) error
}

// TreasuryAudit reads what is stored about safeguarding and treasury, including damage, to check it.
type TreasuryAudit interface {
	// AuditedReports returns the reports of a platform, in the order of the postings up to which they were made: at
	// most limit after the first skip.
	AuditedReports(ctx context.Context, p ident.Platform, skip, limit int) ([]ports.KeptReport, error)
	// AuditedMovements returns every movement of a platform. People post them one by one, so they are few.
	AuditedMovements(ctx context.Context, p ident.Platform) ([]treasury.Movement, error)
}

// WalletPayments reads all payments from wallets, for audits.
type WalletPayments interface {
	// EachWalletPayment calls visit for every executed payment from a wallet, of one platform or, if it is
	// zero, of all.
	EachWalletPayment(ctx context.Context, of ident.Platform, visit func(ports.WalletPayment) error) error
}
