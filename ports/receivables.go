package ports

import (
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
