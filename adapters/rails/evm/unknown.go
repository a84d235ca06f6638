package evm

import (
	"context"
	"maps"
	"slices"

	"causeway/adapters/rails/evm/eth"
	"causeway/core/rail"
)

// unknownTransfers returns what has left the wallet in a range of blocks, and by no transaction that is stored: another program has its
// key, or the database has lost commits.
func (r *Rail) unknownTransfers(ctx context.Context, from, to uint64, events []event) ([]Event, error) {
	var left []transfer
	var hashes []eth.Hash
	for _, t := range r.transfers(events) {
		if t.From == r.wallet && t.To != r.wallet {
			left, hashes = append(left, t), append(hashes, eth.Hash(t.Transaction))
		}
	}
	if len(left) == 0 {
		return nil, nil
	}
	stored, err := r.store.StoredHashes(ctx, r.name, Range{from, to}, hashes)
	if err != nil {
		return nil, err
	}
	left = slices.DeleteFunc(left, func(t transfer) bool { return slices.Contains(stored, eth.Hash(t.Transaction)) })
	if len(left) == 0 {
		return nil, nil
	}
	if doubts := r.agree(ctx, haveTransfers(left)); len(doubts) > 0 {
		return nil, slices.Collect(maps.Values(doubts))[0]
	}
	times, err := r.timesOf(ctx, left)
	if err != nil {
		return nil, err
	}
	unknown := make([]Event, len(left))
	for i, t := range left {
		id := partnerID(eventKey{eth.Hash(t.Transaction), uint64(t.Index)}, 0)
		unknown[i] = Event{Kind: Unknown, PartnerID: id, Amount: amountOf(t.Amount, t.currency), Payer: t.To, At: times[uint64(t.BlockNumber)]}
		r.log.WithField("transfer", id).Errorf("%s has left the wallet, and no record says why", unknown[i].Amount)
	}
	return unknown, nil
}

// unknownTransfer says of a transfer that no record has it.
func unknownTransfer(e Event) rail.Contradiction {
	return rail.UnknownDeparture(rail.Said{State: "SENT", At: e.At, Amount: e.Amount, PartnerID: e.PartnerID}, eth.FormatAddress(e.Payer))
}
