package evm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
	"causeway/adapters/rails/evm"
	"causeway/adapters/rails/evm/devnet"
	"causeway/adapters/rails/evm/eth"
	"causeway/adapters/rails/evm/localkeys"
	"causeway/core/money"
	"causeway/ports"
	"causeway/ports/portstest"
)

// number returns a quantity of JSON-RPC.
func number(text string) uint64 {
	n, ok := new(big.Int).SetString(strings.TrimPrefix(text, "0x"), 16)
	if !ok {
		return 0
	}
	return n.Uint64()
}

// behind returns the answers of a node that has no block after one.
func (e *env) behind(last uint64) func(c rpcCall) (any, bool) {
	at := fmt.Sprintf("0x%x", last)
	return func(c rpcCall) (any, bool) {
		switch c.Method {
		case "eth_blockNumber":
			return at, true
		case "eth_getBlockByNumber":
			if tag := c.param(0); !strings.HasPrefix(tag, "0x") {
				return e.chain.Call("eth_getBlockByNumber", at, false), true
			} else if number(tag) > last {
				return nil, true
			}
		case "eth_getTransactionReceipt":
			receipt, _ := e.chain.Call("eth_getTransactionReceipt", c.param(0)).(map[string]any)
			if block, _ := receipt["blockNumber"].(string); receipt == nil || number(block) > last {
				return nil, true
			}
			return receipt, true
		case "eth_getLogs":
			return []any{}, true
		}
		return nil, false
	}
}

func (e *env) height() uint64 { return e.chain.Number("eth_blockNumber").Uint64() }

func TestNodes_OfAnotherChainIsNeverUsed(t *testing.T) {
	t.Parallel()
	// A node of another network is left out; if there is no other one, nothing is read, signed or sent.
	e := newEnv(t)
	e.fund(1_000)
	fakes, urls := e.fakeNodes(2)
	fakes[0].set(func(c rpcCall) (any, bool) { return "0x1", c.Method == "eth_chainId" })
	r := e.openAt(e.db.Pool(), urls)
	e.poll(r)
	e.send(r, e.payout(e.payee(), 10))
	if n := fakes[0].count("eth_sendRawTransaction") + fakes[0].count("eth_getLogs"); n != 0 || fakes[1].count("eth_sendRawTransaction") == 0 {
		t.Errorf("%d calls of the node of another chain", n)
	}

	alone := e.openAt(e.db.Pool(), fakes[0].url)
	if _, err := alone.Poll(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "is of the chain 1, not 31337") {
		t.Errorf("%v", err)
	}
	if o := e.send(alone, e.payout(e.payee(), 10)); o.Verdict != ports.Unknown {
		t.Errorf("%+v", o)
	}
}

func TestNodes_BehindAnotherOneLosesNothing(t *testing.T) {
	t.Parallel()
	// One of five nodes is up to date, the others are behind, also the one that is asked first. A deposit that some do
	// not know is not credited, and not skipped: it is credited when they have it, or when they have stopped.
	e := newEnv(t)
	fakes, urls := e.fakeNodes(5)
	r := e.openAt(e.db.Pool(), urls)
	address := e.address(r, e.newAccount(money.USDC))
	e.poll(r)
	before := e.height()
	e.usdc.Mint(address, 700)
	e.chain.Mine(5)
	for _, f := range append(fakes[:2:2], fakes[3:]...) {
		f.set(e.behind(before))
	}
	if got := e.poll(r); len(got.Receipts) != 0 {
		t.Fatalf("credited by one node of five: %+v", got)
	}
	fakes[0].set(nil)
	if got, err := r.Poll(t.Context(), e.cursor); err == nil || !strings.Contains(err.Error(), "waiting until the nodes agree") ||
		len(got.Receipts) != 0 {
		t.Fatalf("credited by two nodes of five: %+v, %v", got, err)
	}
	// The nodes that are behind have stopped an hour ago.
	for _, f := range append(fakes[1:2:2], fakes[3:]...) {
		answer := e.behind(before)
		f.set(func(c rpcCall) (any, bool) {
			if c.Method == "eth_getBlockByNumber" && c.param(0) == "latest" {
				block, _ := e.chain.Call("eth_getBlockByNumber", fmt.Sprintf("0x%x", before), false).(map[string]any)
				block["timestamp"] = fmt.Sprintf("0x%x", e.clock.Now().Add(-time.Hour).Unix())
				return block, true
			}
			return answer(c)
		})
	}

	if got := e.poll(r); len(got.Receipts) != 1 || got.Receipts[0].Amount.Minor != 700 {
		t.Errorf("%+v", got)
	}
}

