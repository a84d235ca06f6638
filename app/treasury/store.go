package treasury

import (
	"context"

	"causeway/app/internal/foureyes"
	"causeway/app/internal/uow"
	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/safeguarding"
	"causeway/core/treasury"
	"causeway/ports"
)

// Store reads movements of money between accounts at partners, and the reports on what is held for customers.
type Store interface {
	foureyes.Store[Tx]
	BooksSettings(ctx context.Context, p ident.Platform) (books.SettingsVersion, error)
	Platforms(ctx context.Context, after ident.Platform, limit int) ([]platform.Platform, error)
	// AccountPurposes returns every version of the purposes that were set, by account and version.
	AccountPurposes(ctx context.Context, p ident.Platform) ([]ports.AccountPurpose, error)
	// SafeguardingReport returns a version of the report of a day with its acknowledgements, or the last version if
	// it is 0; false if there is none.
	SafeguardingReport(ctx context.Context, p ident.Platform, day safeguarding.Day, version int) (ports.KeptReport, bool, error)
	// SafeguardingReports returns a page of the last versions of reports, newest day first.
	SafeguardingReports(ctx context.Context, p ident.Platform, f ports.SafeguardingFilter) (ports.SafeguardingPage, error)
	// LastSafeguardingDay returns the last day with a report; empty if there is none.
	LastSafeguardingDay(ctx context.Context, p ident.Platform) (safeguarding.Day, error)
	// LastStatements returns, for each account, the last statement that ended by a day. Its Difference is
	// not set.
	LastStatements(ctx context.Context, p ident.Platform, by safeguarding.Day) ([]safeguarding.Statement, error)
	// Movement returns a movement, or false if there is none.
	Movement(ctx context.Context, p ident.Platform, id ident.Movement) (treasury.Movement, bool, error)
	// Movements returns a page of movements.
	Movements(ctx context.Context, p ident.Platform, f ports.MovementFilter) (ports.Page[treasury.Movement], error)
	// Overdrafts returns what was announced about the assets of a platform.
	Overdrafts(ctx context.Context, p ident.Platform) ([]treasury.Overdraft, error)
}

// Tx stores movements, the purposes of accounts, the reports on what is held for customers, and what was announced about assets
// below zero.
type Tx interface {
	foureyes.Tx
	uow.Tx
	// LockSafeguarding locks the purposes, the reports and the treasury movements of a platform against
	// other changes until the unit of work ends. Payments are not blocked.
	LockSafeguarding(ctx context.Context, p ident.Platform) error
	// SetAccountPurpose stores the purpose of an account as its next version.
	SetAccountPurpose(ctx context.Context, p ident.Platform, change ports.AccountPurpose) (ports.AccountPurpose, error)
	// SaveSafeguardingReport stores a report with its digest.
	SaveSafeguardingReport(ctx context.Context, r safeguarding.Report) error
	// AcknowledgeSafeguardingReport stores that a person has seen a report.
	AcknowledgeSafeguardingReport(ctx context.Context, p ident.Platform, a safeguarding.Acknowledgement) error
	// CreateMovement stores a movement. Its posting is written by the same unit of work.
	CreateMovement(ctx context.Context, m treasury.Movement) error
	// LockMovement returns a movement, locked by LockSafeguarding, or false if there is none.
	LockMovement(ctx context.Context, p ident.Platform, id ident.Movement) (treasury.Movement, bool, error)
	// RecordArrival stores the arrival of a transfer in transit.
	RecordArrival(ctx context.Context, m treasury.Movement) error
	// SaveOverdrafts stores what was announced.
	SaveOverdrafts(ctx context.Context, overdrafts []treasury.Overdraft) error
}
