package ports

import (
	"context"

	"causeway/core/ident"
	"causeway/core/treasury"
)

// TreasuryWriter stores movements of money between accounts at partners, and what was announced about
// assets below zero.
type TreasuryWriter interface {
	// CreateMovement stores a movement. Its posting is written by the same unit of work.
	CreateMovement(ctx context.Context, m treasury.Movement) error
	// LockMovement returns a movement, locked by LockSafeguarding, or false if there is none.
	LockMovement(ctx context.Context, p ident.Platform, id ident.Movement) (treasury.Movement, bool, error)
	// RecordArrival stores the arrival of a transfer in transit.
	RecordArrival(ctx context.Context, m treasury.Movement) error
	// SaveOverdrafts stores what was announced.
	SaveOverdrafts(ctx context.Context, overdrafts []treasury.Overdraft) error
}

// TreasuryReader reads what TreasuryWriter stored.
type TreasuryReader interface {
	// Movement returns a movement, or false if there is none.
	Movement(ctx context.Context, p ident.Platform, id ident.Movement) (treasury.Movement, bool, error)
	// Movements returns a page of movements.
	Movements(ctx context.Context, p ident.Platform, f MovementFilter) (Page[treasury.Movement], error)
	// Overdrafts returns what was announced about the assets of a platform.
	Overdrafts(ctx context.Context, p ident.Platform) ([]treasury.Overdraft, error)
}

// MovementFilter selects movements; empty fields match all.
type MovementFilter struct {
	Paging
	Kind treasury.Kind
	// Open selects transfers in transit that have not arrived.
	Open bool
}

// TreasuryAudit reads what is stored about safeguarding and treasury, including damage, to check it.
type TreasuryAudit interface {
	// AuditedReports returns the reports of a platform, in the order of the postings up to which they were made: at
	// most limit after the first skip.
	AuditedReports(ctx context.Context, p ident.Platform, skip, limit int) ([]KeptReport, error)
	// AuditedMovements returns every movement of a platform. People post them one by one, so they are few.
	AuditedMovements(ctx context.Context, p ident.Platform) ([]treasury.Movement, error)
}
