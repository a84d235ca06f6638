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
	left := slices.DeleteFunc(r.transfers(events), func(t transfer) bool { return t.From != r.wallet || t.To == r.wallet })
	return r.unstored(ctx, Range{from, to}, left, func(t transfer) Event { return Event{Kind: Unknown, Payer: t.To} })
}

// movedByOwners returns what has left the addresses of embedded wallets in a range of blocks, and by no payment: their owners have
// exported the keys.
func (r *Rail) movedByOwners(ctx context.Context, from, to uint64, events []event) ([]Event, error) {
	if r.asset == "" {
		return nil, nil
	}
	wallets := map[eth.Address]DepositAddress{}
	transfers := r.transfers(events)
	for chunk := range slices.Chunk(transfers, maxLookup) {
		addresses := make([]eth.Address, len(chunk))
		for i, t := range chunk {
			addresses[i] = t.From
		}
		found, err := r.store.DepositAddresses(ctx, r.name, addresses)
		if err != nil {
			return nil, err
		}
		for address, d := range found {
			if !d.Wallet.IsZero() {
				wallets[address] = d
			}
		}
	}
	left := slices.DeleteFunc(transfers, func(t transfer) bool { return wallets[t.From].Wallet.IsZero() || t.From == t.To })
	return r.unstored(ctx, Range{from, to}, left, func(t transfer) Event {
		d := wallets[t.From]
		return Event{Kind: Moved, Platform: d.Platform, Subject: d.Wallet.UUID(), Reference: d.Reference, Payer: t.To}
	})
}

// unstored returns the events of transfers that belong to no transaction that is stored.
func (r *Rail) unstored(ctx context.Context, blocks Range, left []transfer, eventOf func(transfer) Event) ([]Event, error) {
	if len(left) == 0 {
		return nil, nil
	}
	hashes := make([]eth.Hash, len(left))
	for i, t := range left {
		hashes[i] = eth.Hash(t.Transaction)
	}
	stored, err := r.store.StoredHashes(ctx, r.name, blocks, hashes)
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
	events := make([]Event, len(left))
	for i, t := range left {
		e := eventOf(t)
		e.PartnerID, e.Amount = partnerID(eventKey{eth.Hash(t.Transaction), uint64(t.Index)}, 0), amountOf(t.Amount, t.currency)
		e.At = times[uint64(t.BlockNumber)]
		events[i] = e
		r.log.WithField("transfer", e.PartnerID).WithField("kind", e.Kind).Errorf("%s has left a wallet, and no record says why", e.Amount)
	}
	return events, nil
}

// unknownTransfer says of a transfer that no record has it.
func unknownTransfer(e Event) rail.Contradiction {
	return rail.UnknownDeparture(rail.Said{State: "SENT", At: e.At, Amount: e.Amount, PartnerID: e.PartnerID}, eth.FormatAddress(e.Payer))
}
