package ports

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/rail"
)

// ErrRailPaymentRecorded is the error of a unit of work that records a payment of a connection which another one has recorded meanwhile.
var ErrRailPaymentRecorded = errors.New("the payment was recorded meanwhile")

// RailPaymentKey identifies a payment of a connection.
type RailPaymentKey struct {
	Platform ident.Platform
	ID       uuid.UUID
	Kind     rail.Kind
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
	// UnknownRailPayments returns those of the keys of which no payment is recorded.
	UnknownRailPayments(ctx context.Context, keys []RailPaymentKey) ([]RailPaymentKey, error)
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
	Payment  rail.Payment
	Decision RailDecisionKind
	// Author has decided, and Approval is that of a second person; zero without one.
	platform.Author
	Approval platform.Approval
	Note     string
	At       time.Time
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
	Person      ident.Person // who has set it; zero if nobody had signed in
	// Approval is by which proposal it was set; zero if it needed none.
	Approval platform.Approval
}
