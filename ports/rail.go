package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/transaction"
)

// Rail moves money outside: bank rails and chains alike. Every call is idempotent
// by the transaction's id: asked twice, it pays once and answers the same.
type Rail interface {
	// Instructions returns the ways to pay a quote in; pure and quick.
	Instructions(p ident.Platform, reference string, currency money.Currency, network string) ([]account.Instruction, error)
	// Funding returns the ways to pay into an internal account at any time, by its static
	// reference; bank accounts are held for the owner of that name. None where money
	// in the currency cannot be paid in; pure and quick.
	Funding(p ident.Platform, owner string, reference string, currency money.Currency) ([]account.Instruction, error)
	// Send hands payouts over and says how each went; one outcome for each.
	Send(ctx context.Context, payouts []Payout) []Outcome
	// Status asks how payouts that were handed over are doing now.
	Status(ctx context.Context, payouts []Payout) []Outcome
	// Collect pulls money from external accounts and says how each went; one outcome
	// for each. Asked again, it goes on with the same collection.
	Collect(ctx context.Context, collections []Collection) []Outcome
	// Refund sends money back to where it came from; one outcome for each.
	Refund(ctx context.Context, refunds []Refund) []Outcome
}

// Payout is money to be delivered to a beneficiary: Transaction.Pricing.Received,
// to Account. Its id for the rail is the transaction's.
type Payout struct {
	Transaction transaction.Transaction
	Account     account.External
}

// Collection is money to be pulled from the account of a payer:
// Transaction.Pricing.Sent, from Account. Its id for the rail is the transaction's.
type Collection struct {
	Transaction transaction.Transaction
	Account     account.External
}

// Refund is money to be sent back to the payer, to the instrument it came from.
type Refund struct {
	// ID is the transaction's or the receipt's; the rail pays one id once.
	ID       uuid.UUID
	Platform ident.Platform
	// PartnerAccount is the ledger path it came by.
	PartnerAccount string
	Reference      string
	Amount         money.Amount
	// Payout is the payment that is given back; nil for a surplus receipt.
	Payout *Payout
	// Internal: the payer has an account in the house. There is nothing to send then; the
	// rail only says whether the money may go back.
	Internal bool
}

// Verdict is what a rail says about a payout, collection or refund.
type Verdict string

// The verdicts.
const (
	// Done: delivered (or collected, or refunded).
	Done Verdict = "DONE"
	// Waiting: on its way; ask again at Outcome.Again.
	Waiting Verdict = "WAITING"
	// Refused: it will not be delivered.
	Refused Verdict = "REFUSED"
	// CancelledByUser: the user took it back before delivery.
	CancelledByUser Verdict = "CANCELLED"
	// Returned: it was delivered and the beneficiary's bank returned it.
	Returned Verdict = "RETURNED"
	// Unknown: the rail could not be asked; try again.
	Unknown Verdict = "UNKNOWN"
)

// Outcome is the rail's answer for one payout, collection or refund.
type Outcome struct {
	Verdict Verdict
	// Reason goes with Refused.
	Reason transaction.FailureReason
	// Accepted: the rail has taken a payout on, even if it is refused afterwards. Until
	// then a transfer is pending.
	Accepted bool
	// RetryAt is when to ask again: for Waiting always, for Done when the rail may
	// still take it back soon.
	RetryAt time.Time
}

// Rails chooses the rail that belongs to an environment.
type Rails interface {
	// RailFor answers NOT_IMPLEMENTED when nothing is connected there.
	RailFor(p ident.Platform) (Rail, error)
}

// RailsByEnvironment are the rails of the environments; nothing is connected to those missing.
type RailsByEnvironment map[platform.Environment]Rail

// Funding asks the rail of a platform for the ways to pay in; nil where none is
// connected.
func (r RailsByEnvironment) Funding(p ident.Platform, in platform.Environment) account.InstructionsFunc {
	rail, connected := r[in]
	if !connected {
		return nil
	}
	return func(owner, reference string, currency money.Currency) ([]account.Instruction, error) {
		return rail.Funding(p, owner, reference, currency)
	}
}
