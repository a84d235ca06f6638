package devnet

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"causeway/adapters/rails/bitcoin"
	"causeway/adapters/rails/bitcoin/btc"
)

func (w *Wallet) createRaw(_ context.Context, params []json.RawMessage) (any, *nodeError) {
	var inputs []bitcoin.Output
	var outputs []map[string]string
	var lockTime int
	var replaceable bool
	if err := decodeParams(params, &inputs, &outputs, &lockTime, &replaceable); err != nil {
		return nil, err
	}
	var t rawTx
	for _, i := range inputs {
		t.inputs = append(t.inputs, rawInput{txid: i.TxID, vout: uint32(i.Vout), sequence: sequenceOf(replaceable)})
	}
	taken := map[string]bool{} // by script: two spellings of an address are one destination
	for _, o := range outputs {
		for address, text := range o {
			script, err := w.Network.Script(address)
			satoshis, errAmount := btc.ParseAmount(text)
			if err != nil || errAmount != nil || taken[string(script)] {
				return nil, failure(-8, "Invalid parameter, duplicated address: %s", address)
			}
			taken[string(script)] = true
			t.outputs = append(t.outputs, btc.Output{Satoshis: satoshis, Script: script})
		}
	}
	return hex.EncodeToString(t.serialise(false)), nil
}

func sequenceOf(replaceable bool) uint32 {
	if replaceable {
		return 0xfffffffd
	}
	return 0xfffffffe
}

func (w *Wallet) fundRaw(_ context.Context, params []json.RawMessage) (any, *nodeError) {
	var text string
	var options struct {
		FeeRate     string `json:"fee_rate"`
		Minimum     int64  `json:"minconf"`
		Replaceable bool   `json:"replaceable"`
	}
	if err := decodeParams(params, &text, &options); err != nil {
		return nil, err
	}
	rate, errRate := btc.ParseFeeRate(options.FeeRate)
	raw, err := hex.DecodeString(text)
	if err != nil || errRate != nil {
		return nil, failure(-22, "TX decode failed")
	}
	if w.Poor {
		return nil, failure(-4, "Insufficient funds")
	}
	t := parseUnsigned(raw)
	var wanted, held int64
	bytes := int64(11)
	for _, o := range t.outputs {
		wanted, bytes = wanted+o.Satoshis, bytes+9+int64(len(o.Script))
	}
	chosen := map[bitcoin.Output]bool{}
	for _, i := range t.inputs {
		o := bitcoin.Output{TxID: i.txid, Vout: int64(i.vout)}
		coin, ok := w.Coin(o)
		if !ok {
			return nil, failure(-4, "Unable to find UTXO for external input")
		}
		held, bytes, chosen[o] = held+coin.Satoshis, bytes+68, true
	}
	const change = 31
	for _, o := range w.unspent(options.Minimum) {
		if held >= wanted+rate.Fee(bytes+change) && len(chosen) > 0 {
			break
		}
		if w.locked[o] || chosen[o] {
			continue
		}
		coin, _ := w.Coin(o)
		held, bytes, chosen[o] = held+coin.Satoshis, bytes+68, true
		t.inputs = append(t.inputs, rawInput{txid: o.TxID, vout: uint32(o.Vout), sequence: sequenceOf(options.Replaceable)})
	}
	fee := rate.Fee(bytes)
	if held < wanted+fee {
		return nil, failure(-4, "Insufficient funds")
	}
	if rest := held - wanted - rate.Fee(bytes+change); rest >= 546 {
		script, _ := w.Network.Script(w.NewKey())
		fee = rate.Fee(bytes + change)
		t.outputs = append([]btc.Output{{Satoshis: rest, Script: script}}, t.outputs...)
	} else {
		fee = held - wanted
	}
	return map[string]any{"hex": hex.EncodeToString(t.serialise(false)), "fee": amount(fee), "changepos": 0}, nil
}

