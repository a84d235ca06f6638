package ports

import (
	"context"

	"causeway/core/ident"
	"causeway/core/treasury"
)

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
