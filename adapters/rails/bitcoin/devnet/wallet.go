package devnet

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/mr-tron/base58"

	"causeway/adapters/rails/bitcoin/btc"
	"causeway/ports"
)

// Wallet is a wallet with the methods of Bitcoin Core that the adapter calls, as its documentation describes their
// arguments, results and errors, on a chain of btcd: what it signs is checked, relayed and mined there.
type Wallet struct {
	Node    *Node
	Network btc.Network

	Mu     sync.Mutex
	seed   string
	made   int
	Keys   map[string]*secp256k1.PrivateKey // by script
	Labels map[string]string                // by script; change has none
	locked map[ports.BitcoinOutput]bool
	Txs    map[string]*Tx
	Order  []string
	Hashes []string // of the blocks that it knows, by height
	// ImportReads: importing reads the latest blocks, as Bitcoin Core does for those of two hours.
	ImportReads bool
	FeeRate     string // of estimatesmartfee, in bitcoin; empty: no estimate
	Poor        bool   // it says that it has not enough
	// Passphrase encrypts the wallet: it neither signs nor imports until it is unlocked.
	Passphrase string
	unlocked   bool
	// Chain and Info replace fields of getblockchaininfo and getwalletinfo.
	Chain, Info map[string]any
	// RefuseImports: it refuses descriptors, with errors that contain them.
	RefuseImports bool
}

// Tx is a transaction that a wallet knows.
type Tx struct {
	btc.Transaction
	raw      []byte
	coinbase bool
	Height   int64 // 0: in no block
	block    string
	time     int64
	conflict int64 // the height of the block with another transaction that spends its coins
	waits    bool  // the node keeps it for the next block
}

func NewWallet(t testing.TB, seed string) *Wallet {
	t.Helper()
	network, err := btc.NetworkNamed("regtest")
	if err != nil {
		t.Fatal(err)
	}
	return &Wallet{Network: network, seed: seed, Keys: map[string]*secp256k1.PrivateKey{}, Labels: map[string]string{}, locked: map[ports.BitcoinOutput]bool{},
		Txs: map[string]*Tx{}, ImportReads: true, FeeRate: "0.00010000"}
}

// NewKey returns the address of a new key.
func (w *Wallet) NewKey() string {
	w.made++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", w.seed, w.made))
	return w.addKey(secp256k1.PrivKeyFromBytes(sum[:]))
}

func (w *Wallet) addKey(key *secp256k1.PrivateKey) string {
	address := w.Network.WitnessAddress(key.PubKey().SerializeCompressed())
	script, err := w.Network.Script(address)
	if err != nil {
		panic(err)
	}
	w.Keys[string(script)] = key
	return address
}

// Address returns a new address with a label.
func (w *Wallet) Address() string {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	address := w.NewKey()
	script, _ := w.Network.Script(address)
	w.Labels[string(script)] = ""
	return address
}

// Gate decides about a call of one process: whether it fails before it is made, and whether its answer is lost.
type Gate func(method string) (fails, lost bool)

// DepositXprv and DepositXpub are a key of deposits on a test network, and its public key.
var DepositXprv, DepositXpub = func() (private, public string) {
	chainCode, secret := sha256.Sum256([]byte("chain code")), sha256.Sum256([]byte("deposits"))
	encode := func(version uint32, key []byte) string {
		payload := slices.Concat(binary.BigEndian.AppendUint32(nil, version), make([]byte, 9), chainCode[:], key)
		return base58.Encode(append(payload, Double(payload)[:4]...))
	}
	return encode(0x04358394, append([]byte{0}, secret[:]...)), encode(0x043587cf, secp256k1.PrivKeyFromBytes(secret[:]).PubKey().SerializeCompressed())
}()

