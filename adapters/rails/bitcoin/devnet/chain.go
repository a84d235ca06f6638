package devnet

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"causeway/adapters/rails/bitcoin"
	"causeway/adapters/rails/bitcoin/btc"
)

func (w *Wallet) tip() int64 { return int64(len(w.Hashes)) - 1 }

// Sync reads what the chain has become since the last call.
func (w *Wallet) Sync(ctx context.Context) error {
	var best string
	if err := w.Node.Call(ctx, &best, "getbestblockhash"); err != nil {
		return err
	}
	for _, hash := range w.Node.first[min(len(w.Hashes), len(w.Node.first)):] {
		if err := w.read(ctx, hash); err != nil {
			return err
		}
		w.Hashes = append(w.Hashes, hash)
	}
	if w.Hashes[w.tip()] != best {
		for len(w.Hashes) > 0 {
			if hash, err := w.Node.HashAt(ctx, w.tip()); err == nil && hash == w.Hashes[w.tip()] {
				break
			}
			w.disconnect(w.tip())
			w.Hashes = w.Hashes[:w.tip()]
		}
		for {
			hash, err := w.Node.HashAt(ctx, w.tip()+1)
			if _, answered := isNodeError(err); answered {
				break
			}
			if err != nil {
				return err
			}
			if err := w.read(ctx, hash); err != nil {
				return err
			}
			w.Hashes = append(w.Hashes, hash)
		}
	}
	return w.readWaiting(ctx)
}

func (w *Wallet) disconnect(height int64) {
	for _, t := range w.Txs {
		if t.Height == height {
			t.Height, t.block = 0, ""
		}
		if t.conflict == height {
			t.conflict = 0
		}
	}
}

// read reads a block for the keys that are known now.
func (w *Wallet) read(ctx context.Context, hash string) error {
	b, err := w.Node.Block(ctx, hash)
	if err != nil {
		return err
	}
	for _, tx := range b.Txs {
		if err := w.see(tx.Hex, &b); err != nil {
			return err
		}
	}
	return nil
}

func (w *Wallet) readWaiting(ctx context.Context) error {
	var waiting []string
	if err := w.Node.Call(ctx, &waiting, "getrawmempool"); err != nil {
		return err
	}
	for _, t := range w.Txs {
		t.waits = false
	}
	for _, id := range waiting {
		if w.Txs[id] == nil {
			var text string
			if err := w.Node.Call(ctx, &text, "getrawtransaction", id, 0); err != nil {
				continue // it is in a block by now
			}
			if err := w.see(text, nil); err != nil {
				return err
			}
		}
		if t := w.Txs[id]; t != nil {
			t.waits = true
		}
	}
	return nil
}

// see looks at a transaction of a block, or at one that waits.
func (w *Wallet) see(text string, b *nodeBlock) error {
	raw, err := hex.DecodeString(text)
	if err != nil {
		return err
	}
	parsed, err := btc.ParseTransaction(raw)
	if err != nil {
		return err
	}
	if b != nil {
		w.markConflicts(parsed, b.Height)
	}
	mine := slices.ContainsFunc(parsed.Outputs, func(o btc.Output) bool { return w.Keys[string(o.Script)] != nil }) ||
		slices.ContainsFunc(parsed.Inputs, func(i btc.Input) bool {
			_, ours := w.Coin(bitcoin.Output{TxID: i.TxID, Vout: int64(i.Vout)})
			return ours
		})
	t := w.Txs[parsed.TxID]
	if t == nil && !mine {
		return nil
	}
	if t == nil {
		t = &Tx{Transaction: parsed, raw: raw, coinbase: strings.Trim(parsed.Inputs[0].TxID, "0") == ""}
		w.Txs[parsed.TxID], w.Order = t, append(w.Order, parsed.TxID)
	}
	if b != nil {
		t.Height, t.block, t.time, t.conflict = b.Height, b.Hash, b.Time, 0
	}
	return nil
}

// markConflicts marks transactions that cannot follow one of a block, with those that spend them.
func (w *Wallet) markConflicts(mined btc.Transaction, height int64) {
	for _, id := range w.Order {
		t := w.Txs[id]
		if t.TxID == mined.TxID || t.Height > 0 || t.conflict > 0 {
			continue
		}
		for _, i := range t.Inputs {
			parent := w.Txs[i.TxID]
			if parent != nil && parent.conflict == height || slices.ContainsFunc(mined.Inputs, func(m btc.Input) bool {
				return m.TxID == i.TxID &&
					m.Vout == i.Vout
			}) {
				t.conflict = height
			}
		}
	}
}

func (w *Wallet) Coin(o bitcoin.Output) (btc.Output, bool) {
	t := w.Txs[o.TxID]
	if t == nil || o.Vout >= int64(len(t.Outputs)) {
		return btc.Output{}, false
	}
	out := t.Outputs[o.Vout]
	return out, w.Keys[string(out.Script)] != nil
}

func (w *Wallet) confirmations(t *Tx) int64 {
	switch {
	case t.Height > 0:
		return w.tip() - t.Height + 1
	case t.conflict > 0:
		return -(w.tip() - t.conflict + 1)
	default:
		return 0
	}
}

func (w *Wallet) ours(t *Tx) bool {
	return !t.coinbase && slices.ContainsFunc(t.Inputs, func(i btc.Input) bool {
		_, ours := w.Coin(bitcoin.Output{TxID: i.TxID, Vout: int64(i.Vout)})
		return ours
	})
}

// unspent returns the coins that can be spent, largest first.
func (w *Wallet) unspent(minimum int64) []bitcoin.Output {
	spent := map[bitcoin.Output]bool{}
	for _, t := range w.Txs {
		if t.conflict == 0 {
			for _, i := range t.Inputs {
				spent[bitcoin.Output{TxID: i.TxID, Vout: int64(i.Vout)}] = true
			}
		}
	}
	var coins []bitcoin.Output
	for _, id := range w.Order {
		t := w.Txs[id]
		n := w.confirmations(t)
		trusted := n > 0 || n == 0 && t.waits && w.ours(t)
		if !trusted || n < minimum || t.coinbase && n <= 100 {
			continue
		}
		for vout := range t.Outputs {
			o := bitcoin.Output{TxID: id, Vout: int64(vout)}
			if _, ours := w.Coin(o); ours && !spent[o] {
				coins = append(coins, o)
			}
		}
	}
	slices.SortStableFunc(coins, func(a, b bitcoin.Output) int {
		x, _ := w.Coin(a)
		y, _ := w.Coin(b)
		return int(y.Satoshis - x.Satoshis)
	})
	return coins
}

func amount(satoshis int64) json.Number { return json.Number(btc.FormatAmount(satoshis)) }
