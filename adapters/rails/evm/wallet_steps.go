package evm

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
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
	if why, err := r.forgotten(ctx, d, 0); err != nil || why != "" {
		return r.waiting(why), err
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

// stepByPermit sends the permit; and once the allowance is there, also by a permit that others sent, the transfer. If the block of
// the permit vanishes, both are sent again in the order of the nonces of the wallet of the connection.
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
	offer := s.offer
	if most := r.mostFor(held, t.GasLimit); most.Cmp(offer.maxFee) < 0 && most.Cmp(raised(s.price.now())) >= 0 {
		offer.maxFee = most // what it has is enough for now
	}
	settled, err := r.isSettled(ctx, d.from, held.nonce)
	if err != nil || !settled {
		return r.waiting("another transaction of the wallet is not final yet"), err
	}
	// It is signed before gas is sent: if its nonce is used, it can never be made.
	if t.Nonce, err = r.store.NextNonce(ctx, r.walletOf(d.from), held.nonce); err == nil {
		_, err = r.sign(ctx, t, offer)
	}
	if err != nil {
		return o, err
	}
	switch enough, wait, err := r.supplyWallet(ctx, s, t, held, offer.maxFee); {
	case err != nil:
		return o, err
	case wait != "":
		return r.waiting(wait), nil
	case !enough:
		return r.waiting("gas was sent to the wallet; the transfer follows"), nil
	}
	stored, addition, err := r.addWithNonce(ctx, t, offer, held.nonce, nil)
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

// isSettled reports whether all nodes that answer say that a nonce is the next one of an address, at the latest block and at the final one:
// a transaction of its owner that vanished would leave a gap before ours, which could never be in a block.
func (r *Rail) isSettled(ctx context.Context, address eth.Address, nonce uint64) (bool, error) {
	h, err := r.head(ctx)
	if err != nil || !h.any {
		return false, err
	}
	answers := 0
	for _, n := range r.nodes.list {
		var latest, final hexUint
		requests := []*request{{Method: "eth_getTransactionCount", Params: []any{eth.FormatAddress(address), "latest"}, Result: &latest},
			{Method: "eth_getTransactionCount", Params: []any{eth.FormatAddress(address), quantity(h.final)}, Result: &final}}
		if err := errors.Join(r.nodes.sendTo(ctx, n, requests), requests[0].Err, requests[1].Err); err != nil {
			r.log.WithError(err).Warn("a node does not say which transactions a wallet has sent")
			continue
		}
		if uint64(latest) != nonce || uint64(final) != nonce {
			return false, nil
		}
		answers++
	}
	return answers > 0, nil
}

// mostFor returns the highest price of gas that what an address holds is enough for.
func (r *Rail) mostFor(held held, gas uint64) *big.Int {
	most := new(big.Int).Sub(held.native, r.chain.dataFee)
	return most.Div(most, new(big.Int).SetUint64(gas))
}

// supplyWallet is like supply, for a transaction of an embedded wallet. An owner with exported words can spend the gas: so each version of
// a transaction gets some once, and a wallet gets no more whose gas went into no payment.
func (r *Rail) supplyWallet(ctx context.Context, s *session, t Transaction, held held, maxFee *big.Int) (enough bool, wait string,
	err error) {
	missing := r.missingGas(held, t.GasLimit, maxFee)
	if missing.Sign() <= 0 {
		return true, "", nil
	}
	log := r.log.WithField("address", eth.FormatAddress(t.Sender)).WithField("subject", t.Subject)
	left, err := r.store.HeldBy(ctx, r.name, t.Sender, r.chain.native)
	if err != nil {
		return false, "", err
	}
	if left.Cmp(new(big.Int).Lsh(held.native, 1)) > 0 { // fees that no record has may take some
		log.Errorf("the owner of a wallet has spent its gas: it has %s wei of %s; it gets no more until they are there again", held.native, left)
		return false, fmt.Sprintf("the gas of the wallet was spent by its owner; send %s wei to %s", missing, eth.FormatAddress(t.Sender)), nil
	}
	subject := r.errand(WalletTopUp, t.Sender, fmt.Sprintf("%s:%d", t.Subject, len(t.Attempts)))
	stored, wait, err := r.topUp(ctx, s, WalletTopUp, subject, t.Platform, t.Sender, missing)
	if err == nil && wait == "" && stored.State != Pending {
		log.Warn("a wallet has got gas for a payment, and has too little; it gets no more for it")
		wait = "the wallet has got gas for this payment, and has too little at the present price"
	}
	return false, wait, err
}

// forgotten returns why a transfer is neither made nor refused at present: the database may have lost it, as no record has one of its
// amount, from its wallet to that of the connection; or the blocks until a time were not read yet. It is empty if nothing stands
// against it.
func (r *Rail) forgotten(ctx context.Context, d debit, until int64) (why string, err error) {
	state, err := r.state(ctx) // before the events: those of later blocks are asked for
	if err != nil {
		return "", err
	}
	t := r.debitTransaction(d, WalletDebit, nil)
	t.Sender = d.from
	if found, err := r.hasUnstored(ctx, WantedTransfer{t, madeAt(t.Subject)}, state.Position); err != nil || found {
		return "a transfer of this amount has left the wallet, and no record has it; look at it in causeway rails inbox list", err
	}
	if until == 0 {
		return "", nil
	}
	blocks, err := r.blocksAt(ctx, []uint64{state.Position})
	if b := blocks[state.Position]; err == nil && (b == nil || eth.Hash(b.Hash) != state.PositionHash || int64(b.Timestamp) < until) {
		why = "the blocks until the end of the time of the transfer are not read yet"
	}
	return why, err
}

// hasUnstored reports whether there is a transfer that no record has, and that may be a wanted one: in the blocks up to a position, which
// were read, or in a later one.
func (r *Rail) hasUnstored(ctx context.Context, wanted WantedTransfer, position uint64) (bool, error) {
	found, err := r.store.UnknownTransfers(ctx, r.name, []WantedTransfer{wanted})
	if err != nil || found[0] {
		return err == nil, err
	}
	found, err = r.unreadTransfers(ctx, []WantedTransfer{wanted}, position)
	return err == nil && found[0], err
}

// unreadTransfers returns which of some wanted transfers of one token may be those that no record has, in a block after a position.
func (r *Rail) unreadTransfers(ctx context.Context, wanted []WantedTransfer, position uint64) ([]bool, error) {
	senders, recipients := make([]string, len(wanted)), make([]string, len(wanted))
	for i, w := range wanted {
		senders[i], recipients[i] = eth.AddressTopic(w.payer()), eth.AddressTopic(w.Recipient)
	}
	var events []event
	filter := map[string]any{"fromBlock": quantity(position + 1), "toBlock": "latest", "address": eth.FormatAddress(wanted[0].To),
		"topics": []any{eth.FormatHash(eth.TransferTopic), distinct(senders), distinct(recipients)}}
	if err := r.nodes.call(ctx, &request{Method: "eth_getLogs", Params: []any{filter}, Result: &events}); err != nil {
		return nil, err
	}
	found := make([]bool, len(wanted))
	for _, t := range r.transfers(events) {
		isThis := func(w WantedTransfer) bool {
			return t.From == w.payer() && t.To == w.Recipient && t.Amount.Cmp(w.Amount) == 0
		}
		if !slices.ContainsFunc(wanted, isThis) {
			continue
		}
		blocks := Range{position + 1, uint64(t.BlockNumber)}
		stored, err := r.store.StoredHashes(ctx, r.name, blocks, []eth.Hash{eth.Hash(t.Transaction)})
		if err != nil {
			return nil, err
		}
		for i, w := range wanted {
			found[i] = found[i] || len(stored) == 0 && isThis(w)
		}
	}
	return found, nil
}

// giveUp ends the turn of a transfer that is to be refused: then none of its transactions can be added any more. It returns why it is
// not to be refused at present; the blocks until a time must have been read.
func (r *Rail) giveUp(ctx context.Context, d debit, until int64) (why string, err error) {
	if d.Method == wallet.ByAuthorization {
		return "", nil
	}
	if why, err = r.forgotten(ctx, d, until); err != nil || why != "" || d.stored != nil {
		return why, err
	}
	if ended, err := r.store.EndTurn(ctx, r.walletOf(d.from), d.Transaction.UUID()); err != nil || !ended {
		return "a transaction of the transfer was added by another process", err
	}
	return "", nil
}

func (r *Rail) walletOf(address eth.Address) Wallet {
	return Wallet{Connection: r.name, Rail: r.rail, ChainID: r.chain.id, Address: address, Embedded: true}
}
