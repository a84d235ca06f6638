package ports

import (
	"causeway/core/treasury"
)

// MovementFilter selects movements; empty fields match all.
type MovementFilter struct {
	Paging
	Kind treasury.Kind
	// Open selects transfers in transit that have not arrived.
	Open bool
}
