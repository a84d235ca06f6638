package evm

import (
	"context"
	"fmt"

	"causeway/adapters/rails/evm/eth"
)

// maxReversed bounds the deposits that one reorganisation can take back.
const maxReversed = 100_000

// positionOf is what the nodes say about the block at the position.
type positionOf int

const (
	positionKept    positionOf = iota
	positionUnknown            // the node lags behind
	positionChanged
)

// checkPosition returns whether the block at the position is still part of the chain. It is replaced only if every node
// that answers says so.
func (r *Rail) checkPosition(ctx context.Context, state Chain) (positionOf, error) {
	blocks, err := r.blocksAt(ctx, []uint64{state.Position})
	if err != nil {
		return positionUnknown, err
	}
	switch b := blocks[state.Position]; {
	case b == nil:
		return positionUnknown, nil
	case eth.Hash(b.Hash) == state.PositionHash:
		return positionKept, nil
	}
	for _, n := range r.nodes.list {
		blocks, err := blocksFrom([]uint64{state.Position}, func(requests []*request) error { return r.nodes.sendTo(ctx, n, requests) })
		if err != nil {
			continue
		}
		if b := blocks[state.Position]; b != nil && eth.Hash(b.Hash) == state.PositionHash {
			return positionUnknown, fmt.Errorf("the nodes disagree about block %d; waiting until they agree", state.Position)
		}
	}
	return positionChanged, nil
}

// rewind takes back what vanished blocks have brought: transactions become pending, and deposits are reversed.
func (r *Rail) rewind(ctx context.Context, state Chain) error {
	fork, err := r.fork(ctx, state)
	if err != nil {
		return err
	}
	r.log.WithField("from", state.Position).WithField("to", fork.Number).Error("the chain was reorganised below its confirmations")
	if err := r.checkConcluded(ctx, fork.Number); err != nil {
		return err
	}
	deposits, err := r.store.DepositsAfter(ctx, r.name, fork.Number, maxReversed+1)
	if err != nil {
		return err
	}
	if len(deposits) > maxReversed {
		return fmt.Errorf("a reorganisation takes back more than %d deposits; check the nodes", maxReversed)
	}
	numbers := make([]uint64, len(deposits))
	for i, d := range deposits {
		numbers[i] = d.Block.Number
	}
	blocks, err := r.blocksAt(ctx, distinct(numbers))
	if err != nil {
		return err
	}
	a := Advance{Connection: r.name, From: Block{Number: state.Position, Hash: state.PositionHash},
		To: fork, At: r.clock.Now()}
	for _, d := range deposits {
		if b := blocks[d.Block.Number]; b != nil && eth.Hash(b.Hash) == d.Block.Hash {
			continue
		}
		a.Reversed = append(a.Reversed, d)
		if !d.Oversized {
			a.Events = append(a.Events, Event{Kind: Reversed, Platform: d.Platform, Receipt: d.PartnerID,
				PartnerID: "reversal:" + d.PartnerID,
				At:        a.At, Memo: fmt.Sprintf("block %d was replaced", d.Block.Number)})
		}
	}
	_, err = r.store.Advance(ctx, a)
	return err
}

// fork returns the latest block of those that were read that is still part of the chain.
func (r *Rail) fork(ctx context.Context, state Chain) (Block, error) {
	kept, err := r.store.Blocks(ctx, r.name)
	if err != nil {
		return Block{}, err
	}
	for len(kept) > 0 {
		page := kept[:min(len(kept), maxBatch)]
		kept = kept[len(page):]
		numbers := make([]uint64, len(page))
		for i, b := range page {
			numbers[i] = b.Number
		}
		blocks, err := r.blocksAt(ctx, numbers)
		if err != nil {
			return Block{}, err
		}
		for _, b := range page {
			if now := blocks[b.Number]; now != nil && eth.Hash(now.Hash) == b.Hash && b.Number < state.Position {
				return b, nil
			}
		}
	}
	return Block{}, fmt.Errorf("none of the blocks that were read is part of the chain; check that the node is of the right network")
}
