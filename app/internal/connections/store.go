package connections

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// Store reads the payments of connections.
type Store interface {
	ports.UnitsOfWork
	// RailPayments returns the payments with these keys that are recorded.
	RailPayments(ctx context.Context, keys []ports.RailPaymentKey) (map[ports.RailPaymentKey]rail.Payment, error)
	// RailQueues returns the accounts that have queued payments; without a connection those that none serves.
	RailQueues(ctx context.Context) ([]rail.AccountKey, error)
}

// Tx records which connection a payment takes, in the unit of work that decides it.
type Tx interface {
	AddJobs(ctx context.Context, jobs []ports.Job) error
	// HastenJobs makes those jobs of a step due at the given time that are due later and have one of the subjects. If one is
	// running now, it loses its lease and is run again. Dead jobs stay.
	HastenJobs(ctx context.Context, p ident.Platform, step transaction.Step, subjects []uuid.UUID, due time.Time) error
	// LockRailAccounts locks accounts, in their order, and returns them. Payments are locked after their accounts.
	LockRailAccounts(ctx context.Context, keys []rail.AccountKey, now time.Time) (map[rail.AccountKey]*rail.Account, error)
	// SaveRailAccounts stores the counters of locked accounts, and adds what was paid out to the present hour.
	SaveRailAccounts(ctx context.Context, accounts map[rail.AccountKey]*rail.Account, paidOut []rail.Payment, now time.Time) error
	LockRailPayments(ctx context.Context, keys []ports.RailPaymentKey) (map[ports.RailPaymentKey]rail.Payment, error)
	// LockRailQueue locks queued payments of an account and returns them: those first that an operator sends without
	// regard to the queue, and then the oldest. It begins after a payment of the queue; at its beginning if that is zero.
	LockRailQueue(ctx context.Context, key rail.AccountKey, except ports.RailQueueExcept, after rail.Payment,
		limit int) ([]rail.Payment, error)
	// RailPausesNow returns the latest pause or resumption of each name, also of a commit after this unit of work began.
	RailPausesNow(ctx context.Context) ([]ports.RailPause, error)
	// CreateRailPayments records payments. The unit of work fails with ErrRailPaymentRecorded if another one has recorded one of them.
	CreateRailPayments(ctx context.Context, payments []rail.Payment) error
	UpdateRailPayments(ctx context.Context, payments []rail.Payment) error
}

// RailConnectionReader reads the connections as operators have set them.
type RailConnectionReader interface {
	// RailConnections returns the version in force of every connection that is not deleted, by name: the latest one that was
	// tested or that retires the connection, and if there is none, the latest one.
	RailConnections(ctx context.Context) ([]ports.RailConnectionVersion, error)
}

// RailReceiptStore keeps over which connection money was received. Each method is one atomic step, and changes nothing when it
// is repeated.
type RailReceiptStore interface {
	// RailReceiptConnections returns the connections of receipts that are kept.
	RailReceiptConnections(ctx context.Context, keys []ports.RailReceiptKey) (map[ports.RailReceiptKey]string, error)
}
