package evm

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"causeway/adapters/rails/evm/eth"
	"causeway/core/money"
)

// maxOversizedShown bounds the deposits that Test names.
const maxOversizedShown = 10

// Test checks every node, the contracts and the wallet.
func (r *Rail) Test(ctx context.Context) (checked []string, err error) {
	done := func(format string, args ...any) { checked = append(checked, fmt.Sprintf(format, args...)) }
	for _, n := range r.nodes.list {
		var latest *block
		get := &request{Method: "eth_getBlockByNumber", Params: []any{"latest", false}, Result: &latest}
		if err := r.nodes.sendTo(ctx, n, []*request{get}); err != nil {
			return checked, err
		}
		if get.Err != nil {
			return checked, fmt.Errorf("%s: %w", n.name, get.Err)
		}
		if latest == nil {
			return checked, fmt.Errorf("%s has no latest block; wait until it is in step with the chain", n.name)
		}
		done("%s is of chain %d, at block %d", n.name, r.chain.id, uint64(latest.Number))
	}
	r.contractsChecked.Store(false)
	if err := r.checkContracts(ctx); err != nil {
		return checked, err
	}
	funds, err := r.funds(ctx)
	if err != nil {
		return checked, err
	}
	for _, currency := range slices.Sorted(maps.Keys(r.tokens)) {
		done("contract of %s: %s, %d decimals", currency, eth.FormatAddress(r.tokens[currency]), currency.Decimals())
	}
	if r.asset != "" {
		done("embedded wallets: %s on %s, %s", r.asset, r.rail, r.walletToken.Load())
	}
	done("wallet %s: %s", eth.FormatAddress(r.wallet), r.describe(funds))
	state, err := r.state(ctx)
	if err != nil {
		return checked, err
	}
	done("blocks read up to %d", state.Position)
	price, err := r.price(ctx)
	if err != nil {
		return checked, err
	}
	done("a unit of gas costs %s wei", price.now())
	oversized, err := r.store.OversizedDeposits(ctx, r.name, maxOversizedShown)
	for _, d := range oversized {
		done("kept aside, larger than an amount can be: %s of %s in %s", d.Amount, d.Currency, d.PartnerID)
	}
	return checked, err
}

// describe returns what the wallet holds, in words.
func (r *Rail) describe(f funds) string {
	text := fmt.Sprintf("%s gwei of %s", new(big.Int).Div(f.native, gwei(1)), r.chain.native)
	for _, currency := range slices.Sorted(maps.Keys(f.tokens)) {
		text += fmt.Sprintf(", %s minor units of %s", f.tokens[currency], currency)
	}
	return text
}

// funds are what the wallet holds at a block.
type funds struct {
	block  uint64
	nonce  uint64 // next nonce on the chain
	native *big.Int
	tokens map[money.Currency]*big.Int
}

// funds returns what the wallet holds at the latest block.
func (r *Rail) funds(ctx context.Context) (f funds, err error) {
	var number hexUint
	if err := r.nodes.call(ctx, &request{Method: "eth_blockNumber", Result: &number}); err != nil {
		return f, err
	}
	at := quantity(uint64(number))
	var native hexBig
	var nonce hexUint
	wallet := eth.FormatAddress(r.wallet)
	requests := []*request{{Method: "eth_getBalance", Params: []any{wallet, at}, Result: &native},
		{Method: "eth_getTransactionCount", Params: []any{wallet, at}, Result: &nonce}}
	currencies := slices.Sorted(maps.Keys(r.tokens))
	replies := make([]hexBytes, len(currencies))
	for i, currency := range currencies {
		requests = append(requests, callContract(r.tokens[currency], eth.BalanceOfCall(r.wallet), at, &replies[i]))
	}
	if err := r.nodes.call(ctx, requests...); err != nil {
		return f, err
	}
	f = funds{block: uint64(number), nonce: uint64(nonce), native: &native.Int, tokens: map[money.Currency]*big.Int{}}
	for i, currency := range currencies {
		if f.tokens[currency], err = eth.Uint(replies[i]); err != nil {
			return f, err
		}
	}
	return f, nil
}

// state returns how far the chain was read. The first call begins at the present final block, or at the setting.
func (r *Rail) state(ctx context.Context) (Chain, error) {
	initial := Chain{Connection: r.name, ChainID: r.chain.id, Wallet: r.wallet}
	h, err := r.head(ctx)
	if err != nil {
		return initial, err
	}
	if initial.Position = h.final; r.startBlock > 0 {
		initial.Position = min(r.startBlock-1, h.final)
	}
	first, err := r.blocksAt(ctx, []uint64{initial.Position})
	if err != nil {
		return initial, err
	}
	if first[initial.Position] == nil {
		return initial, fmt.Errorf("the node does not know block %d", initial.Position)
	}
	initial.PositionHash = eth.Hash(first[initial.Position].Hash)
	state, err := r.store.OpenChain(ctx, initial)
	if err != nil {
		return state, err
	}
	return state, r.checkWallet(state)
}

// checkWallet returns an error if a connection has got another seed or chain: payers have addresses of the first one.
func (r *Rail) checkWallet(state Chain) error {
	if state.Wallet != r.wallet || state.ChainID != r.chain.id {
		return fmt.Errorf("the connection %s has issued addresses of the wallet %s on chain %d, and now has %s on chain %d; restore the seed "+
			"and chainId, or set up a connection with another name",
			r.name, eth.FormatAddress(state.Wallet), state.ChainID, eth.FormatAddress(r.wallet), r.chain.id)
	}
	return nil
}
