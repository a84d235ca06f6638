package evm_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/adapters/rails/evm"
	"causeway/adapters/rails/evm/eth"
	"causeway/adapters/rails/evm/localkeys"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

const testWords = "legal winner thank year wave sausage worth useful legal winner thank yellow"

// deployer is the first account of the node, which signs for it.
const deployer = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"

// modules returns the folder with the npm packages.
func modules(t testing.TB) string {
	t.Helper()
	folder, err := filepath.Abs("node")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal("the npm packages are not installed; install them with make needs-evm")
	}
	return folder
}

// bytecode returns the compiled TestToken.sol.
var bytecode = sync.OnceValues(func() (string, error) {
	command := exec.Command("node", "compile.cjs")
	command.Dir = "node"
	code, err := command.Output()
	return strings.TrimSpace(string(code)), err
})

// devnet is a node with a chain of its own.
type devnet struct {
	t   testing.TB
	url string
	id  atomic.Int64
}

func startDevnet(t testing.TB) *devnet {
	t.Helper()
	folder := modules(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("node", "node_modules/hardhat/internal/cli/cli.js", "--config", "hardhat.config.cjs", "node", "--hostname", "127.0.0.1", "--port", strconv.Itoa(port))
	command.Dir = folder
	command.Env = append(os.Environ(), "HARDHAT_DISABLE_TELEMETRY_PROMPT=true", "XDG_CONFIG_HOME="+t.TempDir(), "XDG_DATA_HOME="+t.TempDir(), "XDG_CACHE_HOME="+t.TempDir())
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	d := &devnet{t: t, url: fmt.Sprintf("http://127.0.0.1:%d", port)}
	for range 600 {
		if err := d.try("eth_chainId", new(string)); err == nil {
			return d
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the node did not start: " + output.String())
	return nil
}

func (d *devnet) try(method string, result any, params ...any) error {
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": d.id.Add(1), "method": method, "params": params})
	if err != nil {
		return err
	}
	response, err := http.Post(d.url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var reply struct {
		Result json.RawMessage
		Error  *struct{ Message string }
	}
	if err := json.NewDecoder(response.Body).Decode(&reply); err != nil {
		return err
	}
	if reply.Error != nil {
		return errors.New(reply.Error.Message)
	}
	return json.Unmarshal(reply.Result, result)
}

// call calls the node and fails the test on an error.
func (d *devnet) call(method string, params ...any) any {
	d.t.Helper()
	var result any
	if err := d.try(method, &result, params...); err != nil {
		d.t.Fatalf("%s: %v", method, err)
	}
	return result
}

func (d *devnet) mine(blocks int) { d.call("hardhat_mine", fmt.Sprintf("0x%x", blocks)) }

// send sends a transaction of the deployer.
func (d *devnet) send(to string, data []byte) string {
	d.t.Helper()
	tx := map[string]any{"from": deployer, "data": "0x" + hex.EncodeToString(data), "gas": "0x40000"}
	if to != "" {
		tx["to"] = to
	} else {
		tx["gas"] = "0x400000"
	}
	hash, _ := d.call("eth_sendTransaction", tx).(string)
	return hash
}

func (d *devnet) number(method string, params ...any) *big.Int {
	d.t.Helper()
	text, _ := d.call(method, params...).(string)
	n, ok := new(big.Int).SetString(strings.TrimPrefix(text, "0x"), 16)
	if !ok {
		d.t.Fatalf("%s: %q is no number", method, text)
	}
	return n
}

// token is a contract on a devnet.
type token struct {
	*devnet
	address string
}

func word(n int64) []byte { return new(big.Int).SetInt64(n).FillBytes(make([]byte, 32)) }

func addressWord(a string) []byte {
	b, err := hex.DecodeString(strings.TrimPrefix(a, "0x"))
	if err != nil {
		panic(err)
	}
	return new(big.Int).SetBytes(b).FillBytes(make([]byte, 32))
}

func selector(signature string) []byte {
	hash := eth.Keccak256([]byte(signature))
	return hash[:4]
}

// deploy deploys TestToken.sol.
func (d *devnet) deploy(symbol string, decimals int64) token {
	d.t.Helper()
	code, err := bytecode()
	if err != nil {
		d.t.Fatal(err)
	}
	data, err := hex.DecodeString(code)
	if err != nil {
		d.t.Fatal(err)
	}
	arguments := bytes.Join([][]byte{word(64), word(decimals), word(int64(len(symbol))), append([]byte(symbol), make([]byte, 32-len(symbol))...)}, nil)
	hash := d.send("", append(data, arguments...))
	d.mine(1)
	receipt, _ := d.call("eth_getTransactionReceipt", hash).(map[string]any)
	address, _ := receipt["contractAddress"].(string)
	a, err := eth.ParseAddress(address)
	if err != nil {
		d.t.Fatal(err)
	}
	return token{d, eth.FormatAddress(a)}
}

func (k token) mint(to string, amount int64) string {
	return k.send(k.address, bytes.Join([][]byte{selector("mint(address,uint256)"), addressWord(to), word(amount)}, nil))
}

// setBlocked has the contract refuse what goes to an address, and setFrozen what comes from one.
func (k token) setBlocked(account string) { k.setFlag("setBlocked(address,bool)", account) }

func (k token) setFrozen(account string) { k.setFlag("setFrozen(address,bool)", account) }

func (k token) setFlag(function, account string) {
	k.send(k.address, bytes.Join([][]byte{selector(function), addressWord(account), word(1)}, nil))
	k.mine(1)
}

func (k token) setPaused(paused int64) {
	k.send(k.address, bytes.Join([][]byte{selector("setPaused(bool)"), word(paused)}, nil))
	k.mine(1)
}

func (k token) balance(of string) int64 {
	return k.number("eth_call", map[string]any{"to": k.address, "data": "0x" + hex.EncodeToString(append(selector("balanceOf(address)"), addressWord(of)...))}, "latest").Int64()
}

// secrets are the secrets of a test, by reference.
type secrets map[string]string

func (s secrets) Secret(_ context.Context, reference string) ([]byte, error) {
	secret, ok := s[reference]
	if !ok {
		return nil, errors.New(reference + " does not exist")
	}
	return []byte(secret), nil
}

// env is a devnet with a token, a database and a platform.
type env struct {
	t        testing.TB
	chain    *devnet
	usdc     token
	db       *postgres.DB
	clock    *portstest.FakeClock
	platform ident.Platform
	proxy    *proxy
	cursor   string
	extra    map[string]string // settings
	account  uint32            // of the seed
	ids      *ids.Generator
}

func newEnv(t testing.TB) *env {
	t.Helper()
	return newEnvOn(t, startDevnet(t), 0)
}

// newEnvOn returns an env on a chain that others use too, with a wallet of its own.
func newEnvOn(t testing.TB, chain *devnet, account uint32) *env {
	t.Helper()
	e := &env{t: t, chain: chain, clock: portstest.NewFakeClock(noon), ids: ids.New(), account: account, extra: map[string]string{"account": strconv.Itoa(int(account))}}
	e.chain.call("evm_setAutomine", false)
	e.usdc = e.chain.deploy("USDC", 6)
	e.proxy = newProxy(t, e.chain.url)
	e.openDatabase()
	e.chain.call("hardhat_setBalance", e.wallet(), "0xde0b6b3a7640000") // one ether
	return e
}

func (e *env) openDatabase() {
	e.t.Helper()
	url := pgtest.SimulateClock(e.t, pgtest.New(e.t))
	db, err := postgres.Open(e.t.Context(), postgres.Options{URL: url, AllPlatforms: true, MaxConnections: 8, Clock: e.clock, IDs: e.ids})
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(db.Close)
	e.db = db
	p, err := platform.New(ident.NewPlatform(e.ids.New, noon), "Here", platform.Sandbox, false, noon)
	if err != nil {
		e.t.Fatal(err)
	}
	e.platform = p.ID
	e.do(func(ctx context.Context, tx ports.Tx) error { return tx.CreatePlatform(ctx, p) })
}

func (e *env) do(fn func(context.Context, ports.Tx) error) {
	e.t.Helper()
	if err := e.db.Do(e.t.Context(), fn); err != nil {
		e.t.Fatal(err)
	}
}

// newAccount returns an internal account of a new customer.
func (e *env) newAccount(currency money.Currency) account.Internal {
	e.t.Helper()
	a := e.unstoredAccount(currency)
	e.do(func(ctx context.Context, tx ports.Tx) error {
		return tx.OpenInternalAccounts(ctx, []account.Internal{a})
	})
	return a
}

// unstoredAccount returns an account of a new customer that is not stored yet.
func (e *env) unstoredAccount(currency money.Currency) account.Internal {
	e.t.Helper()
	owner := customer.Customer{ID: ident.NewCustomer(e.ids.New, noon), Platform: e.platform, Type: customer.Individual, Status: customer.Approved, FullName: "Ana Silva", CreatedAt: noon, UpdatedAt: noon}
	owner.PlatformCustomerID, owner.UMAAddress = owner.ID.String(), "$"+owner.ID.UUID().String()+"@uma.test"
	e.do(func(ctx context.Context, tx ports.Tx) error { return tx.CreateCustomer(ctx, owner) })
	a, err := account.NewInternal(ident.NewInternalAccount(e.ids.New, e.clock.Now()), e.platform, owner.ID, currency, e.clock.Now())
	if err != nil {
		e.t.Fatal(err)
	}
	return a
}

func (e *env) connection() rail.Connection {
	settings := map[string]string{"urls": "env:NODE", "chain_id": "31337", "seed": "env:SEED", "usdc_contract": e.usdc.address, "confirmations": "3", "sweep_from": "never"}
	for name, value := range e.extra {
		settings[name] = value
	}
	return rail.Connection{Name: "base-main", Adapter: rail.EVM, Version: 1, Rails: []corridor.Rail{corridor.Base}, Currencies: []money.Currency{money.USDC}, Settings: settings}
}

func (e *env) secrets() secrets { return secrets{"env:NODE": e.proxy.url, "env:SEED": testWords} }

// open opens the connection, as another process would.
func (e *env) open(store ports.EVMChainStore) *evm.Rail { return e.openAt(store, "env:NODE") }

// openAt opens the connection with other URLs of nodes.
func (e *env) openAt(store ports.EVMChainStore, urls string) *evm.Rail {
	e.t.Helper()
	c := e.connection()
	c.Settings["urls"] = urls
	r, err := e.tryOpen(store, c)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = r.Close() })
	return r
}

func (e *env) tryOpen(store ports.EVMChainStore, c rail.Connection) (*evm.Rail, error) {
	log := logrus.New()
	log.SetOutput(io.Discard)
	if os.Getenv("EVM_LOG") != "" {
		log.SetOutput(os.Stderr)
		log.SetLevel(logrus.DebugLevel)
	}
	return evm.New(e.t.Context(), evm.Config{Connection: c, Store: store, Keys: localkeys.New(e.secrets(), "env:SEED"), Secrets: e.secrets(), Clock: e.clock, Log: log})
}

func (e *env) rail() *evm.Rail { return e.open(e.db) }

// wallet returns the address of the wallet that pays.
func (e *env) wallet() string {
	key, err := localkeys.New(secrets{"s": testWords}, "s").AccountKey(e.t.Context(), []uint32{44 | ports.ChainHardened, 60 | ports.ChainHardened, e.account | ports.ChainHardened, 0, 0})
	if err != nil {
		e.t.Fatal(err)
	}
	a, err := eth.AddressOf(key.PublicKey)
	if err != nil {
		e.t.Fatal(err)
	}
	return eth.FormatAddress(a)
}

// address returns the deposit address of an account.
func (e *env) address(r *evm.Rail, a account.Internal) string {
	e.t.Helper()
	instructions, err := r.Funding(e.platform, "", a.Reference, a.Currency)
	if err != nil || len(instructions) != 1 {
		e.t.Fatalf("%v, %v", instructions, err)
	}
	address, _ := instructions[0].Info["address"].(string)
	return address
}

// poll polls until there is nothing more, and returns everything that was reported.
func (e *env) poll(r *evm.Rail) ports.RailReport {
	e.t.Helper()
	var all ports.RailReport
	for range 100 {
		report, err := r.Poll(e.t.Context(), e.cursor)
		if err != nil {
			e.t.Fatal(err)
		}
		e.cursor = report.Cursor
		all.Receipts = append(all.Receipts, report.Receipts...)
		all.Reversals = append(all.Reversals, report.Reversals...)
		all.Changed = append(all.Changed, report.Changed...)
		all.Fees = append(all.Fees, report.Fees...)
		if !report.More {
			return all
		}
	}
	e.t.Fatal("poll does not end")
	return all
}

// payee returns an address that nobody else uses.
func (e *env) payee() string {
	id := uuid.New()
	var a ports.EVMAddress
	copy(a[:], id[:])
	return eth.FormatAddress(a)
}

func (e *env) payout(to string, amount int64) ports.Payout {
	p := ports.Payout{Account: external(to), Transaction: transaction.Transaction{Platform: e.platform, Pricing: transaction.Pricing{Received: money.Amount{Minor: amount, Currency: money.USDC}}, UpdatedAt: noon}}
	p.Transaction.ID = ident.NewTransaction(e.ids.New, noon)
	return p
}

func external(address string) account.External {
	return account.External{Type: account.BaseWallet, Currency: money.USDC, Fields: map[string]string{"address": address}, Rails: []corridor.Rail{corridor.Base}}
}

// fund gives the wallet tokens.
func (e *env) fund(amount int64) {
	e.usdc.mint(e.wallet(), amount)
	e.chain.mine(1)
}

func (e *env) send(r *evm.Rail, p ports.Payout) ports.Outcome {
	return r.Send(e.t.Context(), []ports.Payout{p})[0]
}

// proxy passes calls on to a node, and can fail them.
type proxy struct {
	url string
	// fault is called with the method of each batch: it returns whether the call fails before it reaches the node, or
	// after the node has answered.
	fault atomic.Pointer[func(methods []string) (before, after bool)]
	// edit changes a reply.
	edit atomic.Pointer[func(methods []string, reply []byte) []byte]
}

func newProxy(t testing.TB, to string) *proxy {
	p := &proxy{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		methods := methodsOf(body)
		var before, after bool
		if fault := p.fault.Load(); fault != nil {
			before, after = (*fault)(methods)
		}
		if before {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		response, err := http.Post(to, "application/json", bytes.NewReader(body))
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer response.Body.Close()
		reply, _ := io.ReadAll(response.Body)
		if after {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		if edit := p.edit.Load(); edit != nil {
			reply = (*edit)(methods, reply)
		}
		_, _ = w.Write(reply)
	}))
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

func methodsOf(body []byte) (methods []string) {
	type call struct{ Method string }
	var batch []call
	if json.Unmarshal(body, &batch) != nil {
		var single call
		_ = json.Unmarshal(body, &single)
		batch = []call{single}
	}
	for _, c := range batch {
		methods = append(methods, c.Method)
	}
	return methods
}

func hexOf(parts ...[]byte) string { return hex.EncodeToString(bytes.Join(parts, nil)) }
