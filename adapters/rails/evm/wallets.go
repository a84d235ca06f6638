package evm

import (
	"context"
	"fmt"
	"math/big"

	"causeway/adapters/rails/evm/eth"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/wallet"
	"causeway/ports"
)

var _ ports.WalletChain = (*Rail)(nil)

// addressOf returns the address for payments with a reference: that of an embedded wallet, or one of the connection.
func (r *Rail) addressOf(ctx context.Context, of PlatformReference) (eth.Address, error) {
	if of.Wallet.IsZero() {
		return r.depositAddress(of.Platform, of.Reference)
	}
	return r.wallets.Address(ctx, ports.WalletID{Platform: of.Platform, Account: of.Wallet})
}

// walletInstruction returns how to pay into an embedded wallet.
func (r *Rail) walletInstruction(address eth.Address) account.Instruction {
	return account.Instruction{Notes: fmt.Sprintf("Send any amount of %s on %s to this address at any time.", r.asset, r.rail.PublicName()),
		Info: r.instructionInfo(address, money.USDB)}
}

// Settlement implements ports.WalletChain.
func (r *Rail) Settlement(ctx context.Context) (*wallet.Settlement, error) {
	if r.asset == "" {
		return nil, rail.NoConnection(rail.Route{Rail: r.rail, Currency: money.USDB})
	}
	if r.walletToken.Load() == nil {
		if err := r.checkContracts(ctx); err != nil {
			r.log.WithError(err).Warn("the token of embedded wallets was not checked; will retry")
			return nil, fault.New(fault.ServiceUnavailable, "The chain of embedded wallets is not available. Repeat the request later.")
		}
	}
	token := r.walletToken.Load()
	return &wallet.Settlement{Network: string(r.rail), ChainID: r.chain.id, Contract: eth.FormatAddress(token.Contract),
		TokenName: token.Name, TokenVersion: token.Version, To: eth.FormatAddress(r.wallet), Method: token.method}, nil
}

// isOfWallet reports whether a transaction is a payment from or to an embedded wallet.
func (t Transaction) isOfWallet() bool {
	return t.Purpose == WalletDebit || t.Purpose == WalletCredit || t.Purpose == WalletRefund
}

// isAtWallet reports whether a transaction is such a payment, or an errand for one.
func (t Transaction) isAtWallet() bool {
	return t.isOfWallet() || t.Purpose == WalletPermit || t.Purpose == WalletTopUp
}

// needsTurn reports whether a transaction is of a payment whose transfers are numbered: the contract or the chain takes them in order.
func (t Transaction) needsTurn() bool {
	return t.Purpose == WalletPermit || t.Purpose == WalletDebit && !eth.IsReceiveCall(t.Data)
}

// isByOwner reports whether a transaction is one of the address of an embedded wallet, which its key signs.
func (t Transaction) isByOwner() bool { return t.Purpose == WalletDebit && len(t.Path) == 0 }

// payer returns the address whose tokens a transaction moves.
func (t Transaction) payer() eth.Address {
	if payer, ok := eth.PayerOf(t.Data); ok && (t.Purpose == WalletDebit || t.Purpose == WalletPermit) {
		return payer
	}
	return t.Sender
}

// Credit implements ports.WalletChain: a transfer of the wallet of the connection to the address of an embedded wallet.
func (r *Rail) Credit(ctx context.Context, credits []ports.WalletCredit) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(credits))
	byPurpose := map[Purpose][]int{}
	for i, c := range credits {
		purpose := WalletCredit
		if c.Refunded != nil {
			purpose = WalletRefund
		}
		byPurpose[purpose] = append(byPurpose[purpose], i)
	}
	for purpose, indexes := range byPurpose {
		to := make([]eth.Address, len(indexes))
		failed := make([]error, len(indexes))
		for n, i := range indexes {
			to[n], failed[n] = r.wallets.Address(ctx, credits[i].Wallet)
		}
		orderOf := func(n int) (order, *ports.Outcome) {
			c := credits[indexes[n]]
			o := order{subject: c.Transaction.ID.UUID(), platform: c.Wallet.Platform, recipient: to[n], currency: money.USDB,
				amount: big.NewInt(c.Amount.Minor), made: earlier(madeAt(c.Transaction.ID.UUID()), c.Transaction.CreatedAt)}
			switch {
			case failed[n] != nil:
				r.log.WithError(failed[n]).Error("the address of a wallet is not known; will retry")
				return o, &ports.Outcome{Verdict: ports.Unknown}
			case r.asset == "" || c.Amount.Currency != money.USDB || c.Amount.Minor <= 0:
				return o, refusal(codeUnsupported, fmt.Sprintf("%s is not sent on %s", c.Amount.Currency, r.rail))
			}
			return o, nil
		}
		for n, outcome := range r.transfer(ctx, purpose, len(indexes), orderOf) {
			if o, none := orderOf(n); credits[indexes[n]].Credited && outcome.Verdict == ports.Refused && outcome.Accepted && none == nil {
				outcome = r.creditAgain(ctx, o)
			}
			outcomes[indexes[n]] = withoutReturns(outcome)
		}
	}
	return outcomes
}

// withoutReturns returns an outcome of a payment that is not asked about again once it is done: if its block vanishes, it is sent again,
// and if it then fails, that is reported.
func withoutReturns(o ports.Outcome) ports.Outcome {
	switch o.Verdict {
	case ports.Done:
		o.RetryAt = o.ReturnedAt
	case ports.Returned:
		o = ports.Outcome{Verdict: ports.Done, PartnerID: o.PartnerID, TransactionHash: o.TransactionHash}
	default:
	}
	return o
}

// movedByOwner says that the owner of a wallet has moved tokens with an exported key.
func movedByOwner(e Event) rail.Contradiction {
	return rail.WalletMoved(e.Platform, walletOf(e), rail.Said{State: "SENT", At: e.At, Amount: e.Amount, PartnerID: e.PartnerID},
		eth.FormatAddress(e.Payer))
}

func walletOf(e Event) (id ident.InternalAccount) {
	id.SetUUID(e.Subject)
	return id
}

// undone says that a payment of a wallet was done, and is no more.
func undone(e Event) rail.Contradiction {
	var id ident.Transaction
	id.SetUUID(e.Subject)
	name := id.String()
	if e.Reference != "" { // the subject is not that of the payment
		name = "a payment to " + e.Reference
	}
	return rail.Contradiction{Platform: e.Platform, Name: name, Recorded: rail.Said{State: "DONE", Amount: e.Amount},
		Reported: rail.Said{State: "FAILED", At: e.At, Amount: e.Amount, PartnerID: e.PartnerID},
		Problem: fmt.Sprintf("%s of %s for an embedded wallet was done, its block vanished, and the chain has refused it since: the money "+
			"is where it was before. Decide who bears the loss, and post it", e.Amount, name)}
}
