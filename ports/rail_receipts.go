package ports

import (
	"context"
	"time"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/transaction"
)

// RailReceiptKey is what money that was received is unique by.
type RailReceiptKey struct {
	Platform  ident.Platform
	Rail      corridor.Rail
	PartnerID string
}

// RailReceiptStore keeps over which connection money was received. Each method is one atomic step, and changes nothing when it
// is repeated.
type RailReceiptStore interface {
	// KeepRailReceipts keeps receipts of a connection, and counts them as available.
	KeepRailReceipts(ctx context.Context, connection string, receipts []transaction.Receipt, now time.Time) error
	// ReverseRailReceipt counts a receipt that the partner has taken back; one that is not kept changes nothing.
	ReverseRailReceipt(ctx context.Context, key RailReceiptKey, at, now time.Time) error
	// RailReceiptConnections returns the connections of receipts that are kept.
	RailReceiptConnections(ctx context.Context, keys []RailReceiptKey) (map[RailReceiptKey]string, error)
}
