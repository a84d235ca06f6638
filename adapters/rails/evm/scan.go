package evm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"sync/atomic"
	"time"

	"causeway/adapters/rails/evm/eth"
	"causeway/core/money"
)

const (
	// firstRange is how many blocks are read at first; the range doubles as long as replies are small, and is halved
	// when a node refuses it.
	firstRange    = 50
	smallReply    = 5_000 // events
	maxRanges     = 20    // of one poll
	maxFoundEvent = 2_000 // of one poll, after which the rest is read by the next one
	maxLookup     = 5_000 // addresses
)

// scan reads the events of blocks from the position to the final block. more says that blocks are left.
func (r *Rail) scan(ctx context.Context, state Chain, h head) (more bool, err error) {
	found := 0
	for range maxRanges {
		if !h.any || state.Position >= h.final {
			return false, nil
		}
		if found >= maxFoundEvent {
			return true, nil
		}
		to := min(state.Position+r.lastRange.Load(), h.final)
		end, events, err := r.readRange(ctx, state.Position+1, to)
		if err != nil {
			if r.readsLess(ctx, &r.lastRange, to-state.Position, err) {
				continue
			}
			return false, err
		}
		r.readsMore(&r.lastRange, events)
		deposits, err := r.deposits(ctx, events)
		if err != nil {
			return false, err
		}
		unknown, err := r.unknownTransfers(ctx, state.Position+1, end.Number, events)
		if err != nil {
			return false, err
		}
		moved, err := r.movedByOwners(ctx, state.Position+1, end.Number, events)
		if err != nil {
			return false, err
		}
		found += len(deposits)
		a := r.advance(state, end, deposits)
		a.Events = append(append(a.Events, unknown...), moved...)
		advanced, err := r.store.Advance(ctx, a)
		if err != nil || !advanced { // another process has read the range
			return true, err
		}
		state.Position, state.PositionHash = end.Number, end.Hash
	}
	return state.Position < h.final, nil
}

// readsLess halves the range that is read at once, after a node has refused one. It returns false if that is the shortest.
func (r *Rail) readsLess(ctx context.Context, length *atomic.Uint64, width uint64, refusal error) bool {
	if width <= minRange || ctx.Err() != nil {
		return false
	}
	length.Store(max(width/2, minRange))
	r.log.WithError(refusal).WithField("blocks", width).Debug("range of blocks not read; trying half of it")
	return true
}

// readsMore doubles the range that is read at once, if the reply to one was small.
func (r *Rail) readsMore(length *atomic.Uint64, events []event) {
	if len(events) < smallReply {
		length.Store(min(2*length.Load(), r.maxRange))
	}
}

// readRange returns the transfers of the contracts in a range of blocks, and its end.
func (r *Rail) readRange(ctx context.Context, from, to uint64) (end Block, events []event, err error) {
	contracts := make([]string, 0, len(r.tokens))
	for _, c := range r.tokens {
		contracts = append(contracts, eth.FormatAddress(c))
	}
	slices.Sort(contracts)
	last, events, err := r.readEvents(ctx, from, to, contracts, []any{eth.FormatHash(eth.TransferTopic)})
	return Block{Number: uint64(last.Number), Hash: eth.Hash(last.Hash)}, events, err
}

// readEvents returns the events of contracts with some topics in a range of blocks, and its end.
func (r *Rail) readEvents(ctx context.Context, from, to uint64, contracts []string, topics []any) (end block, events []event, err error) {
	var last *block
	filter := map[string]any{"fromBlock": quantity(from), "toBlock": quantity(to), "address": contracts, "topics": topics}
	if err := r.nodes.call(ctx, &request{Method: "eth_getLogs", Params: []any{filter}, Result: &events},
		&request{Method: "eth_getBlockByNumber", Params: []any{quantity(to), false}, Result: &last}); err != nil {
		return end, nil, err
	}
	if last == nil || uint64(last.Number) != to {
		return end, nil, fmt.Errorf("the node does not know block %d", to)
	}
	for _, e := range events {
		if n := uint64(e.BlockNumber); n < from || n > to || e.Removed {
			return end, nil, fmt.Errorf("the node returned an event of block %d for the blocks %d to %d", n, from, to)
		}
	}
	return *last, events, nil
}

// transfer is a transfer of a listed contract.
type transfer struct {
	event
	eth.Transfer
	currency money.Currency
}

// transfers returns the transfers among events: of listed contracts, and of more than nothing.
func (r *Rail) transfers(events []event) []transfer {
	currencies := map[eth.Address]money.Currency{}
	for currency, contract := range r.tokens {
		currencies[contract] = currency
	}
	var found []transfer
	for _, e := range events {
		currency, listed := currencies[eth.Address(e.Address)]
		if !listed {
			continue
		}
		if t, ok := eth.DecodeTransfer(e.hashes(), e.Data); ok && t.Amount.Sign() > 0 {
			found = append(found, transfer{e, t, currency})
		}
	}
	return found
}

