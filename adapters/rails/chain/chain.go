// Package chain simulates the chain of embedded wallets, for sandbox platforms and for test
// installations. It moves no coins.
//
// It keeps no state: the outcome depends on the transfer alone, so that repeated calls, from any process,
// return the same outcome.
package chain

import (
	"context"

	"causeway/core/sandbox"
	"causeway/core/transaction"
	"causeway/ports"
)

// Chain is the simulated chain.
type Chain struct{}

var _ ports.WalletChain = Chain{}

// Debit settles every transfer that the key of its wallet has signed, at once, and refuses the others.
func (Chain) Debit(_ context.Context, transfers []ports.WalletTransfer) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(transfers))
	for i, t := range transfers {
		outcomes[i] = ports.Outcome{Verdict: ports.Done}
		if t.Certificate.Statement != t.Statement() || t.Certificate.Verify() != nil {
			outcomes[i] = ports.Outcome{Verdict: ports.Refused, Reason: transaction.QuoteExecutionFailed}
		}
	}
	return outcomes
}

// Credit settles every transfer at once, except the refunds that fail by their test value.
func (Chain) Credit(_ context.Context, credits []ports.WalletCredit) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(credits))
	for i, c := range credits {
		outcomes[i] = ports.Outcome{Verdict: ports.Done}
		if p := c.Refunded; p != nil && sandbox.PayoutScenario(p.Transaction.Destination.UMA, p.Account.Identifier()) == sandbox.RefundFails {
			outcomes[i] = ports.Outcome{Verdict: ports.Refused}
		}
	}
	return outcomes
}
