package ports

import (
	"context"
	"time"

	"causeway/core/money"
	"causeway/core/rail"
)

// RailProofReader reads the proofs of past days.
type RailProofReader interface {
	// ProvedRails returns the proofs of the days from first to last that have the state PROVED, by day.
	ProvedRails(ctx context.Context, first, last time.Time) ([]DayProof, error)
}

// DayProof is the proof of a day.
type DayProof struct {
	Day time.Time // its start, in UTC
	rail.Proof
}

// RailProofStore stores the daily proofs, and reads what they need.
type RailProofStore interface {
	// RailInFlight returns what connections had handed over in a currency by a time and not settled by an earlier one: what
	// goes out, and what comes in. Returned money comes in or goes out in its turn.
	RailInFlight(ctx context.Context, connections []string, currency money.Currency, from, to time.Time) (out, in money.Total, err error)
	// RailPaymentsOfAmount returns payments of connections of an amount that are in flight, or were settled since a time, the
	// latest first, at most limit.
	RailPaymentsOfAmount(ctx context.Context, connections []string, amount money.Amount, since time.Time, limit int) ([]rail.Payment, error)
	// SaveRailProofs replaces the proofs of a day.
	SaveRailProofs(ctx context.Context, day time.Time, proofs []rail.Proof) error
	RailProofReader
	// RailProofs returns the proofs of the last day that has some, and the day; none if there is none.
	RailProofs(ctx context.Context) ([]rail.Proof, time.Time, error)
}