// Serve offers the wallet to a process, and returns the URL.
func (w *Wallet) Serve(t testing.TB, g Gate) string {
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if user != "causeway" || password != "hunter2" {
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		var calls []struct {
			ID     int               `json:"id"`
			Method string            `json:"method"`
			Params []json.RawMessage `json:"params"`
		}
		if err := json.NewDecoder(r.Body).Decode(&calls); err != nil || r.URL.Path != "/wallet/hot" {
			rw.WriteHeader(http.StatusNotFound)
			return
		}
		answers := []map[string]any{}
		drop := false
		for _, c := range calls {
			fails, lost := g(c.Method)
			if fails {
				rw.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			result, err := w.answer(r.Context(), c.Method, c.Params)
			answer := map[string]any{"id": c.ID, "result": result, "error": nil}
			if err != nil {
				answer["error"] = map[string]any{"code": err.Code, "message": err.Message}
			}
			answers, drop = append(answers, answer), drop || lost
		}
		if drop {
			panic(http.ErrAbortHandler)
		}
		rw.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(rw).Encode(answers)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// Open lets every call pass.
func Open(string) (fails, lost bool) { return false, false }

func failure(code int, format string, args ...any) *nodeError {
	return &nodeError{Code: code, Message: fmt.Sprintf(format, args...)}
}

// decodeParams reads parameters; those that are missing stay as they are.
func decodeParams(params []json.RawMessage, into ...any) *nodeError {
	for i, target := range into {
		if i < len(params) {
			if err := json.Unmarshal(params[i], target); err != nil {
				return failure(-3, "JSON value is not of expected type: %v", err)
			}
		}
	}
	return nil
}

func (w *Wallet) answer(ctx context.Context, method string, params []json.RawMessage) (any, *nodeError) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	if err := w.Sync(ctx); err != nil {
		return nil, failure(-32603, "%v", err)
	}
	methods := map[string]func(context.Context, []json.RawMessage) (any, *nodeError){
		"getnetworkinfo": func(context.Context, []json.RawMessage) (any, *nodeError) {
			return map[string]any{"version": 280100}, nil
		},
		"getblockchaininfo": func(context.Context, []json.RawMessage) (any, *nodeError) {
			chain := map[string]any{"chain": "regtest", "blocks": w.tip(), "headers": w.tip(), "bestblockhash": w.Hashes[w.tip()], "initialblockdownload": false, "pruned": false}
			maps.Copy(chain, w.Chain)
			return chain, nil
		},
		"getwalletinfo": func(context.Context, []json.RawMessage) (any, *nodeError) {
			info := map[string]any{"walletname": "hot", "descriptors": true, "private_keys_enabled": true, "scanning": false}
			if w.Passphrase != "" {
				info["unlocked_until"] = 0
			}
			maps.Copy(info, w.Info)
			return info, nil
		},
		"walletpassphrase": w.unlock,
		"estimatesmartfee": func(context.Context, []json.RawMessage) (any, *nodeError) {
			if w.FeeRate == "" {
				return map[string]any{"errors": []string{"Insufficient data or no feerate found"}, "blocks": 2}, nil
			}
			return map[string]any{"feerate": json.Number(w.FeeRate), "blocks": 2}, nil
		},
		"getblockhash": w.getBlockHash, "getblockheader": w.getBlockHeader, "listsinceblock": w.listSinceBlock, "gettransaction": w.getTransaction,
		"getaddressinfo": w.getAddressInfo, "importdescriptors": w.importDescriptors, "rescanblockchain": w.rescanBlockchain, "deriveaddresses": w.deriveAddresses,
		"getbalances": w.getBalances, "createrawtransaction": w.createRaw, "fundrawtransaction": w.fundRaw, "signrawtransactionwithwallet": w.signRaw,
		"lockunspent": w.lockUnspent, "sendrawtransaction": w.sendRaw,
	}
	if w.Passphrase != "" && !w.unlocked && (method == "signrawtransactionwithwallet" || method == "importdescriptors") {
		return nil, failure(-13, "Please enter the wallet passphrase with walletpassphrase first.")
	}
	call, ok := methods[method]
	if !ok {
		return nil, failure(-32601, "Method not found")
	}
	return call(ctx, params)
}

func (w *Wallet) unlock(_ context.Context, params []json.RawMessage) (any, *nodeError) {
	var passphrase string
	var seconds int
	if err := decodeParams(params, &passphrase, &seconds); err != nil {
		return nil, err
	}
	if passphrase != w.Passphrase {
		return nil, failure(-14, "The wallet passphrase entered was incorrect.")
	}
	w.unlocked = true
	return nil, nil
}

func (w *Wallet) tip() int64 { return int64(len(w.Hashes)) - 1 }

// Sync reads what the chain has become since the last call.
func (w *Wallet) Sync(ctx context.Context) error {
	var best string
	if err := w.Node.Call(ctx, &best, "getbestblockhash"); err != nil {
		return err
	}
	if len(w.Hashes) == 0 || w.Hashes[w.tip()] != best {
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
			_, ours := w.Coin(ports.BitcoinOutput{TxID: i.TxID, Vout: int64(i.Vout)})
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
			if parent != nil && parent.conflict == height || slices.ContainsFunc(mined.Inputs, func(m btc.Input) bool { return m.TxID == i.TxID && m.Vout == i.Vout }) {
				t.conflict = height
			}
		}
	}
}

func (w *Wallet) Coin(o ports.BitcoinOutput) (btc.Output, bool) {
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
		_, ours := w.Coin(ports.BitcoinOutput{TxID: i.TxID, Vout: int64(i.Vout)})
		return ours
	})
}