func TestNodes_RateLimited(t *testing.T) {
	t.Parallel()
	// A node that has no capacity is passed over, however it says so. Without another one everything waits, and goes on.
	e := newEnv(t)
	e.fund(10_000)
	fakes, urls := e.fakeNodes(2)
	r := e.openAt(e.db.Pool(), urls)
	address := e.address(r, e.newAccount(money.USDC))
	e.poll(r)
	busy := map[string]func(f *fakeNode){
		"status": func(f *fakeNode) {
			f.setRaw(func(w http.ResponseWriter) bool { w.WriteHeader(http.StatusTooManyRequests); return true })
		},
		"status with a reply": func(f *fakeNode) {
			f.setRaw(func(w http.ResponseWriter) bool {
				w.WriteHeader(http.StatusTooManyRequests)
				_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"slow down"}}`)
				return true
			})
		},
		"each call": func(f *fakeNode) {
			f.set(func(rpcCall) (any, bool) { return rpcFailure{-32005, "limit exceeded"}, true })
		},
		"whole batch": func(f *fakeNode) {
			f.setRaw(func(w http.ResponseWriter) bool {
				_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"limit exceeded"}}`)
				return true
			})
		},
	}
	for name, limit := range busy {
		e.usdc.Mint(address, 10)
		e.chain.Mine(3)
		p := e.payout(e.payee(), 10)
		limit(fakes[0])
		limit(fakes[1])
		if got, err := r.Poll(t.Context(), e.cursor); err == nil || len(got.Receipts) != 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if o := e.send(r, p); o.Verdict != ports.Unknown {
			t.Errorf("%s: %+v", name, o)
		}
		fakes[1].set(nil)
		fakes[1].setRaw(nil)
		if got := e.poll(r); len(got.Receipts) != 1 {
			t.Errorf("%s: with another node: %+v", name, got)
		}
		if o := e.send(r, p); o.Verdict != ports.Waiting || !o.Accepted {
			t.Errorf("%s: with another node: %+v", name, o)
		}
		fakes[0].set(nil)
		fakes[0].setRaw(nil)
	}
}

func TestNodes_OversizedRangesAreHalved(t *testing.T) {
	t.Parallel()
	// A provider answers for a few blocks only, with an error or with more than is read: every deposit is found.
	e := newEnv(t)
	fakes, urls := e.fakeNodes(1)
	r := e.openAt(e.db.Pool(), urls)
	address := e.address(r, e.newAccount(money.USDC))
	e.poll(r)
	const deposits = 20
	for range deposits {
		e.usdc.Mint(address, 10)
		e.chain.Mine(2)
	}
	e.chain.Mine(3)
	huge := strings.Repeat("0", 49<<20)
	fakes[0].set(func(c rpcCall) (any, bool) {
		var filter struct{ FromBlock, ToBlock string }
		if c.Method != "eth_getLogs" || json.Unmarshal(c.Params[0], &filter) != nil {
			return nil, false
		}
		switch blocks := number(filter.ToBlock) - number(filter.FromBlock) + 1; {
		case blocks > 20:
			return huge, true
		case blocks > 3:
			return rpcFailure{-32005, "query returned more than 10000 results"}, true
		}
		return nil, false
	})

	found := 0
	for range 10 { // the range grows again, and is halved again
		got, err := r.Poll(t.Context(), e.cursor)
		if err != nil {
			t.Fatal(err)
		}
		found, e.cursor = found+len(got.Receipts), got.Cursor
	}
	if found != deposits {
		t.Errorf("%d of %d deposits", found, deposits)
	}
}

func TestNodes_TimeoutAfterTheTransactionWasSent(t *testing.T) {
	t.Parallel()
	// The node takes a transaction and does not answer until the call is given up: the payout moves once.
	e := newEnv(t)
	e.fund(1_000)
	fakes, urls := e.fakeNodes(1)
	r := e.openAt(e.db.Pool(), urls)
	ctx, cancel := context.WithCancel(t.Context())
	fakes[0].set(func(c rpcCall) (any, bool) {
		if c.Method != "eth_sendRawTransaction" {
			return nil, false
		}
		result := e.chain.Call(c.Method, c.param(0))
		cancel()
		return result, true
	})
	to := e.payee()
	p := e.payout(to, 10)
	if o := r.Send(ctx, []ports.Payout{p})[0]; o.Verdict != ports.Unknown && o.Verdict != ports.Waiting {
		t.Errorf("%+v", o)
	}
	if ctx.Err() == nil {
		t.Fatal("nothing was sent")
	}
	fakes[0].set(nil)
	e.send(r, p)
	e.chain.Mine(3)

	if o := e.send(r, p); o.Verdict != ports.Done || e.usdc.Balance(to) != 10 || e.chain.Number("eth_getTransactionCount", e.wallet(),
		"latest").Int64() != 1 {
		t.Errorf("%+v; the payee has %d", o, e.usdc.Balance(to))
	}
}