func (w *Wallet) signRaw(_ context.Context, params []json.RawMessage) (any, *nodeError) {
	var text string
	if err := decodeParams(params, &text); err != nil {
		return nil, err
	}
	raw, err := hex.DecodeString(text)
	if err != nil {
		return nil, failure(-22, "TX decode failed")
	}
	t := parseUnsigned(raw)
	for i, input := range t.inputs {
		coin, ok := w.Coin(bitcoin.Output{TxID: input.txid, Vout: int64(input.vout)})
		if !ok {
			return map[string]any{"hex": text, "complete": false}, nil
		}
		t.sign(i, coin, w.Keys[string(coin.Script)])
	}
	return map[string]any{"hex": hex.EncodeToString(t.serialise(true)), "complete": true}, nil
}

func (w *Wallet) lockUnspent(_ context.Context, params []json.RawMessage) (any, *nodeError) {
	var unlock bool
	var coins []bitcoin.Output
	if err := decodeParams(params, &unlock, &coins); err != nil {
		return nil, err
	}
	next := maps.Clone(w.locked)
	for _, o := range coins {
		if next[o] != unlock {
			return nil, failure(-8, "Invalid parameter, output already locked, or expected locked output")
		}
		next[o] = !unlock
	}
	w.locked = next
	return true, nil
}

func (w *Wallet) sendRaw(ctx context.Context, params []json.RawMessage) (any, *nodeError) {
	var text string
	if err := decodeParams(params, &text); err != nil {
		return nil, err
	}
	var id string
	err := w.Node.Call(ctx, &id, "sendrawtransaction", text)
	if answered, ok := isNodeError(err); ok {
		raw, _ := hex.DecodeString(text)
		parsed, errParse := btc.ParseTransaction(raw)
		switch t := w.Txs[parsed.TxID]; {
		case errParse != nil:
			return nil, failure(-22, "TX decode failed")
		case t != nil && t.waits:
			return parsed.TxID, nil
		case t != nil && t.Height > 0:
			return nil, failure(-27, "Transaction outputs already in utxo set")
		default:
			return nil, failure(-26, "%s", answered.Message)
		}
	}
	if err != nil {
		return nil, failure(-32603, "%v", err)
	}
	if err := w.readWaiting(ctx); err != nil {
		return nil, failure(-32603, "%v", err)
	}
	return id, nil
}

// Pay pays to addresses by itself, as an operator does or another person, and returns the transaction.
func (w *Wallet) Pay(t testing.TB, rate string, amounts map[string]int64) (txid string) {
	t.Helper()
	txid, _ = w.Spend(t, rate, nil, amounts)
	return txid
}

// Spend is pay with coins that are spent besides others.
func (w *Wallet) Spend(t testing.TB, rate string, coins []bitcoin.Output, amounts map[string]int64) (txid, raw string) {
	t.Helper()
	do := func(into any, method string, params ...any) {
		t.Helper()
		var texts []json.RawMessage
		for _, p := range params {
			text, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, text)
		}
		result, failed := w.answer(t.Context(), method, texts)
		if failed != nil {
			t.Fatalf("%s: %v", method, failed)
		}
		text, err := json.Marshal(result)
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var outputs []map[string]string
	for _, address := range slices.Sorted(maps.Keys(amounts)) {
		outputs = append(outputs, map[string]string{address: btc.FormatAmount(amounts[address])})
	}
	var made string
	var funded, signed struct{ Hex string }
	if coins == nil {
		coins = []bitcoin.Output{}
	}
	do(&made, "createrawtransaction", coins, outputs, 0, true)
	do(&funded, "fundrawtransaction", made, map[string]any{"fee_rate": rate, "minconf": 0, "replaceable": true})
	do(&signed, "signrawtransactionwithwallet", funded.Hex)
	do(&txid, "sendrawtransaction", signed.Hex)
	return txid, signed.Hex
}
