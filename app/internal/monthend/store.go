package monthend

import (
	"context"
	"time"

	"causeway/core/ident"
	"causeway/core/money"
)

// Tx is what this package does in a unit of work that holds LockPeriods.
type Tx interface {
	// PostedSince reports whether a posting on the accounts at a path, effective before a time, was recorded
	// after the posting with a number.
	PostedSince(ctx context.Context, p ident.Platform, path string, seq int64, before time.Time) (bool, error)
	// PositionPostedSince reports the same of postings that change the position: see ports.MonthEndView.
	PositionPostedSince(ctx context.Context, p ident.Platform, functional money.Currency, seq int64, before time.Time) (bool, error)
}
