package ports

import (
	"time"

	"causeway/core/books"
	"causeway/core/proposal"
)

// ProposalFilter selects proposals; empty fields match all.
type ProposalFilter struct {
	Paging
	Action books.Action
	// Status is the status at the time Now.
	Status proposal.Status
	Now    time.Time
}
