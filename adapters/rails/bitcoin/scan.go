package bitcoin

import (
	"context"
	"fmt"
	"slices"
	"time"

	"causeway/adapters/rails/bitcoin/btc"
	"causeway/adapters/rails/feed"
	"causeway/ports"
)

const (
	// firstBlocks is how many blocks before its first call the wallet is read: those of a day.
	firstBlocks = 144
	// watchedBlocks is how deep blocks are compared with those that deposits were in. No chain has replaced as many.
	watchedBlocks = 200
	maxWatched    = 20_000
	// matureDepth is how deep a reward for a block is when it can be spent.
	matureDepth = 101
	savePiece   = 1000
)

// scan keeps the deposits that have enough confirmations since the last time, and reverses those that are in the chain
// no longer.
func (r *Rail) scan(ctx context.Context, lease ports.Lease) error {
	w, err := r.Store.Wallet(ctx, r.Connection.Name)
	if err != nil {
		return err
	}
	info, err := r.client.chain(ctx)
	if err != nil || info.Best == w.Best {
		return err
	}
	first := w.ScannedBlock == ""
	if first {
		w.ScannedHeight = max(info.Blocks-firstBlocks, 0)
		if w.ScannedBlock, err = r.client.blockHash(ctx, w.ScannedHeight); err != nil {
			return err
		}
	}
	changes := Changes{At: r.Clock.Now()}
	if err := r.reversed(ctx, w.Position, info, &changes); err != nil {
		return err
	}
	list, err := r.listFrom(ctx, w.Position)
	if err != nil {
		return err
	}
	if err := r.credited(ctx, list.Transactions, &changes); err != nil {
		return err
	}
	if !first { // what the wallet did before it was connected is not ours
		if changes.Events, err = r.unknownPayments(ctx, list.Transactions, changes.Events); err != nil {
			return err
		}
	}
	// What was read is of one chain only if the chain did not change meanwhile; otherwise all is read again.
	if now, err := r.client.chain(ctx); err != nil || now.Best != info.Best {
		return err
	}
	last, err := r.client.header(ctx, list.LastBlock)
	if err != nil {
		return err
	}
	w.ScannedBlock, w.ScannedHeight, w.Best = list.LastBlock, last.Height, info.Best
	changes.Position = &w.Position
	return r.saveInPieces(ctx, lease, changes)
}

// listFrom lists the transactions since a position. A node that does not know its block had another chain before.
func (r *Rail) listFrom(ctx context.Context, p Position) (since, error) {
	list, err := r.client.listSince(ctx, p.ScannedBlock, r.settings.confirmations)
	if !hasCode(err, rpcNotFound) {
		return list, err
	}
	info, err := r.client.chain(ctx)
	if err != nil {
		return list, err
	}
	block, err := r.client.blockHash(ctx, max(min(p.ScannedHeight, info.Blocks)-watchedBlocks, 0))
	if err != nil {
		return list, err
	}
	return r.client.listSince(ctx, block, r.settings.confirmations)
}

// saveInPieces saves changes of any number of deposits. The position is that of the last piece, so that after a crash
// the others are found again, as they were.
func (r *Rail) saveInPieces(ctx context.Context, lease ports.Lease, changes Changes) error {
	events := map[string][]feed.Event{}
	last := Changes{At: changes.At, Position: changes.Position}
	for _, e := range changes.Events {
		if e.Kind == feed.Unknown {
			last.Events = append(last.Events, e)
			continue
		}
		output := outputOf(e)
		events[output] = append(events[output], e)
	}
	for len(changes.Deposits) > savePiece {
		piece := Changes{At: changes.At, Deposits: changes.Deposits[:savePiece]}
		for _, d := range piece.Deposits {
			piece.Events = append(piece.Events, events[outputName(d.Output)]...)
		}
		if err := r.Store.Save(ctx, lease, piece); err != nil {
			return err
		}
		changes.Deposits = changes.Deposits[savePiece:]
	}
	last.Deposits = changes.Deposits
	for _, d := range last.Deposits {
		last.Events = append(last.Events, events[outputName(d.Output)]...)
	}
	return r.Store.Save(ctx, lease, last)
}

func outputName(o Output) string { return fmt.Sprintf("%s:%d", o.TxID, o.Vout) }

// receiptID returns the partner's id of a deposit. One that returns after it was reversed is another receipt.
func receiptID(d Deposit) string {
	if d.Occurrence > 1 {
		return fmt.Sprintf("%s#%d", outputName(d.Output), d.Occurrence)
	}
	return outputName(d.Output)
}

// outputOf returns the output of an event: it begins the id of each.
func outputOf(e feed.Event) string {
	id := e.PartnerID
	if i := slices.Index([]byte(id), '#'); i >= 0 {
		return id[:i]
	}
	if len(id) > len(reversedSuffix) && id[len(id)-len(reversedSuffix):] == reversedSuffix {
		return id[:len(id)-len(reversedSuffix)]
	}
	return id
}

const reversedSuffix = "/reversed"

