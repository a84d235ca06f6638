package ports

import (
	"context"
	"time"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/receivable"
)

// ReceivableDetails is a receivable with its changes.
type ReceivableDetails struct {
	receivable.Receivable
	Changes []receivable.Change
}

// CollectableReceivable names an open receivable.
type CollectableReceivable struct {
	Platform   ident.Platform
	ID         ident.Receivable
	ReturnedAt time.Time
}

// ReceivableFilter selects receivables; empty fields match all.
type ReceivableFilter struct {
	Paging
	State    receivable.State
	Customer ident.Customer
	Currency money.Currency
}

// ReceivableAudit reads receivables, including damage, to check them.
type ReceivableAudit interface {
	// AuditedReceivables calls each for every receivable of a platform, with its changes in the order of their numbers,
	// and for changes without a receivable, whose id alone is set. All are read from one snapshot.
	AuditedReceivables(ctx context.Context, p ident.Platform, each func(ReceivableDetails) error) error
}
