// Package devnet runs a node of Ethereum in tests (hardhat, from npm) with contracts of its own.
package devnet

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"causeway/adapters/rails/evm/eth"
)

// checkModules fails the test if the npm packages are not in a folder.
func checkModules(t testing.TB, folder string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal("the npm packages are not installed; install them with make needs-evm")
	}
}

// compiled has the bytecode of contracts by folder and name.
var compiled struct {
	sync.Mutex
	byFolder map[string]map[string]string
}

// bytecode returns a compiled contract.
func bytecode(folder, name string) (string, error) {
	compiled.Lock()
	defer compiled.Unlock()
	if codes, ok := compiled.byFolder[folder]; ok {
		return codes[name], nil
	}
	command := exec.Command("node", "compile.cjs")
	command.Dir = folder
	output, err := command.Output()
	if err != nil {
		return "", err
	}
	var codes map[string]string
	if err := json.Unmarshal(output, &codes); err != nil {
		return "", err
	}
	if compiled.byFolder == nil {
		compiled.byFolder = map[string]map[string]string{}
	}
	compiled.byFolder[folder] = codes
	return codes[name], nil
}

// Deployer is the first account of the node, which signs for it.
const Deployer = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"

// Chain is a node with a chain of its own, whose id is 31337.
type Chain struct {
	URL    string
	t      testing.TB
	folder string
	id     atomic.Int64
}

// node is a process, whose chain is that of one test at a time.
type node struct {
	url     string
	process *exec.Cmd
	files   string // its folder of settings
}

// nodes are those that no test uses, by folder. One takes a second to start, and some milliseconds to begin another chain.
var nodes struct {
	sync.Mutex
	idle map[string][]*node
}

