package devnet

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/mr-tron/base58"

	"causeway/adapters/rails/bitcoin"
	"causeway/adapters/rails/bitcoin/btc"
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
	locked map[bitcoin.Output]bool
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
	return &Wallet{Network: network, seed: seed, Keys: map[string]*secp256k1.PrivateKey{}, Labels: map[string]string{},
		locked: map[bitcoin.Output]bool{},
		Txs:    map[string]*Tx{}, ImportReads: true, FeeRate: "0.00010000"}
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
	return encode(0x04358394, append([]byte{0}, secret[:]...)),
		encode(0x043587cf, secp256k1.PrivKeyFromBytes(secret[:]).PubKey().SerializeCompressed())
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
			chain := map[string]any{"chain": "regtest", "blocks": w.tip(), "headers": w.tip(), "bestblockhash": w.Hashes[w.tip()],
				"initialblockdownload": false, "pruned": false}
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
		"getblockhash": w.getBlockHash, "getblockheader": w.getBlockHeader, "listsinceblock": w.listSinceBlock,
		"gettransaction": w.getTransaction,
		"getaddressinfo": w.getAddressInfo, "importdescriptors": w.importDescriptors, "rescanblockchain": w.rescanBlockchain,
		"deriveaddresses": w.deriveAddresses,
		"getbalances":     w.getBalances, "createrawtransaction": w.createRaw, "fundrawtransaction": w.fundRaw,
		"signrawtransactionwithwallet": w.signRaw,
		"lockunspent":                  w.lockUnspent, "sendrawtransaction": w.sendRaw,
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

// LittleID returns an id of a kind and a number.
func LittleID(kind byte, n int) (id [16]byte) {
	id[0] = kind
	binary.BigEndian.PutUint32(id[12:], uint32(n))
	return id
}
