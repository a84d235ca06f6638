package evm

import (
	"context"
	"fmt"
	"math/big"

	"github.com/google/uuid"

	"causeway/adapters/rails/evm/eth"
)

const (
	// pageSize is how many transactions are looked at together.
	pageSize = 200
	// maxFilled is how many nonces are filled at once.
	maxFilled = 16
)

// attend looks at every pending transaction: stores how it has ended, sends it again, or replaces it.
func (r *Rail) attend(ctx context.Context, h head) error {
	var market *price
	var sender eth.Address
	var nonce uint64
	for first := true; ; first = false {
		pending, err := r.pending(ctx, sender, nonce, first)
		if err != nil || len(pending) == 0 {
			return err
		}
		found, err := r.look(ctx, pending)
		if err != nil {
			return err
		}
		_, missing, err := r.conclude(ctx, h, found)
		if err != nil {
			return err
		}
		if len(missing) > 0 && market == nil {
			p, err := r.price(ctx)
			if err != nil {
				return err
			}
			market = &p
		}
		if err := r.fillGap(ctx, found, market); err != nil {
			return err
		}
		again := make([]Transaction, len(missing))
		for i, s := range missing {
			if again[i], err = r.replaceStuck(ctx, s, *market); err != nil {
				return err
			}
		}
		r.broadcast(ctx, again)
		if len(pending) < pageSize {
			return nil
		}
		last := pending[len(pending)-1]
		sender, nonce = last.Sender, last.Nonce
	}
}

// pending returns a page of pending transactions. The first page begins before every sender.
func (r *Rail) pending(ctx context.Context, sender eth.Address, nonce uint64, first bool) ([]Transaction, error) {
	if first {
		sender, nonce = eth.Address{}, 0 // nobody has the key of this address
	}
	return r.store.PendingTransactions(ctx, r.name, sender, nonce, pageSize)
}

// replaceStuck returns a transaction with a further version, if the last one has waited for long and offers too little or
// is the next of its sender.
func (r *Rail) replaceStuck(ctx context.Context, s seen, market price) (Transaction, error) {
	t := s.Transaction
	last := t.Attempts[len(t.Attempts)-1]
	if r.clock.Now().Sub(last.At) < r.chain.stuckAfter || len(t.Attempts) >= r.maxAttempts ||
		s.next != t.Nonce && last.MaxFee.Cmp(market.now()) >= 0 {
		return t, nil
	}
	offer, affordable := market.replacement(feePrice{last.MaxFee, last.MaxPriorityFee}, r.chain.maxFee)
	if !affordable {
		r.log.WithField("transaction", eth.FormatHash(last.Hash)).Warn("a transaction is stuck, and a higher fee would be above maxFeeGwei; " +
			"waiting")
		return t, nil
	}
	if t.isByOwner() {
		if enough, err := r.supplyDebit(ctx, t, offer.maxFee); err != nil || !enough {
			return t, err
		}
	}
	attempt, err := r.sign(ctx, t, offer)
	if err != nil && t.isByOwner() { // the custody, which other transactions do not need
		r.log.WithError(err).WithField("subject", t.Subject).Warn("the transaction of a wallet is stuck, and not signed again; will retry")
		return t, nil
	}
	if err != nil {
		return t, err
	}
	added, err := r.store.AddAttempt(ctx, t, attempt)
	if err != nil {
		return t, err
	}
	if added {
		t.Attempts = append(t.Attempts, attempt)
	}
	return t, nil
}

// supplyDebit reports whether the address of an embedded wallet has the gas for a version of its transaction, or sends it what is missing.
func (r *Rail) supplyDebit(ctx context.Context, t Transaction, maxFee *big.Int) (enough bool, err error) {
	held, err := r.heldAt(ctx, t.Sender, t.Currency)
	if err != nil {
		return false, err
	}
	s, wait, err := r.newSession(ctx)
	if err == nil && wait == "" {
		enough, wait, err = r.supplyWallet(ctx, s, t, held, maxFee)
	}
	if wait != "" {
		r.log.Warn("the wallet of a payment that is stuck gets no gas: " + wait)
	}
	return enough, err
}

// fillGap fills nonces of the wallet that another program had used, and whose transactions vanished: without them, no
// later one can be in a block.
func (r *Rail) fillGap(ctx context.Context, found []seen, market *price) error {
	for _, s := range found {
		if s.Sender != r.wallet || s.mined != nil || s.next > s.Nonce {
			continue
		}
		if s.next == s.Nonce || market == nil {
			return nil
		}
		offer, affordable := market.offer(r.chain.maxFee)
		if !affordable {
			return nil
		}
		for nonce := s.next; nonce < min(s.Nonce, s.next+maxFilled); nonce++ {
			if err := r.fill(ctx, nonce, offer); err != nil {
				return err
			}
		}
		return nil // the first one of the wallet that is in no block
	}
	return nil
}

// fill adds a transaction that moves nothing, unless the nonce has one.
func (r *Rail) fill(ctx context.Context, nonce uint64, offer feePrice) error {
	now := r.clock.Now()
	t := Transaction{
		Connection: r.name, Sender: r.wallet, Nonce: nonce, Path: r.keyPath(eth.HotPath()), Purpose: Fill,
		Subject: r.errand(Fill, r.wallet, fmt.Sprint(nonce)), To: r.wallet, Value: new(big.Int), Data: []byte{}, GasLimit: plainGas,
		Recipient: r.wallet, Currency: r.chain.native, Amount: new(big.Int), State: Pending, CreatedAt: now, UpdatedAt: now,
	}
	attempt, err := r.sign(ctx, t, offer)
	if err != nil {
		return err
	}
	t.Attempts = []Attempt{attempt}
	stored, added, err := r.store.AddTransaction(ctx, Wallet{Connection: r.name, ChainID: r.chain.id, Address: r.wallet}, t, nil)
	if err == nil && added == Added {
		r.broadcast(ctx, []Transaction{stored})
	}
	return err
}

// errand returns the subject of a transaction that belongs to no payment: the same for the same purpose.
func (r *Rail) errand(purpose Purpose, address eth.Address, of string) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceURL, fmt.Appendf(nil, "causeway:evm:%s:%d:%s:%x:%s", r.name, r.chain.id, purpose, address, of))
}