// Start returns a chain that is the test's until it ends. The folder is adapters/rails/evm/node, with the npm packages.
// TestMain calls StopNodes.
func Start(t testing.TB, folder string) *Chain {
	t.Helper()
	checkModules(t, folder)
	n := idleNode(folder)
	if n == nil {
		n = startNode(t, folder)
	}
	t.Cleanup(func() {
		nodes.Lock()
		defer nodes.Unlock()
		if nodes.idle == nil {
			nodes.idle = map[string][]*node{}
		}
		nodes.idle[folder] = append(nodes.idle[folder], n)
	})
	d := &Chain{t: t, folder: folder, URL: n.url}
	d.Call("hardhat_reset")
	d.Call("hardhat_setLoggingEnabled", false)
	// A chain that is reset begins at the time at which its node started.
	genesis, _ := d.Call("eth_getBlockByNumber", "0x0", false).(map[string]any)
	began, err := strconv.ParseInt(fmt.Sprint(genesis["timestamp"]), 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	d.Call("evm_increaseTime", max(0, time.Now().Unix()-began))
	return d
}

func idleNode(folder string) *node {
	nodes.Lock()
	defer nodes.Unlock()
	idle := nodes.idle[folder]
	if len(idle) == 0 {
		return nil
	}
	n := idle[len(idle)-1]
	nodes.idle[folder] = idle[:len(idle)-1]
	return n
}

// StopNodes stops the nodes after the tests of a package.
func StopNodes() {
	nodes.Lock()
	defer nodes.Unlock()
	for _, idle := range nodes.idle {
		for _, n := range idle {
			n.stop()
		}
	}
	nodes.idle = nil
}

func (n *node) stop() {
	_ = n.process.Process.Kill()
	_ = n.process.Wait()
	_ = os.RemoveAll(n.files)
}

func startNode(t testing.TB, folder string) *node {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := os.MkdirTemp("", "causeway-evm")
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command("node", "node_modules/hardhat/internal/cli/cli.js", "--config", "hardhat.config.cjs", "node", "--hostname",
		"127.0.0.1", "--port", port)
	command.Dir = folder
	command.Env = append(os.Environ(), "HARDHAT_DISABLE_TELEMETRY_PROMPT=true", "XDG_CONFIG_HOME="+files, "XDG_DATA_HOME="+files,
		"XDG_CACHE_HOME="+files)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	n := &node{url: "http://127.0.0.1:" + port, process: command, files: files}
	d := &Chain{t: t, URL: n.url}
	for range 1200 {
		if err := d.Try("eth_chainId", new(string)); err == nil {
			return n
		}
		time.Sleep(50 * time.Millisecond)
	}
	n.stop()
	t.Fatal("the node did not start: " + output.String())
	return nil
}

// client opens a connection for each call: the node closes one that is not used for five seconds, perhaps as the next call begins.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

func (d *Chain) Try(method string, result any, params ...any) error {
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": d.id.Add(1), "method": method, "params": params})
	if err != nil {
		return err
	}
	response, err := client.Post(d.URL, "application/json", bytes.NewReader(body))
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

// Call calls the node and fails the test on an error.
func (d *Chain) Call(method string, params ...any) any {
	d.t.Helper()
	var result any
	if err := d.Try(method, &result, params...); err != nil {
		d.t.Fatalf("%s: %v", method, err)
	}
	return result
}

func (d *Chain) Mine(blocks int) { d.Call("hardhat_mine", fmt.Sprintf("0x%x", blocks)) }

// Send sends a transaction of the Deployer.
func (d *Chain) Send(to string, data []byte) string {
	d.t.Helper()
	tx := map[string]any{"from": Deployer, "data": "0x" + hex.EncodeToString(data), "gas": "0x40000"}
	if to != "" {
		tx["to"] = to
	} else {
		tx["gas"] = "0x400000"
	}
	hash, _ := d.Call("eth_sendTransaction", tx).(string)
	return hash
}

func (d *Chain) Number(method string, params ...any) *big.Int {
	d.t.Helper()
	text, _ := d.Call(method, params...).(string)
	n, ok := new(big.Int).SetString(strings.TrimPrefix(text, "0x"), 16)
	if !ok {
		d.t.Fatalf("%s: %q is no number", method, text)
	}
	return n
}

// Token is a contract on a devnet.
type Token struct {
	*Chain
	Address string
}

func Word(n int64) []byte { return new(big.Int).SetInt64(n).FillBytes(make([]byte, 32)) }

func AddressWord(a string) []byte {
	b, err := hex.DecodeString(strings.TrimPrefix(a, "0x"))
	if err != nil {
		panic(err)
	}
	return new(big.Int).SetBytes(b).FillBytes(make([]byte, 32))
}

func Selector(signature string) []byte {
	hash := eth.Keccak256([]byte(signature))
	return hash[:4]
}

// Deploy deploys TestToken.sol.
func (d *Chain) Deploy(symbol string, decimals int64) Token {
	d.t.Helper()
	return d.DeployContract("TestToken", Word(64), Word(decimals), Word(int64(len(symbol))),
		append([]byte(symbol), make([]byte, 32-len(symbol))...))
}

func (d *Chain) DeployContract(name string, arguments ...[]byte) Token {
	d.t.Helper()
	code, err := bytecode(d.folder, name)
	if err != nil {
		d.t.Fatal(err)
	}
	data, err := hex.DecodeString(code)
	if err != nil {
		d.t.Fatal(err)
	}
	hash := d.Send("", append(data, bytes.Join(arguments, nil)...))
	d.Mine(1)
	receipt, _ := d.Call("eth_getTransactionReceipt", hash).(map[string]any)
	address, _ := receipt["contractAddress"].(string)
	a, err := eth.ParseAddress(address)
	if err != nil {
		d.t.Fatal(err)
	}
	return Token{d, eth.FormatAddress(a)}
}

func (k Token) Mint(to string, amount int64) string {
	return k.Send(k.Address, bytes.Join([][]byte{Selector("mint(address,uint256)"), AddressWord(to), Word(amount)}, nil))
}

// MintMany gives an amount to each of some addresses, in one transaction.
func (k Token) MintMany(to []string, amount int64) string {
	k.t.Helper()
	parts := [][]byte{Selector("mintMany(address[],uint256)"), Word(64), Word(amount), Word(int64(len(to)))}
	for _, a := range to {
		parts = append(parts, AddressWord(a))
	}
	hash, _ := k.Call("eth_sendTransaction", map[string]any{"from": Deployer, "to": k.Address, "gas": "0xf42400",
		"data": "0x" + hex.EncodeToString(bytes.Join(parts, nil))}).(string)
	return hash
}

// SetBlocked has the contract refuse what goes to an address, and setFrozen what comes from one.
func (k Token) SetBlocked(account string) { k.setFlag("setBlocked(address,bool)", account) }

func (k Token) SetFrozen(account string) { k.setFlag("setFrozen(address,bool)", account) }

func (k Token) setFlag(function, account string) {
	k.Send(k.Address, bytes.Join([][]byte{Selector(function), AddressWord(account), Word(1)}, nil))
	k.Mine(1)
}

// SetFee has the contract keep a part of what it transfers.
func (k Token) SetFee(basisPoints int64) {
	k.Send(k.Address, bytes.Join([][]byte{Selector("setFee(uint256)"), Word(basisPoints)}, nil))
	k.Mine(1)
}

func (k Token) SetPaused(paused int64) {
	k.Send(k.Address, bytes.Join([][]byte{Selector("setPaused(bool)"), Word(paused)}, nil))
	k.Mine(1)
}

func (k Token) Balance(of string) int64 {
	return k.Number("eth_call", map[string]any{"to": k.Address,
		"data": "0x" + hex.EncodeToString(append(Selector("balanceOf(address)"), AddressWord(of)...))}, "latest").Int64()
}