// credited adds the deposits of a list that have enough confirmations.
func (r *Rail) credited(ctx context.Context, list []listed, changes *Changes) error {
	var entries []listed
	var outputs []Output
	var addresses []string
	for _, entry := range list {
		received := entry.Category == "receive" || entry.Category == "generate" || entry.Category == "immature"
		if received && entry.Confirmations >= r.settings.confirmations {
			entries = append(entries, entry)
			outputs = append(outputs, Output{TxID: entry.TxID, Vout: entry.Vout})
			addresses = append(addresses, entry.Address)
		}
	}
	known, err := r.deposits(ctx, outputs)
	if err != nil {
		return err
	}
	for _, d := range changes.Deposits { // just reversed, or just found in another block
		known[d.Output] = d
	}
	owners, err := r.owners(ctx, addresses)
	if err != nil {
		return err
	}
	for i, entry := range entries {
		d, ok := known[outputs[i]]
		if ok && d.Status == Credited || ok && d.Status == Immature && entry.Category == "immature" {
			continue
		}
		satoshis, err := btc.ParseAmount(string(entry.Amount))
		if err != nil || satoshis <= 0 {
			return fmt.Errorf("listsinceblock: output %s: %q is not an amount", outputName(outputs[i]), entry.Amount)
		}
		d = Deposit{Output: outputs[i], Address: entry.Address, Satoshis: satoshis, Block: entry.Block, Height: entry.Height,
			Status: Immature, Occurrence: d.Occurrence}
		if entry.Category != "immature" {
			d = credit(d, time.Unix(entry.BlockTime, 0), owners[entry.Address], changes)
		}
		changes.Deposits = append(changes.Deposits, d)
		known[outputs[i]] = d
	}
	return nil
}

// credit returns a deposit that is credited, and adds its event.
func credit(d Deposit, at time.Time, owner Address, changes *Changes) Deposit {
	d.Status, d.Occurrence = Credited, d.Occurrence+1
	changes.Events = append(changes.Events, feed.Event{
		Kind: feed.Receipt, PartnerID: receiptID(d), Platform: owner.Platform, Reference: owner.Reference,
		Satoshis: d.Satoshis, At: at.UTC(),
	})
	return d
}

// deposits returns the known ones of some outputs.
func (r *Rail) deposits(ctx context.Context, outputs []Output) (map[Output]Deposit, error) {
	found, err := r.Store.Deposits(ctx, r.Connection.Name, outputs)
	known := map[Output]Deposit{}
	for _, d := range found {
		known[d.Output] = d
	}
	return known, err
}

// owners returns to which reference addresses belong. What the wallet received at others has no owner.
func (r *Rail) owners(ctx context.Context, addresses []string) (map[string]Address, error) {
	slices.Sort(addresses)
	found, err := r.Store.Addresses(ctx, r.Connection.Name, slices.Compact(addresses))
	owners := map[string]Address{}
	for _, a := range found {
		owners[a.Address] = a
	}
	return owners, err
}

// reversed adds what became of deposits whose block was replaced, and credits rewards for blocks that are mature.
func (r *Rail) reversed(ctx context.Context, p Position, info chainInfo, changes *Changes) error {
	from := max(min(info.Blocks, p.ScannedHeight)-watchedBlocks, 0)
	recent, err := r.Store.RecentDeposits(ctx, r.Connection.Name, from, maxWatched)
	if err != nil {
		return err
	}
	blocks, err := r.blocks(ctx, recent, info.Blocks)
	if err != nil {
		return err
	}
	var addresses []string
	var moved []Deposit
	for _, d := range recent {
		mature := d.Status == Immature && info.Blocks-d.Height+1 >= matureDepth
		if blocks[d.Height] != d.Block || mature {
			moved, addresses = append(moved, d), append(addresses, d.Address)
		}
	}
	owners, err := r.owners(ctx, addresses)
	if err != nil {
		return err
	}
	for _, d := range moved {
		if err := r.recheck(ctx, d, owners[d.Address], info, changes); err != nil {
			return err
		}
	}
	return nil
}

// blocks returns the blocks of the chain at the heights of deposits.
func (r *Rail) blocks(ctx context.Context, deposits []Deposit, tip int64) (map[int64]string, error) {
	blocks := map[int64]string{}
	var heights []int64
	var params [][]any
	for _, d := range deposits {
		if _, ok := blocks[d.Height]; !ok && d.Height <= tip {
			blocks[d.Height] = ""
			heights, params = append(heights, d.Height), append(params, []any{d.Height})
		}
	}
	if len(params) == 0 {
		return blocks, nil
	}
	answers, err := r.client.batch(ctx, callTimeout, "getblockhash", params)
	if err != nil {
		return nil, err
	}
	for i, answer := range answers {
		var hash string
		if err := answer.decode("getblockhash", &hash); err != nil {
			return nil, err
		}
		blocks[heights[i]] = hash
	}
	return blocks, nil
}

// recheck adds what became of one deposit. It is reversed if the chain is as long again as it was when the deposit was
// credited, and has no place for it; while it is in the chain, or may be soon, nothing changes.
func (r *Rail) recheck(ctx context.Context, d Deposit, owner Address, info chainInfo,
	changes *Changes) error {
	t, known, err := r.client.transaction(ctx, d.TxID)
	if err != nil {
		return err
	}
	if !known {
		return fmt.Errorf("the wallet does not know transaction %s, which it had received; check that it is the wallet of this connection",
			d.TxID)
	}
	switch {
	case t.Confirmations > 0:
		d.Block, d.Height = t.Block, t.Height
		if d.Status == Immature && t.Confirmations >= matureDepth {
			d = credit(d, time.Unix(t.BlockTime, 0), owner, changes)
		}
	case d.Status == Immature: // it was never credited
		d.Status = Reversed
	case t.Confirmations < 0 || info.Blocks >= d.Height+r.settings.confirmations-1:
		text := "its block was replaced, and the chain has it no longer"
		if t.Confirmations < 0 {
			text = "another transaction has spent its coins"
		}
		id := receiptID(d)
		changes.Events = append(changes.Events, feed.Event{
			Kind: feed.Reversal, PartnerID: id + reversedSuffix, Receipt: id, Platform: owner.Platform, Satoshis: d.Satoshis,
			Text: text, At: r.Clock.Now(),
		})
		d.Status = Reversed
	default:
		return nil
	}
	changes.Deposits = append(changes.Deposits, d)
	return nil
}
