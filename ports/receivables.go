package ports

import (
	"context"
	"time"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/receivable"
)

// ReceivableWriter stores what customers owe for collections that were returned.
type ReceivableWriter interface {
	// CreateReceivable stores a new receivable. There is at most one for a transaction, which must be locked.
	CreateReceivable(ctx context.Context, r receivable.Receivable) error
	// UpdateReceivable stores the amounts and the state of a locked receivable.
	UpdateReceivable(ctx context.Context, r receivable.Receivable) error
	// AddReceivableChange stores a change. Its posting is written by the same unit of work.
	AddReceivableChange(ctx context.Context, r receivable.Receivable, c receivable.Change) error
	// LockReceivable returns a receivable, locked, with its changes, or false if there is none. Lock it before balances.
	LockReceivable(ctx context.Context, p ident.Platform, id ident.Receivable) (ReceivableDetails, bool, error)
	// LockReceivableOf returns the receivable of a transaction as LockReceivable does.
	LockReceivableOf(ctx context.Context, p ident.Platform, id ident.Transaction) (ReceivableDetails, bool, error)
}

// ReceivableReader reads what ReceivableWriter stored.
type ReceivableReader interface {
	// Receivable returns a receivable with its changes in their order, or false if there is none.
	Receivable(ctx context.Context, p ident.Platform, id ident.Receivable) (ReceivableDetails, bool, error)
	// ReceivableOf returns the receivable of a transaction as Receivable does.
	ReceivableOf(ctx context.Context, p ident.Platform, id ident.Transaction) (ReceivableDetails, bool, error)
	// Receivables returns a page of receivables.
	Receivables(ctx context.Context, p ident.Platform, f ReceivableFilter) (Page[receivable.Receivable], error)
	// OpenReceivables calls each with what every open receivable of a platform owes, all read from one snapshot.
	OpenReceivables(ctx context.Context, p ident.Platform, each func(currency money.Currency, owed int64, returnedAt time.Time) error) error
	// CollectableReceivables returns open receivables of all platforms of the scope whose accounts have money, those
	// that were returned first first: at most limit after one, or from the first on if it is zero.
	CollectableReceivables(ctx context.Context, after CollectableReceivable, limit int) ([]CollectableReceivable, error)
}

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