// deposits returns the transfers to issued addresses that were not stored yet, oldest first.
func (r *Rail) deposits(ctx context.Context, events []event) ([]Deposit, error) {
	transfers := slices.DeleteFunc(r.transfers(events), func(t transfer) bool {
		return r.asset != "" && t.From == r.wallet // to an embedded wallet: a payment, or what unknownTransfers reports
	})
	issued := map[eth.Address]DepositAddress{}
	for chunk := range slices.Chunk(transfers, maxLookup) {
		addresses := make([]eth.Address, len(chunk))
		for i, t := range chunk {
			addresses[i] = t.To
		}
		found, err := r.store.DepositAddresses(ctx, r.name, addresses)
		if err != nil {
			return nil, err
		}
		for a, d := range found {
			issued[a] = d
		}
	}
	var ours []transfer
	for _, t := range transfers {
		if _, ok := issued[t.To]; ok {
			ours = append(ours, t)
		}
	}
	if len(ours) == 0 {
		return nil, nil
	}
	if doubts := r.agree(ctx, haveTransfers(ours)); len(doubts) > 0 {
		return nil, slices.Collect(maps.Values(doubts))[0]
	}
	times, err := r.timesOf(ctx, ours)
	if err != nil {
		return nil, err
	}
	return r.newDeposits(ctx, ours, issued, times)
}

// timesOf returns the times of the blocks of transfers. A block with another hash than that of the event is an error: the
// chain has changed since the events were read.
func (r *Rail) timesOf(ctx context.Context, transfers []transfer) (map[uint64]time.Time, error) {
	numbers := make([]uint64, len(transfers))
	for i, t := range transfers {
		numbers[i] = uint64(t.BlockNumber)
	}
	blocks, err := r.blocksAt(ctx, distinct(numbers))
	if err != nil {
		return nil, err
	}
	times := map[uint64]time.Time{}
	for _, t := range transfers {
		b := blocks[uint64(t.BlockNumber)]
		if b == nil || b.Hash != t.BlockHash {
			return nil, errors.New("the chain has changed since its events were read")
		}
		times[uint64(b.Number)] = time.Unix(int64(b.Timestamp), 0).UTC()
	}
	return times, nil
}

type eventKey struct {
	transaction eth.Hash
	index       uint64
}

// newDeposits returns the deposits of transfers. One that was reversed before gets another partner's id, because it is
// received again.
func (r *Rail) newDeposits(ctx context.Context, transfers []transfer, issued map[eth.Address]DepositAddress,
	times map[uint64]time.Time) ([]Deposit, error) {
	hashes := make([]eth.Hash, len(transfers))
	for i, t := range transfers {
		hashes[i] = eth.Hash(t.Transaction)
	}
	stored, err := r.store.DepositsOf(ctx, r.name, hashes)
	if err != nil {
		return nil, err
	}
	before := map[eventKey]int{}
	present := map[eventKey]eth.Hash{}
	for _, d := range stored {
		key := eventKey{d.Transaction, d.LogIndex}
		before[key]++
		if !d.Reversed {
			present[key] = d.Block.Hash
		}
	}
	var deposits []Deposit
	for _, t := range transfers {
		key := eventKey{eth.Hash(t.Transaction), uint64(t.Index)}
		if hash, ok := present[key]; ok {
			if hash != eth.Hash(t.BlockHash) {
				return nil, fmt.Errorf("the transfer %s is in another block than it was credited for; a node is wrong", partnerID(key, 0))
			}
			continue
		}
		deposits = append(deposits, Deposit{
			DepositAddress: issued[t.To], PartnerID: partnerID(key, before[key]), Transaction: key.transaction, LogIndex: key.index,
			Block: Block{Number: uint64(t.BlockNumber), Hash: eth.Hash(t.BlockHash)}, At: times[uint64(t.BlockNumber)],
			Currency: t.currency, Amount: t.Amount, Payer: t.From, Oversized: t.Amount.Cmp(maxAmount) > 0,
		})
		present[key] = eth.Hash(t.BlockHash)
	}
	return deposits, nil
}

var maxAmount = big.NewInt(money.MaxMinor)

// partnerID returns the id of a deposit: the transaction, the index of the event and, if it was reversed before, how often.
func partnerID(key eventKey, before int) string {
	id := fmt.Sprintf("%s:%d", eth.FormatHash(key.transaction), key.index)
	if before > 0 {
		id += fmt.Sprintf("#%d", before+1)
	}
	return id
}

// advance returns what a range has brought.
func (r *Rail) advance(state Chain, end Block, deposits []Deposit) Advance {
	a := Advance{Connection: r.name, From: Block{Number: state.Position, Hash: state.PositionHash}, To: end,
		Deposits: deposits, At: r.clock.Now()}
	for _, d := range deposits {
		if d.Oversized {
			r.log.WithField("deposit", d.PartnerID).Error("a deposit is larger than an amount can be; it is kept aside")
			continue
		}
		a.Events = append(a.Events, Event{Kind: Received, Platform: d.Platform, PartnerID: d.PartnerID, Reference: d.Reference,
			Amount: money.Amount{Minor: d.Amount.Int64(), Currency: d.Currency}, Payer: d.Payer, At: d.At})
	}
	return a
}

// distinct returns values in order, each once. It changes their order.
func distinct[T cmp.Ordered](values []T) []T {
	slices.Sort(values)
	return slices.Compact(values)
}
