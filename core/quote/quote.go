// Package quote implements quotes: offers to convert and deliver an amount at a fixed rate and fee
// until they expire.
//
// A quote never changes. Its status is derived from the state of its transaction.
package quote

import (
	"time"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/sca"
	"causeway/core/transaction"
)

// Side is the side of a quote whose amount is fixed by the request.
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
	// Remittance is what the beneficiary is to read. It is stored with the transaction.
	Remittance string
	CreatedAt  time.Time
	ExpiresAt  time.Time
	// ExpiredEarlyAt is when a test has ended the quote before its time; zero if none has. ExpiresAt is then the same.
	ExpiredEarlyAt time.Time
	// DestinationRail is the rail of the payout; empty if an internal account receives.
	DestinationRail corridor.Rail
	// UMA is what the provider of a receiver that is paid by an invoice has answered; nil for others.
	UMA *transaction.UMA
	// Counterparty are the known facts about the receiver at a UMA address, by field name.
	Counterparty map[string]string
}

// WithStatus is a quote with its status.
type WithStatus struct {
	Quote  Quote
	Status Status
	// Challenge is what the payer is asked for; nil if it has nothing to authorise.
	Challenge *sca.Asked
}

// Of returns a quote with the status of its transaction. How to pay is not shown before the payer has authorised the payment.
func (q Quote) Of(t transaction.Transaction) WithStatus {
	q.Instructions = t.HowToPay()
	return WithStatus{Quote: q, Status: StatusOf(t.State)}
}

// Status is the public status of a quote.
type Status string

// The statuses of a quote.
const (
	Pending              Status = "PENDING"
	PendingAuthorization Status = "PENDING_AUTHORIZATION"
	Processing           Status = "PROCESSING"
	Completed            Status = "COMPLETED"
	Failed               Status = "FAILED"
	Expired              Status = "EXPIRED"
)

// StatusOf returns the status of a quote whose transaction has the state. A completed quote stays
// completed if the bank returns the money later, because it was executed.
func StatusOf(state transaction.State) Status {
	if state.Status == transaction.Failed && state.Stage == transaction.Delivered {
		return Completed
	}
	return Status(state.Status)
}