// unspent returns the coins that can be spent, largest first.
func (w *Wallet) unspent(minimum int64) []ports.BitcoinOutput {
	spent := map[ports.BitcoinOutput]bool{}
	for _, t := range w.Txs {
		if t.conflict == 0 {
			for _, i := range t.Inputs {
				spent[ports.BitcoinOutput{TxID: i.TxID, Vout: int64(i.Vout)}] = true
			}
		}
	}
	var coins []ports.BitcoinOutput
	for _, id := range w.Order {
		t := w.Txs[id]
		n := w.confirmations(t)
		trusted := n > 0 || n == 0 && t.waits && w.ours(t)
		if !trusted || n < minimum || t.coinbase && n <= 100 {
			continue
		}
		for vout := range t.Outputs {
			o := ports.BitcoinOutput{TxID: id, Vout: int64(vout)}
			if _, ours := w.Coin(o); ours && !spent[o] {
				coins = append(coins, o)
			}
		}
	}
	slices.SortStableFunc(coins, func(a, b ports.BitcoinOutput) int {
		x, _ := w.Coin(a)
		y, _ := w.Coin(b)
		return int(y.Satoshis - x.Satoshis)
	})
	return coins
}

func amount(satoshis int64) json.Number { return json.Number(btc.FormatAmount(satoshis)) }

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
			e := map[string]any{"address": w.addressOf(o.Script), "category": category, "amount": amount(satoshis), "vout": vout, "confirmations": w.confirmations(t),
				"txid": t.TxID, "walletconflicts": []string{}, "abandoned": false, "label": label}
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
		if !ok || !closed || err != nil || len(data) != 38 || btc.WithChecksum("wpkh("+key+")") != r.Desc || r.Timestamp != "now" || w.RefuseImports {
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

func (w *Wallet) createRaw(_ context.Context, params []json.RawMessage) (any, *nodeError) {
	var inputs []ports.BitcoinOutput
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
	taken := map[string]bool{}
	for _, o := range outputs {
		for address, text := range o {
			script, err := w.Network.Script(address)
			satoshis, errAmount := btc.ParseAmount(text)
			if err != nil || errAmount != nil || taken[address] {
				return nil, failure(-8, "Invalid parameter, duplicated address: %s", address)
			}
			taken[address] = true
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
	chosen := map[ports.BitcoinOutput]bool{}
	for _, i := range t.inputs {
		o := ports.BitcoinOutput{TxID: i.txid, Vout: int64(i.vout)}
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
		coin, ok := w.Coin(ports.BitcoinOutput{TxID: input.txid, Vout: int64(input.vout)})
		if !ok {
			return map[string]any{"hex": text, "complete": false}, nil
		}
		t.sign(i, coin, w.Keys[string(coin.Script)])
	}
	return map[string]any{"hex": hex.EncodeToString(t.serialise(true)), "complete": true}, nil
}

func (w *Wallet) lockUnspent(_ context.Context, params []json.RawMessage) (any, *nodeError) {
	var unlock bool
	var coins []ports.BitcoinOutput
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
func (w *Wallet) Spend(t testing.TB, rate string, coins []ports.BitcoinOutput, amounts map[string]int64) (txid, raw string) {
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
		coins = []ports.BitcoinOutput{}
	}
	do(&made, "createrawtransaction", coins, outputs, 0, true)
	do(&funded, "fundrawtransaction", made, map[string]any{"fee_rate": rate, "minconf": 0, "replaceable": true})
	do(&signed, "signrawtransactionwithwallet", funded.Hex)
	do(&txid, "sendrawtransaction", signed.Hex)
	return txid, signed.Hex
}

// littleID keeps the numbers of test ids apart.
// LittleID returns an id of a kind and a number.
func LittleID(kind byte, n int) (id [16]byte) {
	id[0] = kind
	binary.BigEndian.PutUint32(id[12:], uint32(n))
	return id
}