func TestNodes_MalformedAnswersChangeNothing(t *testing.T) {
	t.Parallel()
	// Whatever a node answers, nothing is credited, refused or sent by it, and everything goes on afterwards.
	e := newEnv(t)
	e.fund(1_000)
	fakes, urls := e.fakeNodes(1)
	r := e.openAt(e.db.Pool(), urls)
	address := e.address(r, e.newAccount(money.USDC))
	e.poll(r)
	e.usdc.Mint(address, 10)
	e.chain.Mine(3)
	p := e.payout(e.payee(), 10)
	for _, reply := range []string{"", "{", "null", "[]", "[null]", `"text"`, "<html>", `{"result":null}`, `{"id":1,"result":"0x"}`,
		`{"id":1,"result":"-0x1"}`, `{"id":1,"result":"0x-1"}`,
		`{"id":1,"result":12}`, `{"id":1,"result":{"number":"0x1"}}`, `{"id":1,"result":"0x1ffffffffffffffff"}`, `{"id":1,"error":"text"}`,
		`[{"id":7,"result":"0x1"}]`,
		`[{"id":1,"result":"0x1"},{"id":1,"result":"0x1"}]`, `{"id":1,"result":[{"topics":[["0x00"]]}]}`, `{"id":1e99,"result":"0x1"}`,
		strings.Repeat("[", 100_000), strings.Repeat(" ", 49<<20)} {
		fakes[0].setRaw(func(w http.ResponseWriter) bool { _, _ = io.WriteString(w, reply); return true })
		got, err := r.Poll(t.Context(), e.cursor)
		if err == nil || len(got.Receipts)+len(got.Reversals)+len(got.Changed) != 0 {
			t.Errorf("%.60q: %+v, %v", reply, got, err)
		}
		if o := e.send(r, p); o.Verdict != ports.Unknown {
			t.Errorf("%.60q: %+v", reply, o)
		}
	}
	fakes[0].setRaw(nil)

	if got := e.poll(r); len(got.Receipts) != 1 {
		t.Errorf("afterwards: %+v", got)
	}
	if o := e.send(r, p); o.Verdict != ports.Waiting || !o.Accepted {
		t.Errorf("afterwards: %+v", o)
	}
}

