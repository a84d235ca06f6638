package returns

import (
	"context"

	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/receivable"
	"causeway/core/transaction"
	"causeway/ports"
)

// Accounts reads internal accounts.
type Accounts interface {
	// InternalAccount returns an account, or INTERNAL_ACCOUNT_NOT_FOUND.
	InternalAccount(ctx context.Context, p ident.Platform, id ident.InternalAccount) (account.Internal, error)
}

// Tx stores what customers owe for money that was taken back, or that unmatched money has gone back.
type Tx interface {
	uow.Tx
	// CreateReceivable stores a new receivable. There is at most one for a transaction, which must be locked.
	CreateReceivable(ctx context.Context, r receivable.Receivable) error
	// UpdateReceivable stores the amounts and the state of a locked receivable.
	UpdateReceivable(ctx context.Context, r receivable.Receivable) error
	// AddReceivableChange stores a change. Its posting is written by the same unit of work.
	AddReceivableChange(ctx context.Context, r receivable.Receivable, c receivable.Change) error
	// LockReceivableOf returns the receivable of a transaction as LockReceivable does.
	LockReceivableOf(ctx context.Context, p ident.Platform, id ident.Transaction) (ports.ReceivableDetails, bool, error)
	// LockUnmatched and AssignUnmatched are as in accounting.Tx.
	LockUnmatched(ctx context.Context, p ident.Platform, receipt ident.Receipt) (transaction.Unmatched, bool, error)
	AssignUnmatched(ctx context.Context, u transaction.Unmatched, a transaction.Assignment) error
}
