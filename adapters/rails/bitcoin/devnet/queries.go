package devnet

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/mr-tron/base58"

	"causeway/adapters/rails/bitcoin/btc"
)

func (w *Wallet) getBlockHash(_ context.Context, params []json.RawMessage) (any, *nodeError) {
	var height int64
	if err := decodeParams(params, &height); err != nil {
		return nil, err
	}
	if height < 0 || height > w.tip() {
		return nil, failure(-8, "Block height out of range")
	}
	return w.Hashes[height], nil
}

func (w *Wallet) getBlockHeader(ctx context.Context, params []json.RawMessage) (any, *nodeError) {
	var hash string
	if err := decodeParams(params, &hash); err != nil {
		return nil, err
	}
	b, err := w.Node.Block(ctx, hash)
	if err != nil {
		return nil, failure(-5, "Block not found")
	}
	return map[string]any{"hash": hash, "height": b.Height, "time": b.Time}, nil
}

func (w *Wallet) listSinceBlock(ctx context.Context, params []json.RawMessage) (any, *nodeError) {
	var hash string
	target := int64(1)
	if err := decodeParams(params, &hash, &target); err != nil {
		return nil, err
	}
	fork := int64(slices.Index(w.Hashes, hash))
	for fork < 0 { // the block was replaced: transactions from the fork point onward are included
		b, err := w.Node.Block(ctx, hash)
		if err != nil {
			return nil, failure(-5, "Block not found")
		}
		hash = b.Previous
		fork = int64(slices.Index(w.Hashes, hash))
	}
	entries := []map[string]any{}
	for _, id := range w.Order {
		if t := w.Txs[id]; t.Height == 0 || t.Height > fork {
			entries = append(entries, w.entries(t)...)
		}
	}
	last := w.Hashes[0]
	if height := w.tip() - target + 1; height > 0 {
		last = w.Hashes[height]
	}
	return map[string]any{"transactions": entries, "lastblock": last}, nil
}

// entries lists the outputs of a transaction, as sent, as received, or as both; those of change are not listed.
func (w *Wallet) entries(t *Tx) (entries []map[string]any) {
	ours := w.ours(t)
	for vout, o := range t.Outputs {
		label, inBook := w.Labels[string(o.Script)]
		mine := w.Keys[string(o.Script)] != nil
		entry := func(category string, satoshis int64) {
			e := map[string]any{"address": w.addressOf(o.Script), "category": category, "amount": amount(satoshis), "vout": vout,
				"confirmations": w.confirmations(t),
				"txid":          t.TxID, "walletconflicts": []string{}, "abandoned": false, "label": label}
			if t.Height > 0 {
				e["blockhash"], e["blockheight"], e["blocktime"] = t.block, t.Height, t.time
			} else {
				e["trusted"] = ours && t.waits
			}
			entries = append(entries, e)
		}
		switch {
		case ours && mine && !inBook: // change
		case t.coinbase && mine && w.confirmations(t) <= 0:
			entry("orphan", o.Satoshis)
		case t.coinbase && mine && w.confirmations(t) <= 100:
			entry("immature", o.Satoshis)
		case t.coinbase && mine:
			entry("generate", o.Satoshis)
		default:
			if ours {
				entry("send", -o.Satoshis)
			}
			if mine {
				entry("receive", o.Satoshis)
			}
		}
	}
	return entries
}

func (w *Wallet) addressOf(script []byte) string {
	if key := w.Keys[string(script)]; key != nil {
		return w.Network.WitnessAddress(key.PubKey().SerializeCompressed())
	}
	return ""
}

func (w *Wallet) getTransaction(_ context.Context, params []json.RawMessage) (any, *nodeError) {
	var id string
	if err := decodeParams(params, &id); err != nil {
		return nil, err
	}
	t := w.Txs[id]
	if t == nil {
		return nil, failure(-5, "Invalid or non-wallet transaction id")
	}
	result := map[string]any{"txid": id, "confirmations": w.confirmations(t), "hex": hex.EncodeToString(t.raw)}
	if t.Height > 0 {
		result["blockhash"], result["blockheight"], result["blocktime"] = t.block, t.Height, t.time
	}
	return result, nil
}

func (w *Wallet) getAddressInfo(_ context.Context, params []json.RawMessage) (any, *nodeError) {
	var address string
	if err := decodeParams(params, &address); err != nil {
		return nil, err
	}
	script, err := w.Network.Script(address)
	if err != nil {
		return nil, failure(-5, "Invalid address")
	}
	return map[string]any{"address": address, "ismine": w.Keys[string(script)] != nil}, nil
}

func (w *Wallet) importDescriptors(ctx context.Context, params []json.RawMessage) (any, *nodeError) {
	var requests []struct {
		Desc, Timestamp, Label string
	}
	if err := decodeParams(params, &requests); err != nil {
		return nil, err
	}
	results := []map[string]any{}
	for _, r := range requests {
		key, ok := strings.CutPrefix(r.Desc, "wpkh(")
		key, _, closed := strings.Cut(key, ")#")
		data, err := base58.Decode(key)
		if !ok || !closed || err != nil || len(data) != 38 || btc.WithChecksum("wpkh("+key+")") != r.Desc || r.Timestamp != "now" ||
			w.RefuseImports {
			results = append(results, map[string]any{"success": false, "error": map[string]any{"code": -5, "message": "bad descriptor " + r.Desc}})
			continue
		}
		address := w.addKey(secp256k1.PrivKeyFromBytes(data[1:33]))
		script, _ := w.Network.Script(address)
		w.Labels[string(script)] = r.Label
		results = append(results, map[string]any{"success": true})
	}
	if w.ImportReads {
		if err := w.readBlocks(ctx, max(w.tip()-12, 0), w.tip()); err != nil {
			return nil, failure(-1, "%v", err)
		}
	}
	return results, nil
}

func (w *Wallet) readBlocks(ctx context.Context, from, to int64) error {
	for height := from; height <= to; height++ {
		if err := w.read(ctx, w.Hashes[height]); err != nil {
			return err
		}
	}
	return w.readWaiting(ctx)
}

func (w *Wallet) rescanBlockchain(ctx context.Context, params []json.RawMessage) (any, *nodeError) {
	var from, to int64
	if err := decodeParams(params, &from, &to); err != nil {
		return nil, err
	}
	if from < 0 || to < from || to > w.tip() {
		return nil, failure(-8, "Invalid start_height")
	}
	if err := w.readBlocks(ctx, from, to); err != nil {
		return nil, failure(-1, "%v", err)
	}
	return map[string]any{"start_height": from, "stop_height": to}, nil
}

func (w *Wallet) deriveAddresses(_ context.Context, params []json.RawMessage) (any, *nodeError) {
	var descriptor string
	if err := decodeParams(params, &descriptor); err != nil {
		return nil, err
	}
	text, _, _ := strings.Cut(strings.TrimPrefix(descriptor, "wpkh("), ")#")
	key, err := hex.DecodeString(text)
	if err != nil || btc.WithChecksum("wpkh("+text+")") != descriptor {
		return nil, failure(-5, "Invalid descriptor")
	}
	return []string{w.Network.WitnessAddress(key)}, nil
}

func (w *Wallet) Balance() (total int64) {
	for _, o := range w.unspent(0) {
		coin, _ := w.Coin(o)
		total += coin.Satoshis
	}
	return total
}

func (w *Wallet) getBalances(context.Context, []json.RawMessage) (any, *nodeError) {
	return map[string]any{"mine": map[string]any{"trusted": amount(w.Balance()), "untrusted_pending": amount(0), "immature": amount(0)}}, nil
}
