package evm

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/google/uuid"

	"causeway/adapters/rails/evm/eth"
	"causeway/core/account"
	"causeway/core/ethereum"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/core/wallet"
	"causeway/ports"
)

// WalletAddresses has the addresses of embedded wallets; ports.Custody does.
type WalletAddresses interface {
	Address(ctx context.Context, w ports.WalletID) (ethereum.Address, error)
}

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

// checkAuthorizations checks that a contract takes authorisations (EIP-3009) that are signed for the domain that it names (EIP-712).
func (r *Rail) checkAuthorizations(ctx context.Context, contract eth.Address) error {
	var name, version, separator, used hexBytes
	requests := []*request{callContract(contract, eth.NameCall(), "latest", &name),
		callContract(contract, eth.VersionCall(), "latest", &version),
		callContract(contract, eth.SeparatorCall(), "latest", &separator),
		callContract(contract, eth.StateCall(eth.Address{}, eth.Hash{}), "latest", &used)}
	if err := r.nodes.call(ctx, requests...); err != nil {
		return fmt.Errorf("the contract %s of USDB takes no authorisations of EIP-3009, as USDC does: %w", eth.FormatAddress(contract), err)
	}
	domain := ethereum.Domain{ChainID: r.chain.id, Contract: contract}
	var failed [3]error
	domain.Name, failed[0] = eth.Text(name)
	domain.Version, failed[1] = eth.Text(version)
	_, failed[2] = eth.Uint(used)
	if err := errors.Join(failed[:]...); err != nil {
		return fmt.Errorf("the contract %s of USDB takes no authorisations of EIP-3009, as USDC does: %w", eth.FormatAddress(contract), err)
	}
	if want := domain.Separator(); len(separator) != len(want) || eth.Hash(separator) != want {
		return fmt.Errorf("the contract %s of USDB signs for another domain (EIP-712) than that of its name, version and chain; wallets cannot "+
			"pay in this token", eth.FormatAddress(contract))
	}
	r.domain.Store(&domain)
	return nil
}

// Settlement implements ports.WalletChain.
func (r *Rail) Settlement(ctx context.Context) (*wallet.Settlement, error) {
	if r.asset == "" {
		return nil, rail.NoConnection(rail.Route{Rail: r.rail, Currency: money.USDB})
	}
	if r.domain.Load() == nil {
		if err := r.checkContracts(ctx); err != nil {
			r.log.WithError(err).Warn("the token of embedded wallets was not checked; will retry")
			return nil, fault.New(fault.ServiceUnavailable, "The chain of embedded wallets is not available. Repeat the request later.")
		}
	}
	domain := r.domain.Load()
	return &wallet.Settlement{Network: string(r.rail), ChainID: r.chain.id, Contract: eth.FormatAddress(domain.Contract),
		TokenName: domain.Name, TokenVersion: domain.Version, To: eth.FormatAddress(r.wallet)}, nil
}

// isOfWallet reports whether a transaction is a payment from or to an embedded wallet.
func (t Transaction) isOfWallet() bool {
	return t.Purpose == WalletDebit || t.Purpose == WalletCredit || t.Purpose == WalletRefund
}

// payer returns the address whose tokens a transaction moves.
func (t Transaction) payer() eth.Address {
	if payer, ok := eth.PayerOf(t.Data); ok && t.Purpose == WalletDebit {
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
		for n, o := range r.transfer(ctx, purpose, len(indexes), func(n int) (order, *ports.Outcome) {
			c := credits[indexes[n]]
			o := order{subject: c.Transaction.ID.UUID(), platform: c.Wallet.Platform, recipient: to[n], currency: money.USDB,
				amount: big.NewInt(c.Amount.Minor)}
			switch {
			case failed[n] != nil:
				r.log.WithError(failed[n]).Error("the address of a wallet is not known; will retry")
				return o, &ports.Outcome{Verdict: ports.Unknown}
			case r.asset == "" || c.Amount.Currency != money.USDB || c.Amount.Minor <= 0:
				return o, refusal(codeUnsupported, fmt.Sprintf("%s is not sent on %s", c.Amount.Currency, r.rail))
			}
			return o, nil
		}) {
			outcomes[indexes[n]] = withoutReturns(o)
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
	return rail.Contradiction{Platform: e.Platform, Name: id.String(), Recorded: rail.Said{State: "DONE", Amount: e.Amount},
		Reported: rail.Said{State: "FAILED", At: e.At, Amount: e.Amount, PartnerID: e.PartnerID},
		Problem: fmt.Sprintf("%s of %s for an embedded wallet was done, its block vanished, and the chain has refused it since: the money "+
			"is where it was before. Decide who bears the loss, and post it", e.Amount, id)}
}

// debit is a transfer from an embedded wallet whose outcome is not stored.
type debit struct {
	index         int
	stored        *Transaction // that has failed; nil for none
	authorization ethereum.Authorization
	signed        wallet.SignedTransfer
	platform      ident.Platform
	subject       uuid.UUID
}

// Debit implements ports.WalletChain: authorisations that the keys of wallets have signed are sent by the wallet of the connection, which
// receives the tokens and pays the gas.
func (r *Rail) Debit(ctx context.Context, transfers []ports.WalletTransfer) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(transfers))
	subjects := make([]uuid.UUID, len(transfers))
	for i, t := range transfers {
		outcomes[i].Verdict, subjects[i] = ports.Unknown, t.Transaction.UUID()
	}
	stored, err := r.present(ctx, WalletDebit, subjects)
	if err != nil {
		r.log.WithError(err).Warn("transactions not read; will retry")
		return outcomes
	}
	var open []debit
	for i, t := range transfers {
		d, err := r.newDebit(ctx, i, t)
		before, known := stored[subjects[i]]
		switch {
		case known && (before.State == Pending || before.State == Confirmed):
			outcomes[i] = withoutReturns(r.outcome(before))
		case fault.Is(err, fault.ServiceUnavailable):
		case err != nil && !known:
			outcomes[i] = ports.Outcome{Verdict: ports.Refused, Reason: transaction.QuoteExecutionFailed, Code: codeWrongChain, Text: err.Error()}
		case err != nil:
			r.log.WithError(err).WithField("subject", subjects[i]).Error("a transfer from a wallet is not decided")
		default:
			if known {
				d.stored = &before
			}
			open = append(open, d)
		}
	}
	if fresh := r.decide(ctx, open, outcomes); len(fresh) > 0 {
		r.sendDebits(ctx, fresh, outcomes)
	}
	return outcomes
}

// newDebit returns a transfer from a wallet, or why it is none of this chain, contract and wallet of the connection.
func (r *Rail) newDebit(ctx context.Context, index int, t ports.WalletTransfer) (d debit, err error) {
	via, err := r.Settlement(ctx)
	switch {
	case err != nil:
		return d, err
	case t.Signed == nil || t.Signed.Transaction != t.Transaction || t.Signed.Value != t.Amount.Minor ||
		t.Amount.Currency != money.USDB:
		return d, errors.New("its owner has signed for no transfer on this chain; create a new quote")
	case !t.Signed.IsVia(*via):
		return d, errors.New("its owner has signed for another chain, token or recipient; create a new quote")
	}
	d = debit{index: index, signed: *t.Signed, platform: t.Wallet.Platform, subject: t.Transaction.UUID()}
	d.authorization, _, err = t.Signed.Authorization(t.Signed.From)
	return d, err
}
