package evm

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"causeway/adapters/rails/evm/eth"
)

// outOfStep is how old the latest block of a node is that has no say: it has stopped following the chain.
const outOfStep = 10 * time.Minute

// agree checks what one node has said about transactions with the receipts of every other node, and returns why some are
// not to be believed. Otherwise one node could credit money that nobody sent, or have a payment refused that was made. A
// node that does not answer, or is out of step, has no say.
func (r *Rail) agree(ctx context.Context, said map[eth.Hash]func(*receipt) error) map[eth.Hash]error {
	doubts := map[eth.Hash]error{}
	if len(r.nodes.list) == 1 || len(said) == 0 {
		return doubts
	}
	for _, n := range r.nodes.list {
		receipts, err := r.receiptsOf(ctx, n, said)
		if err != nil {
			r.log.WithError(err).Warn("a node does not confirm what another one says")
			continue
		}
		found := map[eth.Hash]error{}
		for hash, check := range said {
			if err := check(receipts[hash]); err != nil {
				found[hash] = fmt.Errorf("%s: %w; waiting until the nodes agree", n.name, err)
			}
		}
		if len(found) == 0 || !r.isInStep(ctx, n) {
			continue
		}
		for hash, doubt := range found {
			doubts[hash] = doubt
		}
	}
	return doubts
}

// receiptsOf returns the receipts that a node has.
func (r *Rail) receiptsOf(ctx context.Context, n *node, said map[eth.Hash]func(*receipt) error) (map[eth.Hash]*receipt, error) {
	hashes := make([]eth.Hash, 0, len(said))
	for hash := range said {
		hashes = append(hashes, hash)
	}
	found := make([]*receipt, len(hashes))
	requests := make([]*request, len(hashes))
	for i, hash := range hashes {
		requests[i] = &request{Method: "eth_getTransactionReceipt", Params: []any{eth.FormatHash(hash)}, Result: &found[i]}
	}
	if err := r.nodes.sendTo(ctx, n, requests); err != nil {
		return nil, err
	}
	receipts := make(map[eth.Hash]*receipt, len(hashes))
	for i, hash := range hashes {
		if err := requests[i].Err; err != nil {
			return nil, fmt.Errorf("%s: %w", n.name, err)
		}
		receipts[hash] = found[i]
	}
	return receipts, nil
}

// isInStep reports whether a node follows the chain.
func (r *Rail) isInStep(ctx context.Context, n *node) bool {
	var latest *block
	get := &request{Method: "eth_getBlockByNumber", Params: []any{"latest", false}, Result: &latest}
	if err := r.nodes.sendTo(ctx, n, []*request{get}); err != nil || get.Err != nil || latest == nil {
		return false
	}
	oldest := r.clock.Now().Add(-outOfStep).Unix()
	if uint64(latest.Timestamp) < uint64(max(oldest, 0)) {
		r.log.WithField("node", n.name).Warn("a node is out of step with the chain, and has no say")
		return false
	}
	return true
}

// sameOutcome returns a check that a receipt is in the same block as another one, with the same outcome.
func sameOutcome(other receipt) func(*receipt) error {
	return func(own *receipt) error {
		switch {
		case own == nil:
			return fmt.Errorf("does not know the transaction %s", eth.FormatHash(eth.Hash(other.Hash)))
		case own.Hash != other.Hash || own.BlockHash != other.BlockHash || own.Status != other.Status:
			return fmt.Errorf("has another receipt of the transaction %s", eth.FormatHash(eth.Hash(other.Hash)))
		}
		return nil
	}
}

// haveTransfers returns checks that transactions have brought transfers.
func haveTransfers(transfers []transfer) map[eth.Hash]func(*receipt) error {
	events := make([]event, len(transfers))
	for i, t := range transfers {
		events[i] = t.event
	}
	return haveEvents(events)
}

// haveEvents returns checks that transactions have succeeded with events.
func haveEvents(events []event) map[eth.Hash]func(*receipt) error {
	byTransaction := map[eth.Hash][]event{}
	for _, e := range events {
		hash := eth.Hash(e.Transaction)
		byTransaction[hash] = append(byTransaction[hash], e)
	}
	checks := make(map[eth.Hash]func(*receipt) error, len(byTransaction))
	for hash, events := range byTransaction {
		checks[hash] = func(own *receipt) error {
			if own == nil {
				return fmt.Errorf("does not know the transaction %s", eth.FormatHash(hash))
			}
			for _, e := range events {
				if own.Status != 1 || !slices.ContainsFunc(own.Logs, func(o event) bool { return o.isSame(e) }) {
					return fmt.Errorf("has not the same events in the transaction %s", eth.FormatHash(hash))
				}
			}
			return nil
		}
	}
	return checks
}

// errNoEvent is the error for a transaction that is said to have succeeded, without the event of its transfer. Nobody knows
// then whether the money has moved.
var errNoEvent = errors.New("the receipt says success, and has no event of the transfer; look at the transaction, and check the node")

// stateOf returns how a transaction has ended by its receipt, and what the contract has made of its transfer if that differs from
// what was sent.
func (r *Rail) stateOf(t Transaction, mined receipt) (State, *Transfer, error) {
	contract, isToken := r.tokens[t.Currency]
	switch {
	case mined.Status != 1:
		return Reverted, nil, nil
	case !isToken || contract != t.To:
		return Confirmed, nil, nil
	}
	measured := Transfer{Sent: t.Amount, Arrived: new(big.Int), Taken: new(big.Int)}
	for _, found := range r.transfers(mined.Logs) {
		if eth.Address(found.Address) != contract || found.From != t.payer() {
			continue
		}
		measured.Taken.Add(measured.Taken, found.Amount)
		if found.To == t.Recipient {
			measured.Arrived.Add(measured.Arrived, found.Amount)
		}
	}
	switch {
	case measured.Arrived.Sign() == 0:
		return "", nil, errNoEvent
	case measured.Arrived.Cmp(t.Amount) == 0 && measured.Taken.Cmp(t.Amount) == 0:
		return Confirmed, nil, nil
	}
	r.log.WithField("transaction", eth.FormatHash(eth.Hash(mined.Hash))).Errorf("of a transfer of %s, %s has arrived, and %s was taken",
		t.Amount, measured.Arrived, measured.Taken)
	return Confirmed, &measured, nil
}

// agreed returns the receipts that the nodes agree about, by transaction.
func (r *Rail) agreed(ctx context.Context, mined []receipt) map[eth.Hash]bool {
	said := map[eth.Hash]func(*receipt) error{}
	for _, m := range mined {
		said[eth.Hash(m.Hash)] = sameOutcome(m)
	}
	doubts := r.agree(ctx, said)
	agreed := map[eth.Hash]bool{}
	for hash := range said {
		if doubt := doubts[hash]; doubt != nil {
			r.log.WithError(doubt).Warn("a transaction is not concluded")
			continue
		}
		agreed[hash] = true
	}
	return agreed
}
