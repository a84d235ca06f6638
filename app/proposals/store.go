package proposals

import (
	"causeway/app/internal/foureyes"
	"causeway/ports"
)

// Store reads proposals, and decides them in units of work.
type Store interface {
	ports.UnitsOfWork
	foureyes.ProposalReader
}
