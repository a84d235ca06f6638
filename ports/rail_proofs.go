package ports

import (
	"time"

	"causeway/core/rail"
)

// DayProof is the proof of a day.
type DayProof struct {
	Day time.Time // its start, in UTC
	rail.Proof
}
