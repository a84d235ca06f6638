package evm

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"causeway/adapters/rails/evm/eth"
	"causeway/core/ethereum"
	"causeway/core/wallet"
	"causeway/ports"
)

const (
	maxGas        = 1_000_000 // of one transaction
	plainGas      = 21_000    // of a transfer of native currency
	nonceAttempts = 10
	firstRecovery = 27 // of v in signatures for contracts
)

// session is what is known of the chain while some transactions are signed.
type session struct {
	price price
	offer feePrice
	funds funds
	// position is the last block that was read before.
	position uint64
	// committed is the native currency that the session's transactions may cost.
	committed *big.Int
}

// newSession asks for prices and funds. wait says why nothing is sent at present.
func (r *Rail) newSession(ctx context.Context) (s *session, wait string, err error) {
	state, err := r.state(ctx)
	if err != nil {
		return nil, "", err
	}
	if err := r.checkContracts(ctx); err != nil {
		return nil, "", err
	}
	s = &session{committed: new(big.Int), position: state.Position}
	if s.price, err = r.price(ctx); err != nil {
		return nil, "", err
	}
	var affordable bool
	if s.offer, affordable = s.price.offer(r.chain.maxFee); !affordable {
		return nil, fmt.Sprintf("a unit of gas costs %s wei, more than maxFeeGwei allows", s.price.now()), nil
	}
	s.funds, err = r.funds(ctx)
	return s, "", err
}

// tokenTransfer returns the transaction of an order, without nonce and gas.
func (r *Rail) tokenTransfer(sender eth.Address, path []uint32, o order) Transaction {
	now := r.clock.Now()
	return Transaction{
		Connection: r.name, Sender: sender, Path: path, Subject: o.subject, Platform: o.platform,
		To: r.tokens[o.currency], Value: new(big.Int), Data: eth.TransferCall(o.recipient, o.amount),
		Recipient: o.recipient, Currency: o.currency, Amount: o.amount, State: Pending, CreatedAt: now, UpdatedAt: now,
	}
}

// estimate is the gas of a call, or the node's error.
type estimate struct {
	gas uint64
	err error
}

// estimate returns the gas limits of calls: a quarter more than they would take now.
func (r *Rail) estimate(ctx context.Context, calls []Transaction) ([]estimate, error) {
	gas := make([]hexUint, len(calls))
	requests := make([]*request, len(calls))
	for i, t := range calls {
		requests[i] = &request{Method: "eth_estimateGas", Result: &gas[i], Params: []any{map[string]any{
			"from": eth.FormatAddress(t.Sender), "to": eth.FormatAddress(t.To), "value": bigQuantity(t.Value), "data": fmt.Sprintf("0x%x", t.Data)}}}
	}
	if err := r.nodes.send(ctx, requests...); err != nil {
		return nil, err
	}
	estimates := make([]estimate, len(calls))
	for i, request := range requests {
		estimates[i] = estimate{gas: uint64(gas[i]) + uint64(gas[i])/4, err: request.Err}
		if request.Err == nil && (estimates[i].gas < plainGas || estimates[i].gas > maxGas) {
			estimates[i].err = fmt.Errorf("the node estimates %d units of gas", estimates[i].gas)
		}
	}
	return estimates, nil
}

// add signs a transaction of the wallet and stores it, with the next nonce. wait says why it is not signed at present.
func (r *Rail) add(ctx context.Context, s *session,
	t Transaction) (stored Transaction, added Addition, wait string, err error) {
	cost := new(big.Int).Mul(new(big.Int).SetUint64(t.GasLimit), s.offer.maxFee)
	cost.Add(cost, t.Value)
	if needed := new(big.Int).Add(s.committed, cost); needed.Cmp(s.funds.native) > 0 {
		return t, "", fmt.Sprintf("the wallet %s has %s gwei of %s, but fees need up to %s; send it some", eth.FormatAddress(r.wallet),
			new(big.Int).Div(s.funds.native, gwei(1)), r.chain.native, new(big.Int).Div(needed, gwei(1))), nil
	}
	limit := &SpendingLimit{Available: s.funds.tokens[t.Currency], FromNonce: s.funds.nonce}
	if limit.Available == nil || t.Purpose == WalletDebit {
		limit = nil // native currency, which was checked, or tokens of another address
	}
	stored, added, err = r.addWithNonce(ctx, t, s.offer, s.funds.nonce, limit)
	switch {
	case err != nil:
		return t, "", "", err
	case added == TooLittle:
		return t, added, tooLittle(t, limit.Available), nil
	case added == Added:
		s.committed.Add(s.committed, cost)
	}
	return stored, added, whyNotAdded(added), nil
}

