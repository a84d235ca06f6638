package evm

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rails/evm/eth"
	"causeway/core/ident"
	"causeway/core/money"
)

const (
	maxSweeps = 20 // of one currency and poll
	// sweepRetries is when a sweep is looked at again if nothing has changed.
	sweepRetries = 2 * time.Minute
)

// sweep sends what deposit addresses hold to the wallet. An address pays the fee itself, so it gets native currency from
// the wallet first.
func (r *Rail) sweep(ctx context.Context) error {
	var s *session
	for _, currency := range slices.Sorted(maps.Keys(r.sweepFrom)) {
		due, err := r.store.ClaimHoldings(ctx, r.name, currency, r.sweepFrom[currency], sweepRetries, maxSweeps)
		if err != nil || len(due) == 0 {
			if err != nil {
				return err
			}
			continue
		}
		if s == nil {
			var wait string
			if s, wait, err = r.newSession(ctx); err != nil || wait != "" {
				return err
			}
		}
		addresses := make([]eth.Address, len(due))
		for i, d := range due {
			addresses[i] = d.Address
		}
		issued, err := r.store.DepositAddresses(ctx, r.name, addresses)
		if err != nil {
			return err
		}
		for _, d := range due {
			switch err := r.sweepOne(ctx, s, issued[d.Address], currency); {
			case isRevert(err): // of this address; others can be swept
				r.log.WithError(err).WithField("address", eth.FormatAddress(d.Address)).Warn(
					"the contract transfers nothing from a deposit address; will retry")
			case err != nil:
				return fmt.Errorf("sweep of %s: %w", eth.FormatAddress(d.Address), err)
			}
		}
	}
	return nil
}

// sweepOne takes the next step of the sweep of an address.
func (r *Rail) sweepOne(ctx context.Context, s *session, d DepositAddress, currency money.Currency) error {
	path := eth.DepositPath(d.Platform.UUID(), d.Reference)
	if address, err := r.addressAt(path); err != nil || address != d.Address {
		return err // the address is no longer in the table
	}
	held, err := r.heldAt(ctx, d.Address, currency)
	if err != nil || held.amount.Cmp(r.sweepFrom[currency]) < 0 {
		return err
	}
	wallet := Wallet{Connection: r.name, ChainID: r.chain.id, Address: d.Address}
	subject := r.errand(Sweep, d.Address, fmt.Sprint(held.nonce))
	if next, err := r.store.NextNonce(ctx, wallet, held.nonce); err != nil {
		return err
	} else if next > held.nonce { // it is signed already, and its latest version may cost more than earlier ones
		found, err := r.store.Transactions(ctx, r.name, Sweep, []uuid.UUID{subject})
		if err != nil || len(found) == 0 || found[0].State != Pending {
			return err
		}
		_, err = r.supplySweep(ctx, s, d, held, found[0].GasLimit, found[0].Attempts[len(found[0].Attempts)-1].MaxFee)
		return err
	}
	t := r.tokenTransfer(d.Address, r.keyPath(path), order{platform: d.Platform, recipient: r.wallet, currency: currency, amount: held.amount})
	t.Purpose, t.Subject = Sweep, subject
	estimates, err := r.estimate(ctx, []Transaction{t})
	if err = firstError(err, estimates); err != nil {
		return err
	}
	t.GasLimit = estimates[0].gas
	if enough, err := r.supplySweep(ctx, s, d, held, t.GasLimit, s.offer.maxFee); err != nil || !enough {
		return err
	}
	stored, added, err := r.addWithNonce(ctx, t, s.offer, held.nonce, nil)
	if err == nil && added == Added {
		r.broadcast(ctx, []Transaction{stored})
	}
	return err
}

func (r *Rail) supplySweep(ctx context.Context, s *session, d DepositAddress, held held, gas uint64, maxFee *big.Int) (bool, error) {
	enough, wait, err := r.supply(ctx, s, d, held, gas, maxFee)
	if wait != "" {
		r.log.Warn("a deposit address is not swept: " + wait)
	}
	return enough, err
}

func firstError(err error, estimates []estimate) error {
	if err != nil {
		return err
	}
	return estimates[0].err
}

// supply reports whether an address has what a transaction of its own can cost: without it no node takes it. If it has not, it is sent
// what is missing. As long as that has not arrived, the address holds the same and it is the same transaction. wait says why it is not
// sent.
func (r *Rail) supply(ctx context.Context, s *session, d DepositAddress, held held, gas uint64, maxFee *big.Int) (enough bool, wait string,
	err error) {
	missing := r.missingGas(held, gas, maxFee)
	if missing.Sign() <= 0 {
		return true, "", nil
	}
	subject := r.errand(TopUp, d.Address, fmt.Sprintf("%d:%s", held.nonce, held.native))
	_, wait, err = r.topUp(ctx, s, TopUp, subject, d.Platform, d.Address, missing)
	return false, wait, err
}

// missingGas returns what an address has too little for a transaction; zero or less if it has enough.
func (r *Rail) missingGas(held held, gas uint64, maxFee *big.Int) *big.Int {
	missing := new(big.Int).Mul(new(big.Int).SetUint64(gas), maxFee)
	missing.Add(missing, r.chain.dataFee)
	return missing.Sub(missing, held.native)
}

// topUp sends an address native currency, once for each subject.
func (r *Rail) topUp(ctx context.Context, s *session, purpose Purpose, subject uuid.UUID, p ident.Platform, to eth.Address,
	value *big.Int) (stored Transaction, wait string, err error) {
	now := r.clock.Now()
	t := Transaction{
		Connection: r.name, Sender: r.wallet, Path: r.keyPath(eth.HotPath()), Purpose: purpose, Subject: subject,
		Platform: p, To: to, Value: value, Data: []byte{}, GasLimit: plainGas,
		Recipient: to, Currency: r.chain.native, Amount: value, State: Pending, CreatedAt: now, UpdatedAt: now,
	}
	stored, added, wait, err := r.add(ctx, s, t)
	if err == nil && added == Added {
		r.broadcast(ctx, []Transaction{stored})
	}
	return stored, wait, err
}

// held is what an address holds at the latest block.
type held struct {
	amount, native *big.Int
	nonce          uint64
}

func (r *Rail) heldAt(ctx context.Context, address eth.Address, currency money.Currency) (h held, err error) {
	var amount hexBytes
	var native hexBig
	var nonce hexUint
	text := eth.FormatAddress(address)
	if err := r.nodes.call(ctx, callContract(r.tokens[currency], eth.BalanceOfCall(address), "latest", &amount),
		&request{Method: "eth_getBalance", Params: []any{text, "latest"}, Result: &native},
		&request{Method: "eth_getTransactionCount", Params: []any{text, "latest"}, Result: &nonce}); err != nil {
		return h, err
	}
	h.native, h.nonce = &native.Int, uint64(nonce)
	h.amount, err = eth.Uint(amount)
	return h, err
}
