// Package quote is a price that holds for a while: what is sent, what arrives,
// at which rate and fees, until when, and how to pay it.
//
// A quote never changes; its status follows from its transaction.
package quote

import (
	"time"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/transaction"
)

// Side is the side of a quote whose amount is fixed.
type Side string

// The sides.
const (
	Sending   Side = "SENDING"
	Receiving Side = "RECEIVING"
)

// Quote is an offer to convert and deliver. Its amounts are minor units.
type Quote struct {
	ID           ident.Quote
	Platform     ident.Platform
	Transaction  ident.Transaction
	Customer     ident.Customer
	Source       transaction.Endpoint
	Destination  transaction.Endpoint
	Side         Side
	LockedAmount int64
	Pricing      transaction.Pricing
	Reference    string
	Instructions []account.Instruction
	Description  string
	Purpose      string
	CreatedAt    time.Time
	ExpiresAt    time.Time
	// DestinationRail is the rail that the money goes by; empty to an internal account.
	DestinationRail corridor.Rail
	// Counterparty is what is known of the receiver, where a person elsewhere receives.
	Counterparty map[string]string
}

// WithStatus is a quote with its status.
type WithStatus struct {
	Quote  Quote
	Status Status
}

// Status is the status of a quote in the interface.
type Status string

// The statuses of a quote.
const (
	Pending    Status = "PENDING"
	Processing Status = "PROCESSING"
	Completed  Status = "COMPLETED"
	Failed     Status = "FAILED"
	Expired    Status = "EXPIRED"
)

// StatusOf returns the status of a quote from its transaction. A quote that was
// completed stays so when the bank returns the money later: it was executed.
func StatusOf(state transaction.State) Status {
	if state.Status == transaction.Failed && state.Stage == transaction.Delivered {
		return Completed
	}
	return Status(state.Status)
}
