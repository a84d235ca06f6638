package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
)

// RailPaymentKey identifies a payment of a connection.
type RailPaymentKey struct {
	Platform ident.Platform
	ID       uuid.UUID
	Kind     rail.Kind
}

// RailPaymentReader reads the payments of connections.
type RailPaymentReader interface {
	// RailPayments returns the payments with these keys that are recorded.
	RailPayments(ctx context.Context, keys []RailPaymentKey) (map[RailPaymentKey]rail.Payment, error)
	// WaitingRailPayments returns payments in one of the states InReview, Queued, HandedOver and Sent, of one connection or, if it is
	// empty, of all: the oldest first, those that are queued or handed over by connection.
	WaitingRailPayments(ctx context.Context, state rail.State, connection string, limit int) ([]rail.Payment, error)
	// RailPaymentsByID returns the payments with an id, of any kind and platform.
	RailPaymentsByID(ctx context.Context, id uuid.UUID) ([]rail.Payment, error)
	// RailQueues returns the accounts that have queued payments; without a connection those that none serves.
	RailQueues(ctx context.Context) ([]rail.AccountKey, error)
	// RailAccounts returns what is known about the money of a connection, by currency.
	RailAccounts(ctx context.Context, connection string, now time.Time) ([]rail.Account, error)
	// RailTotals returns how many payments wait, were handed over and have left, by connection, rail, currency and state.
	RailTotals(ctx context.Context) ([]RailTotal, error)
	// RailDecisions returns the decisions about a payment, oldest first.
	RailDecisions(ctx context.Context, p ident.Platform, id uuid.UUID) ([]RailDecision, error)
}

// RailTotal is how many payments of a connection and rail are in a state, and how much they are. Connection is empty for those that
// none serves.
type RailTotal struct {
	Connection string
	Rail       corridor.Rail
	Currency   money.Currency
	State      rail.State
	Count      int64
	Amount     money.Total
}

// RailDepartures are asked by adapters that keep nothing themselves, before what cannot be undone. Those with tables of their
// own ask in the unit of work that makes a payment irrevocable.
type RailDepartures interface {
	// LeaveRailPayments decides whether payments that were handed over to a connection may leave, and records that they have.
	// It returns a departure for each key. The key of a refund can also be that of a receipt that is sent back. After a
	// pause that was answered, no payment leaves that had not left before.
	LeaveRailPayments(ctx context.Context, connection string, keys []RailPaymentKey, now time.Time) ([]rail.Departure, error)
	// RailPaymentsNotTaken records that the partner has not taken payments for which LeaveRailPayments returned Leaves, so that they
	// can be stopped again.
	RailPaymentsNotTaken(ctx context.Context, connection string, keys []RailPaymentKey, now time.Time) error
}

// RailPaymentWriter records which connection a payment takes, in the unit of work that decides it.
type RailPaymentWriter interface {
	// LockRailAccounts locks accounts, in their order, and returns them. Payments are locked after their accounts.
	LockRailAccounts(ctx context.Context, keys []rail.AccountKey, now time.Time) (map[rail.AccountKey]*rail.Account, error)
	// SaveRailAccounts stores the counters of locked accounts, and adds what was paid out to the present hour.
	SaveRailAccounts(ctx context.Context, accounts map[rail.AccountKey]*rail.Account, paidOut []rail.Payment, now time.Time) error
	// LockRailPayments locks the recorded payments with these keys and returns them.
	LockRailPayments(ctx context.Context, keys []RailPaymentKey) (map[RailPaymentKey]rail.Payment, error)
	// LockRailQueue locks queued payments of an account and returns them: those first that an operator sends without
	// regard to the queue, and then the oldest. It begins after a payment of the queue; at its beginning if that is zero.
	LockRailQueue(ctx context.Context, key rail.AccountKey, except RailQueueExcept, after rail.Payment, limit int) ([]rail.Payment, error)
	// RailPausesNow returns the latest pause or resumption of each name, also of a commit after this unit of work began.
	RailPausesNow(ctx context.Context) ([]RailPause, error)
	CreateRailPayments(ctx context.Context, payments []rail.Payment) error
	UpdateRailPayments(ctx context.Context, payments []rail.Payment) error
	RecordRailDecision(ctx context.Context, d RailDecision) error
	SaveOpeningBalance(ctx context.Context, b OpeningBalance) error
}

// RailQueueExcept are payments of a queue that need not be looked at.
type RailQueueExcept struct {
	// Stopped are rails of which no payment is sent, and Closed those of which only those are that an operator sends.
	Stopped, Closed []corridor.Rail
}

// RailDecision is what an operator decided about a payment that waits.
type RailDecision struct {
	ID uuid.UUID
	// Payment is the payment as it was.
	Payment     rail.Payment
	Decision    RailDecisionKind
	Actor, Note string
	At          time.Time
}

// RailDecisionKind is what an operator decides.
type RailDecisionKind string

// The decisions.
const (
	ReleaseRailPayment  RailDecisionKind = "RELEASE"
	CancelRailPayment   RailDecisionKind = "CANCEL"
	WithdrawRailPayment RailDecisionKind = "WITHDRAW"
	MoveRailPayment     RailDecisionKind = "MOVE"
	// A payment that has left by the records was not sent: one person reports it, and another one confirms it.
	ReportRailPaymentNotSent  RailDecisionKind = "REPORT_NOT_SENT"
	ConfirmRailPaymentNotSent RailDecisionKind = "CONFIRM_NOT_SENT"
)

// OpeningBalance is the balance of a connection as an operator has set it.
type OpeningBalance struct {
	Connection  string
	Amount      money.Amount
	At          time.Time
	Actor, Note string
}