func TestNodes_FinalizedByTheChain(t *testing.T) {
	t.Parallel()
	// With confirmations "finalized" a deposit is credited when the node says that its block is, however many follow it.
	e := newEnv(t)
	e.extra["confirmations"] = "finalized"
	fakes, urls := e.fakeNodes(1)
	finalized := func(n uint64) {
		fakes[0].set(func(c rpcCall) (any, bool) {
			if c.Method != "eth_getBlockByNumber" || c.param(0) != "finalized" {
				return nil, false
			}
			if n == 0 {
				return nil, true
			}
			return e.chain.Call("eth_getBlockByNumber", fmt.Sprintf("0x%x", n), false), true
		})
	}
	first := e.height()
	finalized(first)
	r := e.openAt(e.db.Pool(), urls)
	address := e.address(r, e.newAccount(money.USDC))
	e.poll(r)
	e.usdc.Mint(address, 10)
	e.chain.Mine(200)
	for _, n := range []uint64{0, first} {
		finalized(n)
		if got := e.poll(r); len(got.Receipts) != 0 {
			t.Fatalf("before its block is final: %+v", got)
		}
	}
	finalized(first + 1)

	if got := e.poll(r); len(got.Receipts) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestNodes_OneThatLiesMovesNothing(t *testing.T) {
	t.Parallel()
	// The node that is asked first says that a payment has failed that was made, and shows a deposit that nobody made.
	// Another node knows better: nothing is refused or credited.
	e := newEnv(t)
	e.fund(1_000)
	fakes, urls := e.fakeNodes(2)
	r := e.openAt(e.db.Pool(), urls)
	address := e.address(r, e.newAccount(money.USDC))
	e.poll(r)
	to := e.payee()
	p := e.payout(to, 10)
	e.send(r, p)
	e.chain.Mine(3)
	lie := func(c rpcCall) (any, bool) {
		switch c.Method {
		case "eth_getTransactionReceipt":
			if receipt, _ := e.chain.Call(c.Method, c.param(0)).(map[string]any); receipt != nil {
				receipt["status"], receipt["logs"] = "0x0", []any{}
				return receipt, true
			}
		case "eth_getLogs":
			block, _ := e.chain.Call("eth_getBlockByNumber", fmt.Sprintf("0x%x", e.height()-2), false).(map[string]any)
			return []any{map[string]any{"address": e.usdc.Address, "topics": []any{eth.FormatHash(eth.TransferTopic),
				"0x" + hexOf(devnet.AddressWord(to)), "0x" + hexOf(devnet.AddressWord(address))},
				"data": "0x" + hexOf(devnet.Word(1_000_000)), "blockNumber": block["number"], "blockHash": block["hash"], "logIndex": "0x0",
				"transactionHash": eth.FormatHash(eth.Hash{1})}}, true
		}
		return nil, false
	}
	fakes[0].set(lie)
	if got, err := r.Poll(t.Context(), e.cursor); err == nil || !strings.Contains(err.Error(), "waiting until the nodes agree") ||
		len(got.Receipts)+len(got.Changed) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if o := e.send(r, p); o.Verdict != ports.Waiting {
		t.Errorf("%+v", o)
	}
	fakes[0].set(nil)

	if got := e.poll(r); len(got.Receipts) != 0 || len(got.Changed) != 1 {
		t.Errorf("%+v", got)
	}
	if o := e.send(r, p); o.Verdict != ports.Done || e.usdc.Balance(to) != 10 {
		t.Errorf("%+v", o)
	}
}

func TestNodes_SuccessWithoutTransferIsNotBelieved(t *testing.T) {
	t.Parallel()
	// The only node says that a transaction has succeeded, without the event of the transfer: it is neither done nor
	// refused until the event is there.
	e := newEnv(t)
	e.fund(1_000)
	fakes, urls := e.fakeNodes(1)
	r := e.openAt(e.db.Pool(), urls)
	p := e.payout(e.payee(), 10)
	e.send(r, p)
	e.chain.Mine(3)
	fakes[0].set(func(c rpcCall) (any, bool) {
		if c.Method != "eth_getTransactionReceipt" {
			return nil, false
		}
		receipt, _ := e.chain.Call(c.Method, c.param(0)).(map[string]any)
		receipt["logs"] = []any{}
		return receipt, true
	})
	if o := e.send(r, p); o.Verdict != ports.Waiting {
		t.Errorf("%+v", o)
	}
	fakes[0].set(nil)
	if o := e.send(r, p); o.Verdict != ports.Done {
		t.Errorf("%+v", o)
	}
}

func TestNew_RefusesAnotherSeed(t *testing.T) {
	t.Parallel()
	// A connection that has read its chain is not opened with another seed, account or chain: no address of these is ever
	// shown to a payer. The same settings are opened without a node.
	e := newEnv(t)
	e.poll(e.rail())
	other := portstest.Secrets{"env:NODE": e.proxy.url, "env:SEED": "000102030405060708090a0b0c0d0e0f"}
	if _, err := evm.New(t.Context(), evm.Config{Connection: e.connection(), Store: e.store(),
		Keys: localkeys.New(other, "env:SEED"), Secrets: other, Clock: e.clock, Log: quiet()}); err == nil || !strings.Contains(err.Error(),
		"restore the seed") {
		t.Errorf("another seed: %v", err)
	}
	for name, value := range map[string]string{"account": "7", "chainId": "1"} {
		c := e.connection()
		c.Settings[name] = value
		if _, err := e.tryOpen(e.db.Pool(), c); err == nil || !strings.Contains(err.Error(), "restore the seed and chainId") {
			t.Errorf("%s %s: %v", name, value, err)
		}
	}
	c := e.connection()
	c.Settings["urls"] = "http://127.0.0.1:1"
	if _, err := e.tryOpen(e.db.Pool(), c); err != nil {
		t.Error(err)
	}
	if _, err := evm.New(t.Context(), evm.Config{Connection: e.connection(), Store: evm.NewStore(storage.New(unreadable{}, e.clock)),
		Keys: localkeys.New(e.secrets(), "env:SEED"), Secrets: e.secrets(), Clock: e.clock, Log: quiet()}); !errors.Is(err, errCrash) {
		t.Errorf("a store that cannot be read: %v", err)
	}
}

// unreadable is a database that does not respond.
type unreadable struct{ storage.Pool }

func (unreadable) Begin(context.Context) (pgx.Tx, error) { return nil, errCrash }
