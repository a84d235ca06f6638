package evm

import (
	"context"
	"math/big"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rails/evm/eth"
	"causeway/core/money"
	"causeway/core/wallet"
	"causeway/ports"
)

// Transfers by permits and by transactions of the wallet have nonces that count. So each wallet makes one at a time, in its turn, and
// the store says whether it was made: there is at most one transaction that moves the tokens of a payment.

// takeStep takes the next step of a transfer of which no transaction that moves the tokens is stored.
func (r *Rail) takeStep(ctx context.Context, s *session, d debit, added *[]Transaction) (o ports.Outcome, err error) {
	held, err := r.heldAt(ctx, d.from, money.USDB)
	if err != nil {
		return o, err
	}
	if held.amount.Cmp(big.NewInt(d.Value)) < 0 {
		return r.waiting("the wallet has less on the chain than it is to pay"), nil
	}
	if forgotten, err := r.isDebitForgotten(ctx, d); err != nil || forgotten {
		return r.waiting("a transfer of this amount has left the wallet, and no record has it; look at it in causeway rails inbox list"), err
	}
	until := time.Unix(d.ValidBefore-lastMinutes, 0)
	if taken, err := r.store.TakeTurn(ctx, r.walletOf(d.from), d.Transaction.UUID(), until); err != nil || !taken {
		return r.waiting(whyNotAdded(NoTurn)), err
	}
	if d.Method == wallet.ByPermit {
		return r.stepByPermit(ctx, s, d, added)
	}
	return r.stepByTransaction(ctx, s, d, held, added)
}

// stepByPermit sends the permit; and once the allowance is there, by whoever sent the permit, the transfer. If the block of the permit
// vanishes, both are sent again in the order of the nonces of the wallet of the connection.
func (r *Rail) stepByPermit(ctx context.Context, s *session, d debit, added *[]Transaction) (o ports.Outcome, err error) {
	stored, err := r.store.Transactions(ctx, r.name, WalletPermit, []uuid.UUID{d.Transaction.UUID()})
	if err != nil {
		return o, err
	}
	var nonces, allowance hexBytes
	contract := r.tokens[money.USDB]
	if err := r.nodes.call(ctx, callContract(contract, eth.NoncesCall(d.from), "latest", &nonces),
		callContract(contract, eth.AllowanceCall(d.from, r.wallet), "latest", &allowance)); err != nil {
		return o, err
	}
	if len(stored) == 0 {
		nonce, err := eth.Uint(nonces)
		if err != nil {
			return o, err
		}
		return r.sendPermit(ctx, s, d, nonce.Uint64(), added)
	}
	amount := big.NewInt(d.Value)
	switch allowed, err := eth.Uint(allowance); {
	case err != nil:
		return o, err
	case allowed.Cmp(amount) >= 0:
		return r.sendEstimated(ctx, s, r.debitTransaction(d, WalletDebit, eth.TransferFromCall(d.from, r.wallet, amount)), added)
	case stored[0].State == Pending:
		return r.waiting(permitSent), nil
	}
	return r.waiting("the contract has not taken the permit; the transfer fails at the end of its time"), nil
}

const permitSent = "the permit was sent; the transfer follows"

func (r *Rail) sendPermit(ctx context.Context, s *session, d debit, nonce uint64, added *[]Transaction) (o ports.Outcome, err error) {
	signed, err := r.signDebit(ctx, d.Platform, d.Transaction.UUID(), wallet.Terms{Nonce: nonce})
	if err != nil {
		return o, err
	}
	permit, _, err := d.Permit(d.from, nonce)
	if err != nil {
		return o, err
	}
	t := r.debitTransaction(d, WalletPermit, eth.PermitCall(permit, signed.V, signed.R, signed.S))
	t.Currency, t.Amount = r.chain.native, new(big.Int) // it moves nothing
	if o, err = r.sendEstimated(ctx, s, t, added); err != nil || !o.Accepted {
		return o, err
	}
	return r.waiting(permitSent), nil // what became of the permit is not what becomes of the transfer
}

// stepByTransaction signs the transfer with the key of the wallet, once its address has the gas.
func (r *Rail) stepByTransaction(ctx context.Context, s *session, d debit, held held, added *[]Transaction) (o ports.Outcome, err error) {
	t := r.debitTransaction(d, WalletDebit, eth.TransferCall(r.wallet, big.NewInt(d.Value)))
	t.Sender, t.Path = d.from, nil
	estimates, err := r.estimate(ctx, []Transaction{t})
	if err = firstError(err, estimates); err != nil {
		return o, err
	}
	t.GasLimit = estimates[0].gas + recipientGas
	to := DepositAddress{Address: d.from, PlatformReference: PlatformReference{Platform: d.Platform, Wallet: d.Account}}
	enough, wait, err := r.supply(ctx, s, to, held, t.GasLimit, s.offer.maxFee)
	switch {
	case err != nil:
		return o, err
	case wait != "":
		return r.waiting(wait), nil
	case !enough:
		return r.waiting("gas was sent to the wallet; the transfer follows"), nil
	}
	stored, addition, err := r.addWithNonce(ctx, t, s.offer, held.nonce, nil)
	switch {
	case err != nil:
		return o, err
	case addition == Added:
		*added = append(*added, stored)
	case addition != Exists:
		return r.waiting(whyNotAdded(addition)), nil
	}
	return r.outcome(stored), nil
}

// isDebitForgotten reports whether the database may have lost a transfer that was made: no record has one of its amount, from its wallet
// to that of the connection.
func (r *Rail) isDebitForgotten(ctx context.Context, d debit) (bool, error) {
	t := r.debitTransaction(d, WalletDebit, nil)
	t.Sender = d.from
	if found, err := r.store.HasUnknownTransfer(ctx, r.name, t); err != nil || found {
		return found, err
	}
	state, err := r.state(ctx)
	if err != nil {
		return false, err
	}
	var events []event // of blocks that were not read yet
	filter := map[string]any{"fromBlock": quantity(state.Position + 1), "toBlock": "latest",
		"address": eth.FormatAddress(r.tokens[money.USDB]),
		"topics":  []any{eth.FormatHash(eth.TransferTopic), eth.AddressTopic(d.from), eth.AddressTopic(r.wallet)}}
	if err := r.nodes.call(ctx, &request{Method: "eth_getLogs", Params: []any{filter}, Result: &events}); err != nil {
		return false, err
	}
	for _, found := range r.transfers(events) {
		if found.Amount.Cmp(t.Amount) != 0 {
			continue
		}
		blocks := Range{state.Position + 1, uint64(found.BlockNumber)}
		stored, err := r.store.StoredHashes(ctx, r.name, blocks, []eth.Hash{eth.Hash(found.Transaction)})
		if err != nil || len(stored) == 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// endTurn ends the turn of a transfer that is to be refused: then none of its transactions can be added any more. It returns false if
// one has been.
func (r *Rail) endTurn(ctx context.Context, d debit) (bool, error) {
	if d.Method == wallet.ByAuthorization || d.stored != nil {
		return true, nil
	}
	return r.store.EndTurn(ctx, r.walletOf(d.from), d.Transaction.UUID())
}

func (r *Rail) walletOf(address eth.Address) Wallet {
	return Wallet{Connection: r.name, Rail: r.rail, ChainID: r.chain.id, Address: address}
}