// whyNotAdded returns why a transaction was not added, in words; empty if it was, or is there.
func whyNotAdded(added Addition) string {
	switch added {
	case Held:
		return "the connection or its rail is paused, or the connection is deleted"
	case Withdrawn:
		return "the payment was withdrawn from the connection"
	case NoTurn:
		return "another payment of this wallet is on its way, or the time of this one is over"
	default:
		return ""
	}
}

// addWithNonce signs with the next nonce and stores, until no other process takes the nonce in between.
func (r *Rail) addWithNonce(ctx context.Context, t Transaction, offer feePrice, chainNonce uint64,
	limit *SpendingLimit) (Transaction, Addition, error) {
	select {
	case r.busy <- struct{}{}:
		defer func() { <-r.busy }()
	case <-ctx.Done():
		return t, "", ctx.Err()
	}
	w := Wallet{Connection: r.name, Rail: r.rail, ChainID: r.chain.id, Address: t.Sender, Embedded: t.isByOwner()}
	for range nonceAttempts {
		nonce, err := r.store.NextNonce(ctx, w, chainNonce)
		if err != nil {
			return t, "", err
		}
		t.Nonce = nonce
		attempt, err := r.sign(ctx, t, offer)
		if err != nil {
			return t, "", err
		}
		t.Attempts = []Attempt{attempt}
		stored, added, err := r.store.AddTransaction(ctx, w, t, limit)
		if err != nil || added != NonceTaken {
			return stored, added, err
		}
	}
	return t, "", errors.New("other processes take every nonce")
}

// sign signs a version of a transaction.
func (r *Rail) sign(ctx context.Context, t Transaction, offer feePrice) (Attempt, error) {
	unsigned := ethereum.Transaction{ChainID: r.chain.id, Nonce: t.Nonce, MaxPriorityFee: offer.tip, MaxFee: offer.maxFee,
		GasLimit: t.GasLimit, To: t.To, Value: t.Value, Data: t.Data}
	signature, err := r.signature(ctx, t, unsigned)
	if err != nil {
		return Attempt{}, err
	}
	raw, hash := unsigned.Signed(signature.Recovery, signature.R, signature.S)
	return Attempt{Hash: hash, Raw: raw, MaxFee: offer.maxFee, MaxPriorityFee: offer.tip, At: r.clock.Now()}, nil
}

// signature has a transaction signed by the key of its sender.
func (r *Rail) signature(ctx context.Context, t Transaction, unsigned ethereum.Transaction) (ports.ChainSignature, error) {
	if !t.isByOwner() {
		return r.keys.SignDigest(ctx, t.Path, unsigned.Digest())
	}
	signed, err := r.signDebit(ctx, t.Platform, t.Subject, wallet.Terms{Nonce: t.Nonce, GasLimit: t.GasLimit, MaxFee: unsigned.MaxFee,
		MaxPriorityFee: unsigned.MaxPriorityFee})
	return ports.ChainSignature{R: signed.R, S: signed.S, Recovery: signed.V - firstRecovery}, err
}

// broadcast sends the latest version of transactions to every node. It is repeated until they are in a block, so an error
// is only logged: often the node knows the transaction already.
func (r *Rail) broadcast(ctx context.Context, transactions []Transaction) {
	if len(transactions) == 0 {
		return
	}
	for _, n := range r.nodes.list {
		requests := make([]*request, len(transactions))
		hashes := make([]any, len(transactions))
		for i, t := range transactions {
			raw := t.Attempts[len(t.Attempts)-1].Raw
			requests[i] = &request{Method: "eth_sendRawTransaction", Params: []any{fmt.Sprintf("0x%x", raw)}, Result: &hashes[i]}
		}
		if err := r.nodes.sendTo(ctx, n, requests); err != nil {
			r.log.WithError(err).Warn("transactions not sent to a node; will retry")
			continue
		}
		for i, request := range requests {
			if request.Err != nil {
				t := transactions[i]
				r.log.WithError(request.Err).WithField("node", n.name).WithField("transaction",
					eth.FormatHash(t.Attempts[len(t.Attempts)-1].Hash)).Debug("transaction not accepted by a node; will retry")
			}
		}
	}
}
