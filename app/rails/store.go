package rails

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/connections"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/rail"
	"causeway/ports"
)

// Store reads the payments and accounts of connections.
type Store interface {
	ports.UnitsOfWork[Tx]
	Platforms(ctx context.Context, after ident.Platform, limit int) ([]platform.Platform, error)
	Platform(ctx context.Context, id ident.Platform) (platform.Platform, error)
	RailReplies(ctx context.Context, p ident.Platform, subject uuid.UUID, limit int) ([]ports.RailReply, error)
	// WaitingRailPayments returns payments in one of the states InReview, Queued, HandedOver and Sent, of one connection or, if it is
	// empty, of all: the oldest first, those that are queued or handed over by connection.
	WaitingRailPayments(ctx context.Context, state rail.State, connection string, limit int) ([]rail.Payment, error)
	// RailPaymentsByID returns the payments with an id, of any kind and platform.
	RailPaymentsByID(ctx context.Context, id uuid.UUID) ([]rail.Payment, error)
	// RailAccounts returns what is known about the money of a connection, by currency.
	RailAccounts(ctx context.Context, connection string, now time.Time) ([]rail.Account, error)
	// RailTotals returns how many payments wait, were handed over and have left, by connection, rail, currency and state.
	RailTotals(ctx context.Context) ([]ports.RailTotal, error)
	// RailDecisions returns the decisions about a payment, oldest first.
	RailDecisions(ctx context.Context, p ident.Platform, id uuid.UUID) ([]ports.RailDecision, error)
}

// Tx records what operators decide about payments of connections.
type Tx interface {
	connections.Tx
	RecordRailDecision(ctx context.Context, d ports.RailDecision) error
	SaveOpeningBalance(ctx context.Context, b ports.OpeningBalance) error
}
