// Package chain simulates the chain of embedded wallets, for sandbox platforms and for test
// installations. It moves no coins.
//
// It keeps no state: the outcome depends on the transfer alone, so that repeated calls, from any process,
// return the same outcome.
package chain

import (
	"context"

	"github.com/google/uuid"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/core/wallet"
	"causeway/ports"
)

// Chain is the simulated chain.
type Chain struct {
	// RefundFails reports whether the refund of a payment fails; nil if none does.
	RefundFails func(ports.Payout) bool
	// Hash returns the hash of the transfer of a transaction; nil if they have none.
	Hash func(id uuid.UUID, on corridor.Rail) string
}

var _ ports.WalletChain = Chain{}

// Settlement returns nil: nothing moves.
func (Chain) Settlement(context.Context) (*wallet.Settlement, error) { return nil, nil }

// Debit settles every transfer that the key of its wallet has signed, at once, and refuses the others.
func (c Chain) Debit(_ context.Context, transfers []ports.WalletTransfer) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(transfers))
	for i, t := range transfers {
		outcomes[i] = c.done(t.Transaction, corridor.Rail(t.Network))
		if t.Certificate.Statement != t.Statement() || t.Certificate.Verify() != nil {
			outcomes[i] = ports.Outcome{Verdict: ports.Refused, Reason: transaction.QuoteExecutionFailed}
		}
	}
	return outcomes
}

// Credit settles every transfer at once, except the refunds that fail.
func (c Chain) Credit(_ context.Context, credits []ports.WalletCredit) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(credits))
	for i, credit := range credits {
		outcomes[i] = c.done(credit.Transaction.ID, credit.Transaction.DestinationRail)
		if credit.Refunded != nil && c.RefundFails != nil && c.RefundFails(*credit.Refunded) {
			outcomes[i] = ports.Outcome{Verdict: ports.Refused}
		}
	}
	return outcomes
}

func (c Chain) done(id ident.Transaction, on corridor.Rail) ports.Outcome {
	o := ports.Outcome{Verdict: ports.Done}
	if c.Hash != nil {
		o.TransactionHash = c.Hash(id.UUID(), on)
	}
	return o
}
